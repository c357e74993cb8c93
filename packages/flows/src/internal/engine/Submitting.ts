/**
 * What programs submit: inputs that are checked and recorded, with their options.
 */
import * as Effect from "effect/Effect"
import { FlowNotRegistered, InvalidInput } from "../../FlowErrors.ts"
import { type FlowDefinition, startOf } from "../body/FlowType.ts"
import * as Calling from "../journal/Calling.ts"
import { type Execution, hasEnded, type NewMessage, versionName } from "../model/Execution.ts"
import { checkMany, givenOf, type SubmitOptions } from "../model/Submitted.ts"
import { type Codec, recordSubmitted } from "../model/Values.ts"
import { type When, whenOf, type WhenOptions } from "../model/When.ts"
import type { Engine } from "./Engine.ts"
import { engineOf } from "./EngineOf.ts"

interface BeginOptions {
  readonly key?: string | undefined
  readonly when?: When | undefined
  readonly messages?: ReadonlyArray<NewMessage>
}

/** Creates an execution, or joins the one with its key. */
export const begin = Effect.fnUntraced(function* <I extends Codec>(
  flow: FlowDefinition<I, Codec, Codec>,
  input: I["Type"],
  { key, messages = [], when }: BeginOptions = {}
) {
  const { engine } = yield* engineOf
  const given = yield* recordSubmitted(flow, input)
  return yield* engine.submit({ ...startOf(flow, given, key), messages, when })
}, Calling.asCall)

/** Like `begin`, with the options of a program; `of` names the call whose options these are. */
export const submitted = Effect.fnUntraced(function* <I extends Codec>(
  of: string,
  flow: FlowDefinition<I, Codec, Codec>,
  input: I["Type"],
  options: SubmitOptions
) {
  const { debounce, key, when } = givenOf(of, options)
  if (debounce === null) return yield* begin(flow, input, { key, when })
  const { engine } = yield* engineOf
  const { key: _key, ...made } = startOf(flow, yield* recordSubmitted(flow, input))
  return yield* Calling.asCall(engine.debounce(made, when, debounce))
})

/** Creates executions in one transaction; an input that does not fit is named by its index. */
export const submittedMany = Effect.fnUntraced(function* <I extends Codec>(
  of: string,
  flow: FlowDefinition<I, Codec, Codec>,
  inputs: ReadonlyArray<I["Type"]>,
  options: WhenOptions
) {
  const when = whenOf(of, options)
  checkMany(of, inputs)
  const { engine } = yield* engineOf
  const all = yield* Effect.forEach(inputs, (input, index) =>
    recordSubmitted(flow, input).pipe(
      Effect.map((given) => {
        const { flow: _flow, ...made } = startOf(flow, given)
        return made
      }),
      Effect.mapError(
        ({ expected, path }) =>
          new InvalidInput({ flow: flow.name, path: path === "" ? `${index}` : `${index}.${path}`, expected })
      )
    )
  )
  return all.length === 0 ? [] : yield* Calling.asCall(engine.submitMany(flow.name, all, when))
})

/** Fails when the execution has not ended and no registered version would run it. */
export const registered = Effect.fnUntraced(function* ({ registered }: Engine["Service"], execution: Execution) {
  const { flow, id, state, version } = execution
  if (hasEnded(state) || registered.has(versionName(execution))) return
  return yield* new FlowNotRegistered({ flow, version, execution: id })
})
