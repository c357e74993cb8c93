/**
 * Messages to an execution, checked before anything is recorded.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { InvalidSignal } from "../../FlowErrors.ts"
import type { Signal } from "../../Signals.ts"
import type { FlowVersion, NewMessage } from "../model/Execution.ts"
import { NewId } from "../model/Ids.ts"
import { nameOf } from "../model/Path.ts"
import { isSealed, reserved } from "../model/Envelope.ts"
import { type Codec, jsonBytes, maxResultBytes } from "../model/Values.ts"

/** Matches the part after the name: nothing, or a key in brackets, in which backslashes and closing brackets are escaped. */
const isKey = /^(?:\[(?:[^\\\]]|\\[\\\]])*\])?$/

interface Sent {
  readonly address: string
  readonly value: Schema.Json
  /** The id of a message of an inbox; default: a new one. */
  readonly id: string | undefined
  /** The field of the value, for messages; default: value. */
  readonly field?: "value" | "input" | undefined
}

/** Checks a value for a signal, or a message for an inbox, against those of a flow. `signals` is null when it is not registered. */
export const messageOf = Effect.fnUntraced(function* (
  { flow, version }: FlowVersion,
  signals: ReadonlyArray<Signal<Codec>> | null,
  { address, field = "value", id: given, value }: Sent
): Effect.fn.Return<NewMessage, InvalidSignal> {
  const refuse = (message: string) => new InvalidSignal({ signal: address, message })
  const name = nameOf(address)
  const listed = signals?.find((signal) => signal.name === name)
  if (listed === undefined) {
    const instead =
      signals === null
        ? `${flow}@${version} is not registered in this program: send it to one that has`
        : signals.length === 0
          ? `${flow} lists no signals: list it in the \`signals\` of Flow.make`
          : `expected one of ${signals.map((signal) => signal.name).join(", ")}`
    return yield* refuse(`signal: ${name} does not exist; ${instead}`)
  }
  const { kind, schema } = listed
  if (!isKey.test(address.slice(name.length))) {
    return yield* refuse(`signal: expected ${name}, or ${name} with a key as in ${name}[a]`)
  }
  if (kind === "signal" && given !== undefined) {
    return yield* refuse(`id: expected none, because ${name} is a signal: only messages of an inbox have one`)
  }
  if (given === "") {
    return yield* refuse(`id: expected at least one character, or none for a new message of ${name}`)
  }
  const bytes = jsonBytes(value)
  if (bytes > maxResultBytes) {
    return yield* refuse(
      `${field}: is ${bytes} bytes of JSON, more than ${maxResultBytes}: put large data in a file and send its name`
    )
  }
  if (isSealed(value)) return yield* refuse(`${field}: ${reserved}`)
  const fits = Schema.decodeExit(Schema.toCodecJson(schema))(value)
  if (Exit.isFailure(fits)) {
    const error = fits.cause.reasons.flatMap((reason) => (reason._tag === "Fail" ? [reason.error] : []))[0]
    return yield* refuse(`${field}: does not fit the signal ${name}: ${error?.message ?? "it could not be read"}`)
  }
  const refusal = listed.request?.validate(fits.value) ?? null
  if (refusal !== null) return yield* refuse(`${field}: ${refusal}`)
  const newId = yield* NewId
  return { kind, name: address, id: kind === "signal" ? "" : (given ?? newId()), value }
})
