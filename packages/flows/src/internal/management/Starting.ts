/**
 * Starts flows by their names, and waits for the ends of executions, for programs that do not run them.
 */
import { defined } from "@signalbox/transport/Defined"
import { OptionError } from "@signalbox/transport/OptionError"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { ExecutionNotFound } from "../../FlowErrors.ts"
import * as FlowExecutions from "../../FlowExecutions.ts"
import { engineOf } from "../engine/EngineOf.ts"
import { messageOf } from "../engine/MessageCheck.ts"
import type { RegisteredFlows } from "../engine/RegisteredFlows.ts"
import { codeIn, shown } from "../interpreter/Halts.ts"
import { asCall } from "../journal/Calling.ts"
import { hasEnded, versionName } from "../model/Execution.ts"
import { givenOf } from "../model/Submitted.ts"
import { seen, SeesValues } from "../operate/Seeing.ts"
import type { Awaited, ChangedStart, Start } from "./Contract.ts"
import { conflicting, invalid, missing } from "./Errors.ts"

/**
 * Returns the version to start: that of the caller, or the newest. A caller of before a deployment starts the newest one; one of after
 * it is refused, since an older flow would not do what it expects.
 */
const chosen = Effect.fnUntraced(function* (flows: RegisteredFlows, { flow, version }: Start) {
  const same = version === undefined ? undefined : flows.get(versionName({ flow, version }))
  if (same !== undefined) return same
  const newest = flows.newest(flow)
  if (newest === undefined) return yield* missing({ message: `flow: ${flow} is not registered in this program` })
  if (version !== undefined && version > newest.version) {
    const message = `version: ${flow} is registered in version ${newest.version}: deploy version ${version} before its callers`
    return yield* conflicting({ message })
  }
  return newest
})

/** Fails for options that cannot be. */
export const checked = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.catchDefect(call, (defect) =>
    defect instanceof OptionError
      ? Effect.fail(invalid({ message: defect.message.replace(/^[\w.]+: /, "") }))
      : Effect.die(defect)
  )

export const dateOf = (millis: number | undefined): Date | undefined =>
  millis === undefined ? undefined : new Date(millis)

/** Returns how the execution is submitted; fails for options that cannot be. */
const optionsOf = ({ after, at, deadline, debounce, key, priority }: Start) =>
  checked(Effect.sync(() => givenOf("start", { key, priority, deadline, debounce, after, at: dateOf(at) })))

/** Changes when an execution starts; fails for options that cannot be. */
export const reschedule = Effect.fnUntraced(function* (
  id: string,
  { after, at, ...options }: FlowExecutions.CommandIdentity & ChangedStart
) {
  if (at !== undefined && after !== undefined) {
    return yield* invalid({ message: "starts_at: Expected none beside starts_after_millis" })
  }
  const start = at === undefined ? { after } : { at: dateOf(at) }
  yield* checked(FlowExecutions.reschedule(id, { ...options, ...start }))
})

/** Starts an execution, or joins the one with its key. */
export const start = Effect.fn("FlowManagement.start")(function* (asked: Start) {
  const { engine } = yield* engineOf
  const flow = yield* chosen(engine.registered, asked)
  const { debounce, key, when } = yield* optionsOf(asked)
  const { signal } = asked
  const started = yield* flow.startOf(asked.input, key)
  if (debounce !== null) {
    if (signal !== undefined) return yield* invalid({ message: "signal: Expected none beside debounce" })
    const { key: _key, ...made } = started
    const { id, state } = yield* asCall(engine.debounce(made, when, debounce))
    return { id, state }
  }
  if (signal === undefined) {
    const { id, state } = yield* asCall(engine.submit({ ...started, messages: [], when }))
    return { id, state }
  }
  const { name: address, value } = signal
  const message = yield* messageOf(flow, flow.signals, { address, value, id: signal.id })
  const { id, state } = yield* asCall(engine.submit({ ...started, messages: [message], when }))
  // An existing execution has not got the message; a repeated one counts once.
  yield* FlowExecutions.signal(id, address, value, defined({ id: message.kind === "inbox" ? message.id : undefined }))
  return { id, state }
})

/** Waits until an execution has ended or is halted, for at most so many seconds. */
export const result = Effect.fn("FlowManagement.result")(function* (id: string, wait: number) {
  const { engine } = yield* engineOf
  if (wait > 0) yield* Effect.timeoutOption(engine.settled(id), `${wait} seconds`)
  const found = yield* asCall(engine.journal.find(id))
  if (found === null) return yield* new ExecutionNotFound({ execution: id })
  const { deadlineAt, error, failure, flow, result, state, version } = shown((yield* seen).execution(found))
  const isHalted = state === "halted"
  const awaited: Awaited = {
    settled: hasEnded(state) || isHalted,
    id,
    flow,
    version,
    state,
    result,
    error,
    deadlineAt,
    failure: failure === null ? null : Struct.omit(failure, ["stack"]),
    ...defined({
      code: isHalted && found.failure !== null ? codeIn(found.failure) : undefined,
      withheld: (yield* SeesValues) ? undefined : true
    })
  }
  return awaited
})
