/**
 * The parts of a batch: calls, and what must be true of them before they are sent.
 */
import { jsonOf, Unfit } from "@signalbox/transport/JsonValue"
import { GraphError, InvalidRequest, type RequestInfo } from "../../GraphError.ts"
import { type Path, type Query, verbatim } from "../../Path.ts"
import { unsent } from "./Call.ts"
import type { Method } from "./Transport.ts"

export interface PartCall {
  readonly method?: Method | undefined
  /** Below the version; a plain string is sent as it is. */
  readonly path: Path | string
  readonly query?: Query | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly json?: unknown
  /** The names of the parts that must have worked before this one is tried. */
  readonly dependsOn?: ReadonlyArray<string> | undefined
}

/** What came for a part. A file's content is a 302 with its `location`. */
export interface PartAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A part on its way. */
export interface Pending {
  readonly id: string
  /** The function that the program called. */
  readonly operation: string | null
  readonly call: PartCall
  readonly path: Path
  readonly method: Method
  attempts: number
  /** Not sent again before. */
  notBefore: number
}

export const pendingOf = (id: string, call: PartCall, operation: string | null): Pending => ({
  id,
  operation,
  call,
  path: typeof call.path === "string" ? verbatim(call.path) : call.path,
  method: call.method ?? "GET",
  attempts: 0,
  notBefore: 0
})

export const info = (part: Pending, answer: PartAnswer | null): RequestInfo => ({
  ...unsent(part.method, part.path.shown, part.operation),
  attempts: part.attempts,
  status: answer?.status ?? null,
  requestId: answer?.headers["request-id"] ?? null,
  clientRequestId: answer?.headers["client-request-id"] ?? null
})

const refusal = (part: Pending, message: string): GraphError =>
  new GraphError({ reason: new InvalidRequest({ codes: [], message }), request: info(part, null) })

/** Why these parts can't be a batch. */
export const problemOf = (parts: ReadonlyArray<Pending>): GraphError | undefined => {
  const ids = new Set(parts.map(({ id }) => id))
  for (const part of parts) {
    if (part.path.problem !== null) return refusal(part, `${part.id}: ${part.path.problem}`)
    const json = part.call.json === undefined ? null : jsonOf(part.call.json, "")
    if (json instanceof Unfit) return refusal(part, `${part.id}: ${json.message}`)
    const unknown = part.call.dependsOn?.find((id) => !ids.has(id))
    if (unknown !== undefined) return refusal(part, `${part.id} depends on ${unknown}, which is no part of this batch`)
  }
  const free = new Set<string>()
  for (let left = parts; left.length > 0;) {
    const next = left.filter(({ call }) => (call.dependsOn ?? []).every((id) => free.has(id)))
    const [stuck] = left
    if (next.length === 0 && stuck !== undefined) return refusal(stuck, `${stuck.id} depends on itself, in a circle`)
    for (const { id } of next) free.add(id)
    left = left.filter(({ id }) => !free.has(id))
  }
  return undefined
}
