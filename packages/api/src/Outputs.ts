/** Outputs of process runs: what the last step created. */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ProcessRunId } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { ControlRoom } from "./ControlRoom.ts"
import type { ControlRoomError, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Outputs.ts"
import { names, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import { pageReader } from "./internal/payloads/Schemas.ts"
import type { ListOf, ListOptions } from "./ListOptions.ts"
import type { Typed, UnexpectedData, WithSchema } from "./Payload.ts"
import type { AnySchema } from "./StandardSchema.ts"

export type { Output } from "./contract/Outputs.ts"

const call = { list: returning<Page<contract.Output>, InvalidRequest | NotFound>()(inWorkspace(contract.list)) }

const listed = names<ListOptions & WithSchema<AnySchema>>("option", { limit: 1, cursor: 1, schema: 1 })
const streamed = names<StreamOptions & WithSchema<AnySchema>>("option", { limit: 1, schema: 1 })

/** How a page of outputs is got, with the type of a schema or without. */
export interface ListOutputs extends ListOf<ProcessRunId, contract.Output, InvalidRequest | NotFound> {
  <S extends AnySchema>(
    run: ProcessRunId,
    options: ListOptions & WithSchema<S>
  ): Effect.Effect<
    Page<Typed<contract.Output, S>>,
    InvalidRequest | NotFound | UnexpectedData | ControlRoomError,
    ControlRoom
  >
}

/**
 * Returns one page, oldest first. With a `schema` payloads have its type; fails with `UnexpectedData` at the first that does not fit.
 *
 * ```ts
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import * as Outputs from "@signalbox/api/Outputs"
 *
 * export const nextPage = (run: ProcessRunId, next: string) =>
 *   Outputs.list(run, { limit: 50, cursor: next })
 * ```
 */
export const list = Effect.fn("Outputs.list")(
  (run: ProcessRunId, options: ListOptions & Partial<WithSchema<AnySchema>> = {}, cursor?: string) =>
    Effect.flatMap(
      call.list({ query: { process_run_id: run, limit: options.limit, cursor: cursor ?? options.cursor } }),
      pageReader(options.schema)
    ),
  refusing("outputs.list", { 1: listed })
  // Payloads have the type of the schema when there is one.
) as ListOutputs

/** How outputs are streamed. */
export interface StreamOptions {
  /** Outputs per page, 1 to 500. */
  readonly limit?: number | undefined
}

/** How outputs are streamed, with the type of a schema or without. */
export interface StreamOutputs {
  <S extends AnySchema>(
    run: ProcessRunId,
    options: StreamOptions & WithSchema<S>
  ): Stream.Stream<
    Typed<contract.Output, S>,
    InvalidRequest | NotFound | UnexpectedData | ControlRoomError,
    ControlRoom
  >
  (
    run: ProcessRunId,
    options?: StreamOptions
  ): Stream.Stream<contract.Output, InvalidRequest | NotFound | ControlRoomError, ControlRoom>
}

/**
 * Emits all outputs of a run, oldest first, a page at a time. With a `schema`, one of effect or of a library such as Zod, payloads have
 * its type; fails with `UnexpectedData` at a page that has one which does not fit. `outputs` of `@signalbox/api/Process` emits those of a process
 * as code, decoded.
 *
 * ```ts
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import * as Outputs from "@signalbox/api/Outputs"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 *
 * const schema = Schema.Struct({ total: Schema.Finite })
 *
 * export const totals = (run: ProcessRunId) =>
 *   Stream.map(Outputs.stream(run, { schema }), ({ payload }) => payload.total)
 * ```
 */
export const stream = ((run: ProcessRunId, options: StreamOptions & Partial<WithSchema<AnySchema>> = {}) =>
  pages((cursor) => list(run, { ...options, cursor })).pipe(
    refusingStream("outputs.stream", streamed, options)
  )) as StreamOutputs // As in `list`.
