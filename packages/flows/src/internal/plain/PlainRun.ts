/**
 * Plain runs: the same interpreter in this process, and nothing is recorded.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import { DeadlineExceeded, type InvalidInput } from "../../FlowErrors.ts"
import { FlowSignals } from "../../FlowSignals.ts"
import { detailOf } from "../model/Failure.ts"
import { VerifyRuns } from "../../VerifyRuns.ts"
import { bodyOf } from "../interpreter/Body.ts"
import { Children, type Ended } from "../body/ChildExecutions.ts"
import type { Flow } from "../body/FlowType.ts"
import { NewId } from "../model/Ids.ts"
import { run as interpret } from "../interpreter/Interpreter.ts"
import type { Host, Outcome, Session } from "../interpreter/Contract.ts"
import * as PlainChildren from "./PlainChildren.ts"
import * as Restless from "../model/Restless.ts"
import { endingOf, makeRecorder, replayed } from "./Verify.ts"
import { type Codec, decodeRecorded, record, recordInput } from "../model/Values.ts"
import { timesAt, type When } from "../model/When.ts"

const host: Omit<Host, "restless"> = {
  durable: false,
  name: "this process",
  process: null,
  now: Clock.currentTimeMillis,
  write: () => Effect.succeed(true),
  messages: () => Effect.succeed([]),
  isCrowded: () => false,
  outside: () => Effect.void,
  gates: null
}

const started = { state: "running", mail: 0, startsAt: null, deadlineAt: null } as const
const nothing = { entries: [], undos: [], messages: [], redos: new Map<string, number>() }

/** Runs a flow with an input that fits its schema, as JSON. */
const runRecorded = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: Schema.Json,
  { id: given, verify }: { readonly id?: string; readonly verify?: boolean } = {}
): Effect.Effect<S["Type"], E["Type"], R> =>
  Effect.contextWith((context: Context.Context<R>) => {
    const newId = Context.get(context, NewId)
    const id = given ?? newId()
    const what = `the flow ${flow.name}`
    const children = PlainChildren.make(Context.get(context, FlowSignals), newId)
    const makeBody = bodyOf(flow, Context.add(context, Children, children))
    const isVerified = verify ?? Context.get(context, VerifyRuns)
    const recorder = makeRecorder()
    const inspected = isVerified ? { ...host, write: recorder.write } : host
    let session: Session | undefined

    const chapters = Effect.fnUntraced(function* (restless: Restless.Restless): Effect.fn.Return<Outcome> {
      let json = input
      for (let chapter = 0; ; chapter++) {
        const outcome = yield* interpret({
          execution: { ...started, id, flow: flow.name, version: flow.version, chapter },
          history: nothing,
          host: { ...inspected, restless },
          body: makeBody({ id, input: json }),
          onSession: (made) => {
            session = made
          }
        }).pipe(Effect.orDie)
        if (isVerified && outcome._tag !== "Halted") {
          const misfit = yield* replayed(
            {
              ...nothing,
              ...recorder.take(),
              execution: { id, flow: flow.name, version: flow.version, chapter },
              durable: false,
              ending: outcome._tag === "Cancelled" ? null : endingOf(outcome)
            },
            makeBody({ id, input: json })
          )
          if (misfit !== null) return { _tag: "Halted", mine: true, ...misfit }
        }
        if (outcome._tag !== "Continued") return outcome
        json = outcome.input
      }
    })
    /** Cancels the flow when the caller is interrupted, and waits for its undos. */
    const undone = (fiber: Fiber.Fiber<Outcome>) =>
      Effect.suspend(() => {
        session?.cancel()
        return Effect.asVoid(Fiber.await(fiber))
      })

    // A plain run that halts ends too, because it cannot be resumed.
    const whole = Effect.ensuring(Restless.around(chapters), children.endAll(id))
    return Effect.flatMap(Effect.forkDetach(whole), (fiber) =>
      Effect.flatMap(
        Effect.onInterrupt(Fiber.join(fiber), () => undone(fiber)),
        (outcome) => {
          switch (outcome._tag) {
            case "Completed":
              return decodeRecorded(flow.success, outcome.result, `the result of ${what}`)
            case "Failed":
            case "Halted":
              // The interpreter has checked the error against the schema.
              return Effect.failCause(outcome.cause) as Effect.Effect<never, E["Type"]>
            default:
              return Effect.interrupt
          }
        }
      )
    )
  })

/** Runs a flow in this process. Fails with `InvalidInput` before anything has begun. */
export const runPlain = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  options: { readonly verify?: boolean } = {}
): Effect.Effect<S["Type"], E["Type"] | InvalidInput, R> =>
  Effect.flatMap(recordInput(flow, input), ({ json }) => runRecorded(flow, json, options))

/** Runs a flow to its end as a child of another one. */
export const endedOf = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  id: string,
  input: Schema.Json,
  when: When
): Effect.Effect<Ended, never, R> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { deadlineAt, startsAt } = timesAt(when, now)
    const begun = Effect.andThen(
      startsAt === null ? Effect.void : Effect.sleep(startsAt - now),
      runRecorded(flow, input, { id })
    )
    // Its undos run when it is interrupted.
    const run =
      deadlineAt === null
        ? begun
        : Effect.timeoutOrElse(begun, {
            duration: deadlineAt - now,
            orElse: () => Effect.fail(new DeadlineExceeded({ execution: id, deadlineAt }))
          })
    const exit = yield* Effect.exit(Effect.interruptible(run))
    const none = { id, version: flow.version, result: null, error: null, failure: null, deadlineAt }
    if (Exit.isSuccess(exit)) {
      const { json } = yield* record(flow.success, exit.value, `the result of the flow ${flow.name}`)
      return { ...none, state: "completed", result: json }
    }
    const { cause } = exit
    const failed = cause.reasons.find(Cause.isFailReason)
    if (failed?.error instanceof DeadlineExceeded && failed.error.execution === id) {
      return { ...none, state: "failed", failure: detailOf(cause) }
    }
    if (failed !== undefined) {
      const { json } = yield* record(flow.error, failed.error, `the error of the flow ${flow.name}`)
      return { ...none, state: "failed", error: json, failure: detailOf(cause) }
    }
    return { ...none, state: Cause.hasInterruptsOnly(cause) ? "cancelled" : "halted", failure: detailOf(cause) }
  })
