/** Outputs of process runs: what the last step created. */
import { type InspectArguments, printed } from "@signalbox/transport/Printed"
import { describe, parseOptions } from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type ProcessRunId, WorkItemId } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { ControlRoom } from "./ControlRoom.ts"
import type { ControlRoomError, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./contract/Outputs.ts"
import { inWorkspace, pages, returning } from "./internal/Workspace.ts"

export type { Output } from "./contract/Outputs.ts"

const call = { list: returning<Page<contract.Output>, InvalidRequest | NotFound>()(inWorkspace(contract.list)) }

/** Returns one page, oldest first. */
export const list = Effect.fn("Outputs.list")(
  (run: ProcessRunId, options: { readonly limit?: number } = {}, cursor?: string) =>
    call.list({ query: { process_run_id: run, ...options, ...(cursor === undefined ? {} : { cursor }) } })
)

/** Emits all outputs of a run, oldest first, a page at a time. */
export const stream = (run: ProcessRunId, options: { readonly limit?: number } = {}) =>
  pages((cursor) => list(run, options, cursor))

/** The payload of an output is not what the schema says; the message names the field, and holds nothing of the payload. */
export class UnexpectedPayload extends Schema.TaggedError<UnexpectedPayload>()("UnexpectedPayload", {
  output: WorkItemId,
  message: Schema.String
}) {
  override [NodeInspectSymbol](...args: InspectArguments) {
    return printed(this, args)
  }
}

/** An output with its payload as a schema makes it. */
export interface OutputOf<Payload> extends Omit<contract.Output, "payload"> {
  readonly payload: Payload
}

/** Makes a function that decodes the payload of an output by a schema; it fails with `UnexpectedPayload`. */
export const payloadDecoder = <S extends Schema.ConstraintCodec<unknown, unknown>>(payload: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(payload), parseOptions)
  return (output: WorkItemId, json: contract.Output["payload"]): Effect.Effect<S["Type"], UnexpectedPayload> =>
    Effect.mapError(
      decode(json),
      (error) =>
        new UnexpectedPayload({
          output,
          message: `the payload of the output ${output} is not what was expected: ${describe(error)}`
        })
    )
}

/**
 * As `stream`, with payloads decoded by a schema. Fails with `UnexpectedPayload` at the first that does not fit.
 *
 * ```ts
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import * as Outputs from "@signalbox/api/Outputs"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 *
 * const Invoice = Schema.Struct({ total: Schema.Finite, due: Schema.Date })
 *
 * export const sum = (run: ProcessRunId) =>
 *   Stream.runFold(Outputs.streamAs(Invoice, run), () => 0, (sum, { payload }) => sum + payload.total)
 * ```
 */
export const streamAs = <S extends Schema.ConstraintCodec<unknown, unknown>>(
  payload: S,
  run: ProcessRunId,
  options: { readonly limit?: number } = {}
): Stream.Stream<
  OutputOf<S["Type"]>,
  NotFound | InvalidRequest | ControlRoomError | UnexpectedPayload,
  ControlRoom
> => {
  const decode = payloadDecoder(payload)
  return Stream.mapEffect(stream(run, options), (output) =>
    Effect.map(decode(output.id, output.payload), (payload) => ({ ...output, payload }))
  )
}
