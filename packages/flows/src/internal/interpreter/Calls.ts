/**
 * The operations that a branch of a body can call: steps, waits and groups.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { sendOnce } from "@signalbox/api/Policy"
import { FlowDefect } from "../../FlowDefect.ts"
import type { FlowEvents } from "../../FlowEvents.ts"
import { FlowSignals } from "../../FlowSignals.ts"
import { failureOf, publishTo } from "../model/Failure.ts"
import { type Branch, type Branches, type Code, isCancelled, type Region } from "./Branches.ts"
import type { Entry, EntryKind } from "../model/Execution.ts"
import {
  at,
  type Awaited,
  inSpan,
  type Interpreter,
  type Numbered,
  outsideFlow,
  type Place,
  type Position,
  segment,
  type StepCall,
  usedTwice
} from "../body/Position.ts"
import type { Gates } from "../body/Pacing.ts"
import { Reporter } from "../body/Reporter.ts"
import { inStepScope } from "../model/StepScope.ts"
import {
  canonical,
  checkError,
  type Codec,
  decodeRecorded,
  normalized,
  readRecorded,
  recordResult
} from "../model/Values.ts"

/** The end of an attempt of a step. */
export type End =
  | { readonly _tag: "Succeeded"; readonly json: Schema.Json }
  | {
      readonly _tag: "Failed"
      readonly json: Schema.Json
      readonly cause: Cause.Cause<unknown>
      /** Milliseconds until the next attempt; null for none. */
      readonly retryMillis: number | null
    }
  | { readonly _tag: "Died"; readonly cause: Cause.Cause<unknown> }

export interface AttemptInfo {
  readonly attempt: number
  /** Whether the external event of the step has happened. */
  readonly awaited: boolean
  /** Since the first attempt began. */
  readonly elapsedMillis: () => number
}

/** An operation, as the body called it. */
export interface Spec extends Place {
  readonly kind: EntryKind
  readonly input: Schema.Json
  readonly inputSchema: Codec | null
  /** The name and key of a signal. */
  readonly address: string
  /** The deadline of a wait; null for none. */
  readonly dueMillis: number | null
  readonly subject: string | null
  readonly repeatable: boolean
  /** Whether its start is published as an event. */
  readonly announced: boolean
  /** Runs when the start of a wait is recorded. */
  readonly recorded: Effect.Effect<void>
  readonly numbered: Numbered | null
  readonly attempt: (info: AttemptInfo) => Effect.Effect<End>
  readonly resultOf: (entry: Entry) => Effect.Effect<unknown, unknown>
}

/** Creates an entry that is not recorded yet. */
export const newEntry = (
  { input, kind, name, path, subject }: Pick<Spec, "path" | "name" | "kind" | "input" | "subject">,
  redo: number
): Entry => ({
  path,
  attempt: 1,
  redo,
  name,
  kind,
  input,
  state: "running",
  value: null,
  failure: null,
  begun: 0,
  ended: null,
  startedAt: 0,
  endedAt: null,
  due: null,
  subject,
  host: null
})

/** Whether the recorded input equals that of this call, by the current schema. */
export const sameInput = ({ input, inputSchema }: Spec, recorded: Entry): boolean => {
  const today = canonical(input)
  if (canonical(recorded.input) === today) return true
  const read = inputSchema === null ? undefined : normalized(inputSchema, recorded.input)
  return read !== undefined && canonical(read) === today
}

/** Whether an entry is work, not a wait. */
export const isWork = ({ kind }: Pick<Entry, "kind">): boolean => kind === "step" || kind === "child"

const never: Spec["attempt"] = () => Effect.never

const wait = (place: Place, kind: EntryKind, more: Partial<Spec> & Pick<Spec, "resultOf">): Spec => ({
  ...place,
  kind,
  input: null,
  inputSchema: null,
  address: "",
  dueMillis: null,
  subject: null,
  repeatable: true,
  announced: true,
  recorded: Effect.void,
  numbered: null,
  attempt: never,
  ...more
})

// ---- what a branch calls

/** The names used below a prefix. */
export type Names = Numbered

export interface Services {
  readonly id: string
  readonly chapter: number
  readonly durable: boolean
  readonly gates: Gates | null
  /** Whether the journal is only replayed, without external calls. */
  readonly replays: boolean
  readonly events: FlowEvents
  /** Whether the replay has reached everything recorded. */
  readonly isLive: () => boolean
  readonly recordedAt: (path: string) => Entry | undefined
  readonly redoOf: (path: string) => number
  readonly park: <A, E>(branch: Branch, spec: Spec) => Effect.Effect<A, E>
  readonly branches: Branches
  readonly names: Map<string, Names>
  /** Whether a place is in an undo, whose calls are not undone. */
  readonly isUndo: (prefix: string) => boolean
  readonly register: (branch: Branch, path: string, undo: Code<unknown, unknown>) => void
  readonly continueAs: (input: Schema.Json) => void
}

/** Set in a step when its external event has happened: it reads the result once instead of polling. */
export const WaitIsOver = Context.Reference<boolean>("@signalbox/flows/WaitIsOver", { defaultValue: () => false })

export const interpreterOf = (branch: Branch, services: Services): Interpreter => {
  const { chapter, durable, events, gates, id, isLive, names, park, redoOf, replays } = services
  const publish = publishTo(events)
  const origin = chapter === 0 ? id : `${id}:${chapter}`

  const attemptOf =
    <S extends Codec, E extends Codec, R>(
      call: StepCall<S, E, R>,
      scope: string,
      context: Context.Context<R>
    ): Spec["attempt"] =>
    ({ attempt, awaited, elapsedMillis }) => {
      const { path } = call
      const fields = (at: number) => ({ executionId: id, path, attempt, at })
      const work = inStepScope(
        id,
        `${origin}/${scope}`,
        durable,
        gates !== null && call.transient !== null ? gates.pass(sendOnce(call.execute), call.transient) : call.execute
      ).pipe(
        at(outsideFlow),
        Effect.updateService(
          Reporter,
          () => (progress) => publish((now) => ({ _tag: "StepProgress", ...fields(now), ...progress }))
        ),
        Effect.provideService(WaitIsOver, awaited)
      )
      const spanned = inSpan(`step ${call.name}`, { "flow.execution_id": id, "flow.path": path }, work)
      return Effect.gen(function* (): Effect.fn.Return<End, never, R> {
        yield* publish((now) => ({ _tag: "StepStarted", ...fields(now) }))
        const exit = yield* Effect.exit(spanned)
        if (Exit.isSuccess(exit)) {
          const { json } = yield* recordResult(call.success, exit.value, `the result of the step ${path}`)
          return { _tag: "Succeeded", json }
        }
        const { cause } = exit
        const failed = cause.reasons.find(Cause.isFailReason)
        if (failed === undefined) return { _tag: "Died", cause }
        const { error } = failed
        const retryMillis = yield* call.retry({ error, attempt, elapsedMillis: elapsedMillis(), durable })
        yield* checkError(call.error, error, `the step ${path}`)
        const { json } = yield* recordResult(call.error, error, `the error of the step ${path}`)
        return { _tag: "Failed", json, cause: Cause.fail(error), retryMillis }
      }).pipe(
        Effect.catchCause((cause) => Effect.succeed<End>({ _tag: "Died", cause })),
        Effect.provideContext(context)
      )
    }

  /** A call that repeats the previous failed one with equal input keeps its scope. */
  const scopeOf = (path: string, numbered: Numbered | null, input: string): string => {
    const redo = redoOf(path)
    const own = redo === 0 ? path : `${path}~${redo}`
    if (numbered === null) return own
    const { last } = numbered
    const scope = last !== null && last.failed && last.input === input ? last.scope : own
    numbered.last = { scope, input, failed: false }
    return scope
  }

  const awaitedBy = <R>(awaits: StepCall<Codec, Codec, R>["awaits"]): Effect.Effect<Awaited | null, never, R> => {
    if (!durable || awaits === undefined) return noAwait
    return replays ? nothingAwaited : awaits
  }

  const step: Interpreter["step"] = <S extends Codec, E extends Codec, R>(call: StepCall<S, E, R>) =>
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.flatMap(awaitedBy(call.awaits), (awaited) => {
        const { input, inputSchema, kind = "step", name, numbered, path, repeatable } = call
        const scope = scopeOf(path, numbered, canonical(input))
        return park<S["Type"], E["Type"]>(branch, {
          path,
          name,
          kind: awaited === null ? kind : "run",
          input,
          inputSchema,
          address: "",
          dueMillis: awaited?.timeoutMillis ?? null,
          subject: awaited?.subject ?? null,
          repeatable,
          announced: false,
          recorded: awaited?.recorded ?? Effect.void,
          numbered,
          attempt: attemptOf(call, scope, context),
          resultOf: (entry) =>
            entry.state === "succeeded"
              ? readRecorded(id, call.success, entry.value, `the recorded result of ${path}`)
              : Effect.flatMap(readRecorded(id, call.error, entry.value, `the recorded error of ${path}`), Effect.fail)
        })
      })
    )

  const signalStep = <S extends Codec>({ name, path }: Place, schema: S): Effect.Effect<S["Type"]> =>
    Effect.flatMap(FlowSignals, (signals) =>
      step({
        path,
        name,
        input: null,
        inputSchema: Schema.Null,
        numbered: null,
        success: schema,
        error: Schema.Never,
        execute: Effect.flatMap(signals.receive({ executionId: id, path }), (value) =>
          decodeRecorded(schema, value, `the signal ${path}`)
        ),
        retry: () => Effect.succeed(null),
        transient: null,
        repeatable: true
      })
    )

  const awaitMessage = <S extends Codec>(kind: "signal" | "inbox", place: Place, address: string, schema: S) =>
    durable
      ? park<S["Type"], never>(
          branch,
          wait(place, kind, {
            address,
            resultOf: (entry) => readRecorded(id, schema, entry.value, `the ${kind} ${address}`)
          })
        )
      : signalStep(place, schema)

  return {
    claim: (prefix, name, key, repeats) =>
      Effect.suspend(() => {
        const base = prefix + segment(name, key)
        const numbered = names.get(base) ?? { count: 0, last: null }
        names.set(base, numbered)
        numbered.count++
        if (!repeats && numbered.count > 1) return Effect.die(usedTwice(base))
        const path = numbered.count === 1 ? base : `${base}#${numbered.count}`
        for (const region of branch.regions) region.path ??= path
        return Effect.succeed({ path, numbered: repeats ? numbered : null })
      }),
    step,
    flow: ({ error, execute, path, success }) =>
      Effect.gen(function* () {
        const fields = (at: number) => ({ executionId: id, path, attempt: 1, at })
        if (isLive()) yield* publish((now) => ({ _tag: "StepStarted", ...fields(now) }))
        const checked = execute.pipe(
          at({ interpreter: branch.interpreter, prefix: `${path}/` }),
          Effect.tapError((failure) => checkError(error, failure, `the flow ${path}`)),
          Effect.flatMap((value) => recordResult(success, value, `the result of the flow ${path}`))
        )
        const { value } = yield* checked.pipe(
          Effect.onExit((exit) =>
            isLive()
              ? publish((now) =>
                  Exit.isSuccess(exit)
                    ? { _tag: "StepSucceeded", ...fields(now) }
                    : { _tag: "StepFailed", ...fields(now), failure: failureOf(exit.cause) }
                )
              : Effect.void
          )
        )
        return value
      }),
    sleep: (place, millis) =>
      park<void, never>(
        branch,
        wait(place, "sleep", {
          // JSON has no infinity.
          input: Number.isFinite(millis) ? millis : null,
          dueMillis: Math.max(millis, 0),
          resultOf: () => Effect.void
        })
      ),
    signal: (place, address, schema) => awaitMessage("signal", place, address, schema),
    inbox: (place, address, schema) => awaitMessage("inbox", place, address, schema),
    patched: (place) =>
      Effect.suspend(() =>
        // A patch that a retry discarded was taken before, so it is taken again.
        services.recordedAt(place.path) === undefined && redoOf(place.path) === 0 && !isLive()
          ? Effect.succeed(false)
          : park<boolean, never>(
              branch,
              wait(place, "patch", { dueMillis: 0, announced: false, resultOf: () => Effect.succeed(true) })
            )
      ),
    halt: (defect) => services.branches.broken(branch, Cause.die(defect)),
    continueAs: (input) =>
      Effect.suspend(() =>
        // A cancelled execution has no next chapter, not even while a call runs to its end for its undo.
        isCancelled(branch)
          ? Effect.interrupt
          : services.branches.park<never, never>(branch, () => {
              services.continueAs(input)
              return { cancel: () => services.branches.interrupt(branch) }
            })
      ),
    all: <A, E, R>(members: ReadonlyArray<readonly [string, Effect.Effect<A, E, R>]>, concurrency: number) =>
      Effect.contextWith((context: Context.Context<R>) =>
        services.branches.all<A, E>(branch, provided(members, context), concurrency)
      ),
    race: <A, E, R>(members: ReadonlyArray<readonly [string, Effect.Effect<A, E, R>]>) =>
      Effect.contextWith((context: Context.Context<R>) =>
        services.branches.race<A, E>(branch, provided(members, context))
      ),
    compensate: <A, E, R, E2, R2>(
      prefix: string,
      call: Effect.Effect<A, E, R>,
      undo: (value: A) => Effect.Effect<unknown, E2, R2>
    ) =>
      Effect.contextWith((context: Context.Context<R | R2>) => {
        if (services.isUndo(prefix)) return call
        const region: Region = { path: null, begun: false }
        branch.regions.push(region)
        return Effect.onExit(call, (exit) =>
          Effect.suspend(() => {
            branch.regions.splice(branch.regions.indexOf(region), 1)
            if (Exit.isFailure(exit)) return Effect.void
            if (region.path === null) {
              return Effect.die(new FlowDefect({ message: "the effect of Flow.compensate calls no step" }))
            }
            const undone = Effect.suspend(() => undo(exit.value))
            services.register(branch, region.path, (position) => Effect.provideContext(at(position)(undone), context))
            return Effect.void
          })
        )
      })
  }
}

const noAwait = Effect.succeed(null)
const nothingAwaited = Effect.succeed({ subject: "", timeoutMillis: null, recorded: Effect.void })

/** A member has the context of the group, and its own position. */
const provided = <A, E, R>(
  members: ReadonlyArray<readonly [string, Effect.Effect<A, E, R>]>,
  context: Context.Context<R>
) =>
  members.map(
    ([prefix, member]) =>
      [prefix, (position: Position) => Effect.provideContext(at(position)(member), context)] as const
  )
