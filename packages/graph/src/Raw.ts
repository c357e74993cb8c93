/**
 * Calls that no module has: with the same token, retries, gate, paging and errors, and responses as they are.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { bodyOf } from "./internal/requests/Answer.ts"
import { asText, type Method } from "./internal/requests/Transport.ts"
import { type Call, list, request } from "./internal/requests/Call.ts"
import { type Path, verbatim } from "./Path.ts"

/** A call: `path` is below the version; a plain string is sent as it is, so encode the names in it or use `path`. */
export interface RawCall extends Omit<Call, "path" | "timed" | "jsonName"> {
  readonly path: Path | string
}

export type { Method }

/** An answer below 400. `body` is null when it is empty or no JSON. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}

const toCall = (call: RawCall): Call => ({
  ...call,
  path: typeof call.path === "string" ? verbatim(call.path) : call.path
})

/**
 * ```ts
 * import * as Raw from "@signalbox/graph/Raw"
 * import { path } from "@signalbox/graph/Path"
 *
 * export const messages = (folder: string) =>
 *   Raw.send({
 *     path: path`/me/mailFolders/${folder}/messages`,
 *     query: { $top: 5 }
 *   })
 * ```
 */
export const send = Effect.fn("Raw.send")(function* (call: RawCall): Effect.fn.Return<RawAnswer, GraphError, Graph> {
  const { headers, status, value } = yield* request(toCall(call), asText)
  return { status, headers, body: bodyOf(value) }
})

const unknowns = list(Schema.Unknown)

/** The items of a list, over all its pages. */
export const stream = (call: RawCall): Stream.Stream<unknown, GraphError, Graph> =>
  Stream.withSpan(unknowns(toCall(call)), "Raw.stream")
