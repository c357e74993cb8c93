/**
 * Who looks whether the runs that executions wait for have ended: one for each control room, only while somebody waits.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessRunId } from "@signalbox/api/contract/Ids"
import type { ControlRoomError } from "@signalbox/api/ControlRoomError"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { FlowCallbacks } from "../FlowCallbacks.ts"
import { theEngine } from "./engine/TheEngine.ts"
import type { Wait } from "./FlowStore.ts"
import { completeWait, runKind } from "./Waits.ts"

type Room = ControlRoom["Service"]

/** So few are asked for one by one. */
const few = 3
const pageSize = 100
/** Beyond so many newer runs, what is still awaited is asked for one by one. */
const mostListed = 1_000

/** Which of these runs need no more waiting: they have ended, or are not there. */
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
  // The end of the list: what was not in it is gone. The step that reads the run says so.
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

/** How often it looks, from the first look on: more and more seldom, and often again when something changes. */
const pauses = {
  alone: { first: 250, longest: 5_000 },
  /** Callbacks wake most; looking is for those that are lost. */
  withCallbacks: { first: 5_000, longest: 60_000 }
}

/** Waiting on does not help against these. */
const isFinal = ({ reason }: ControlRoomError) => reason._tag === "Unauthorized" || reason._tag === "Forbidden"

export class RunWatchers extends Context.Service<
  RunWatchers,
  {
    /** Completes the wait when its run has ended. */
    readonly add: (room: Room, wait: Wait) => Effect.Effect<void>
    /** Takes up what executions of this store wait for in this control room. */
    readonly takeUp: (room: Room) => Effect.Effect<void>
    /** The execution waits no more. */
    readonly drop: (execution: string) => Effect.Effect<void>
  }
>()("@signalbox/flows/RunWatchers") {
  static readonly layer = Layer.effect(
    RunWatchers,
    Effect.gen(function* () {
      const engine = yield* theEngine
      const scope = yield* Effect.scope
      const pause = (yield* FlowCallbacks) === null ? pauses.alone : pauses.withCallbacks

      const makeWatcher = Effect.fnUntraced(function* (room: Room) {
        let waits: ReadonlyArray<Wait> = []
        const changed = Latch.makeUnsafe()

        const complete = Effect.fnUntraced(function* (isOver: (wait: Wait) => boolean) {
          const over = waits.filter(isOver)
          yield* Effect.forEach(over, (wait) => completeWait(engine, wait), { discard: true })
          waits = waits.filter((wait) => !over.includes(wait))
          return over.length
        })
        /** Looks once, and tells how many waits are over. */
        const tick = Effect.suspend(() => settledOf(new Set(waits.map(({ subject }) => subject)))).pipe(
          Effect.provideService(ControlRoom, room),
          Effect.flatMap((settled) => complete(({ subject }) => settled.has(subject))),
          Effect.catchTags({
            ControlRoomError: (error) =>
              isFinal(error)
                ? complete(() => true)
                : Effect.as(Effect.logDebug("runs could not be looked at", error), 0),
            InvalidRequest: () => complete(() => true)
          }),
          // It must go on looking, whatever happens to one look.
          Effect.catchDefect((defect) => Effect.as(Effect.logWarning("runs could not be looked at", defect), 0))
        )
        const loop = Effect.gen(function* () {
          let millis = pause.first
          while (true) {
            yield* changed.await
            yield* changed.close
            while (waits.length > 0) {
              const over = yield* tick
              millis = over > 0 ? pause.first : Math.min(millis * 1.5, pause.longest)
              const woken = yield* Effect.timeoutOrElse(Effect.as(changed.await, true), {
                duration: millis,
                orElse: () => Effect.succeed(false)
              })
              if (woken) millis = pause.first
              yield* changed.close
            }
          }
        })
        yield* Effect.forkIn(loop, scope)
        return {
          add: (more: ReadonlyArray<Wait>) =>
            Effect.suspend(() => {
              const known = new Set(waits.map(({ execution, path }) => `${execution} ${path}`))
              const added = more.filter(({ execution, path }) => !known.has(`${execution} ${path}`))
              waits = [...waits, ...added]
              return added.length === 0 ? Effect.void : Effect.asVoid(changed.open)
            }),
          drop: (execution: string) =>
            Effect.sync(() => {
              waits = waits.filter((wait) => wait.execution !== execution)
            })
        }
      })

      const watchers = new Map<string, Effect.Success<ReturnType<typeof makeWatcher>>>()
      const watcherOf = Effect.fnUntraced(function* (room: Room) {
        const id = `${room.baseUrl} ${room.workspaceId}`
        const watcher = watchers.get(id) ?? (yield* makeWatcher(room))
        watchers.set(id, watcher)
        return watcher
      })

      return RunWatchers.of({
        add: (room, wait) => Effect.flatMap(watcherOf(room), (watcher) => watcher.add([wait])),
        takeUp: Effect.fnUntraced(function* (room) {
          const waits = yield* engine.store.waits(runKind(room.workspaceId))
          if (waits.length > 0) yield* (yield* watcherOf(room)).add(waits)
        }),
        drop: (execution) => Effect.forEach(watchers.values(), (watcher) => watcher.drop(execution), { discard: true })
      })
    })
  )
}
