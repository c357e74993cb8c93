/**
 * Polls the runs that executions wait for: one process for each control room, while an execution waits.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessRunId } from "@signalbox/api/contract/Ids"
import type { ControlRoomError } from "@signalbox/api/ControlRoomError"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { FlowCallbacks } from "../body/Callbacks.ts"
import { Engine } from "./Engine.ts"
import { NewId } from "../model/Ids.ts"
import type { Awaiting } from "../model/Execution.ts"

type Room = ControlRoom["Service"]

/** The number of runs up to which each is read separately. */
const few = 3
const pageSize = 100
/** After so many listed runs, the remaining awaited ones are read separately. */
const mostListed = 1_000

/** Returns the prefix of the subjects of a workspace's runs. */
const prefixOf = (workspaceId: string): string => `run in ${workspaceId} `
export const subjectOf = (workspaceId: string, run: string): string => prefixOf(workspaceId) + run

/** Returns which of these runs have ended or do not exist. */
export const settledOf = Effect.fnUntraced(function* (awaited: ReadonlySet<string>) {
  const open = new Set(awaited)
  const settled = new Set<string>()
  let listed = 0
  if (open.size > few) {
    yield* ProcessRuns.stream({ limit: pageSize }).pipe(
      Stream.take(mostListed),
      Stream.tap((run) =>
        Effect.sync(() => {
          listed++
          if (open.delete(run.id) && ProcessRuns.hasEnded(run)) settled.add(run.id)
        })
      ),
      Stream.takeUntil(() => open.size === 0),
      Stream.runDrain
    )
  }
  // The list is complete, so the other runs do not exist any more. The step that reads such a run fails with that.
  if (listed > 0 && listed < mostListed) return new Set([...settled, ...open])
  yield* Effect.forEach(
    open,
    (id) =>
      ProcessRuns.get(ProcessRunId.make(id)).pipe(
        Effect.map(ProcessRuns.hasEnded),
        Effect.catchTag("NotFound", () => Effect.succeed(true)),
        Effect.map((over) => (over ? void settled.add(id) : undefined))
      ),
    { concurrency: 4, discard: true }
  )
  return settled
})

/** The pauses between polls, which grow, and start again when a run ends. */
const pauses = {
  alone: { first: 250, longest: 5_000 },
  /** Callbacks wake most; polling covers lost ones. */
  withCallbacks: { first: 5_000, longest: 60_000 }
}
/** How long the lease of the polling process is valid. */
const leaseMillis = 15_000
const notifiedAgainMillis = 10_000
const tryEvery = "5 seconds"

/** Errors against which waiting does not help. */
const isFinal = ({ reason }: ControlRoomError) => reason._tag === "Unauthorized" || reason._tag === "Forbidden"

interface Holder {
  readonly process: string
  readonly until: number
}
const holderOf = (json: unknown): Holder | null =>
  Predicate.hasProperty(json, "process") &&
  Predicate.isString(json.process) &&
  Predicate.hasProperty(json, "until") &&
  Predicate.isNumber(json.until)
    ? { process: json.process, until: json.until }
    : null

/** In the steps of a durable execution: receives the control rooms in which they wait. */
export const Watching = Context.Reference<{ readonly notice: (room: Room) => Effect.Effect<void> } | null>(
  "@signalbox/flows/Watching",
  { defaultValue: () => null }
)

export class RunWatchers extends Context.Service<
  RunWatchers,
  {
    /** Polls the awaited runs of this control room, in turns with other processes. */
    readonly add: (room: Room) => Effect.Effect<void>
    /** Called when another run of the control room is awaited. */
    readonly notice: (room: Room) => Effect.Effect<void>
    /** Ends the waits for a run. */
    readonly done: (workspaceId: string, run: string) => Effect.Effect<void>
  }
>()("@signalbox/flows/RunWatchers") {
  static readonly layer = Layer.effect(
    RunWatchers,
    Effect.gen(function* () {
      const { isShared, journal, poke } = yield* Engine
      const scope = yield* Effect.scope
      const me = (yield* NewId)()

      const complete = ({ execution, path }: Awaiting) =>
        Effect.andThen(journal.send(execution, { kind: "done", name: path, id: "", value: null }), poke(execution))

      const makeWatcher = Effect.fnUntraced(function* (room: Room) {
        const pause = (yield* FlowCallbacks) === null ? pauses.alone : pauses.withCallbacks
        const prefix = prefixOf(room.workspaceId)
        const changed = Latch.makeUnsafe(true)
        /** Runs whose end was just sent: the execution needs a moment to process it. */
        const completed = new Map<string, number>()
        let waits: ReadonlyArray<Awaiting> = []

        const read = Effect.gen(function* () {
          const all = yield* journal.awaiting(prefix)
          const now = yield* journal.now
          for (const [key, at] of completed) if (at + notifiedAgainMillis < now) completed.delete(key)
          waits = all.filter(({ execution, path }) => !completed.has(`${execution} ${path}`))
        })
        const settle = Effect.fnUntraced(function* (isOver: (run: string) => boolean) {
          const over = waits.filter(({ subject }) => isOver(subject.slice(prefix.length)))
          const now = yield* journal.now
          for (const wait of over) {
            completed.set(`${wait.execution} ${wait.path}`, now)
            yield* complete(wait)
          }
          waits = waits.filter((wait) => !over.includes(wait))
          return over.length
        })
        /** Polls once, and returns how many waits have ended. */
        const tick = Effect.suspend(() =>
          settledOf(new Set(waits.map(({ subject }) => subject.slice(prefix.length))))
        ).pipe(
          Effect.provideService(ControlRoom, room),
          Effect.flatMap((settled) => settle((run) => settled.has(run))),
          Effect.catchTags({
            ControlRoomError: (error) =>
              isFinal(error) ? settle(() => true) : Effect.as(Effect.logDebug("runs could not be polled", error), 0),
            InvalidRequest: () => settle(() => true)
          }),
          // The loop must survive a failed poll.
          Effect.catchDefect((defect) => Effect.as(Effect.logWarning("runs could not be polled", defect), 0))
        )

        const name = `watcher ${prefix}`
        /** Acquires or renews the lease; returns whether this process polls. */
        const hold = Effect.gen(function* () {
          if (!isShared) return true
          const now = yield* journal.now
          const known = yield* journal.read(name)
          const holder = holderOf(known)
          if (holder !== null && holder.process !== me && holder.until > now) return false
          if (holder !== null && holder.process === me && holder.until > now + leaseMillis / 2) return true
          return yield* journal.swap(name, known, { process: me, until: now + leaseMillis })
        })

        const wait = (millis: number) =>
          Effect.timeoutOrElse(Effect.as(changed.await, true), {
            duration: millis,
            orElse: () => Effect.succeed(false)
          })
        const loop = Effect.gen(function* () {
          let millis = pause.first
          while (true) {
            changed.closeUnsafe()
            yield* read
            if (waits.length === 0) {
              yield* changed.await
              millis = pause.first
            } else if (yield* hold) {
              const over = yield* tick
              millis = over > 0 ? pause.first : Math.min(millis * 1.5, pause.longest)
              if (waits.length > 0 && (yield* wait(millis))) millis = pause.first
            } else {
              yield* Effect.timeoutOption(Effect.never, tryEvery)
            }
          }
        })
        /** So that the next process need not wait until the lease expires. */
        const release = Effect.gen(function* () {
          const known = yield* journal.read(name)
          if (holderOf(known)?.process === me) yield* journal.swap(name, known, null)
        })
        if (isShared) {
          // Its end is not held up by a database that does not respond.
          yield* Scope.addFinalizer(scope, Effect.timeoutOption(Effect.interruptible(release), "1 second"))
        }
        yield* Effect.forkIn(loop, scope)
        return { notice: Effect.sync(() => void changed.openUnsafe()) }
      })

      const watchers = new Map<string, Effect.Success<ReturnType<typeof makeWatcher>>>()
      const watcherOf = Effect.fnUntraced(function* (room: Room) {
        const id = `${room.baseUrl} ${room.workspaceId}`
        const watcher = watchers.get(id) ?? (yield* makeWatcher(room))
        watchers.set(id, watcher)
        return watcher
      })

      return RunWatchers.of({
        add: (room) => Effect.asVoid(watcherOf(room)),
        notice: (room) => Effect.flatMap(watcherOf(room), ({ notice }) => notice),
        done: (workspaceId, run) =>
          Effect.flatMap(journal.awaitingAny([subjectOf(workspaceId, run)]), (all) =>
            Effect.forEach(all, complete, { discard: true })
          )
      })
    })
  )
}
