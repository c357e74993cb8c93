/**
 * Fragments of an upload, by the rules of the service: in order, in multiples of 320 KiB, all of one size in total.
 */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import * as Failure from "../model/Failure.ts"
import type { Rule } from "../../Faults.ts"
import type { Gap } from "../model/Model.ts"
import * as QuickXorHash from "../world/QuickXorHash.ts"
import { type Receiving, without } from "../world/Transfers.ts"
import { World } from "../world/World.ts"

/** How fragments may be. */
export interface Limits {
  /** Bytes: every fragment but the last is a multiple of it. */
  readonly unit: number
  /** Bytes that there is room for. */
  readonly room: number
}

/** Bytes: the unit of drives. */
export const driveUnit = 320 * 1024

/** Bytes: a fragment must be smaller. */
const most = 60 * 1024 * 1024

const pattern = /^bytes (\d+)-(\d+)\/(\d+)$/

interface Fragment extends Gap {
  readonly total: number
}

/** What the headers say of a fragment, if it can be one of this session. */
const parse = Effect.fnUntraced(function* (session: Receiving, headers: Readonly<Record<string, string | undefined>>) {
  const match = pattern.exec(headers["content-range"] ?? "")
  if (match === null) {
    return yield* Failure.invalidRequest(
      "The Content-Range header must be given, as in 'bytes 0-327679/1000000'.",
      "invalidParameterFormat"
    )
  }
  const [first, last, total] = match.slice(1).map(Number)
  if (first === undefined || last === undefined || total === undefined || first > last || last >= total) {
    return yield* Failure.invalidRequest("The Content-Range header makes no sense.", "invalidStartIndex")
  }
  const length = headers["content-length"]
  if (length === undefined) return yield* Failure.lengthRequired()
  const fragment: Fragment = { from: first, to: last + 1, total }
  const size = fragment.to - fragment.from
  if (Number(length) !== size) {
    return yield* Failure.invalidRequest("The body is not as long as Content-Range says.", "fragmentLengthMismatch")
  }
  if (size >= most) {
    return yield* Failure.tooLarge("A fragment must be smaller than 60 MiB.", "maxFragmentLengthExceeded")
  }
  if (session.total !== null && session.total !== total) {
    return yield* Failure.invalidRequest("Every fragment must give the same size in total.", "fragmentLengthMismatch")
  }
  return fragment
})

/** Whether the fragment begins where the first gap does, and ends in it. */
const checkPlace = ({ from, to, total }: Fragment, gaps: ReadonlyArray<Gap>, unit: number) => {
  const [gap] = gaps
  const isComing = gaps.some((gap) => gap.from <= from && from < gap.to)
  if (gap === undefined || !isComing) {
    return Effect.fail(Failure.invalidRange("The fragment has been received already.", "fragmentOverlap"))
  }
  if (from !== gap.from) {
    return Effect.fail(Failure.invalidRange("The fragments must come in order.", "fragmentOutOfOrder"))
  }
  if (to > gap.to) return Effect.fail(Failure.invalidRange("The fragment overlaps another one.", "fragmentOverlap"))
  const fills = to === gap.to || to === total
  return fills || (to - from) % unit === 0
    ? Effect.void
    : Effect.fail(
        Failure.invalidRequest(`The size of a fragment must be a multiple of ${unit} bytes.`, "invalidParameterFormat")
      )
}

type Partial = Extract<Rule, { readonly fault: "partialRange" }>

/** What is kept of a fragment: all of it, or as little as the rule says. */
const keptOf = ({ from, to }: Gap, partial: Partial | null): ReadonlyArray<Gap> => {
  if (partial === null) return [{ from, to }]
  const head = { from, to: Math.min(to, from + partial.accept) }
  const tail = { from: Math.max(head.to, to - (partial.acceptEnd ?? 0)), to }
  return [head, tail].filter((gap) => gap.from < gap.to)
}

/** Hashes what of a chunk is kept. */
const fold = (hash: QuickXorHash.Folded, chunk: Uint8Array, at: number, kept: ReadonlyArray<Gap>) => {
  for (const { from, to } of kept) {
    const start = Math.max(from, at)
    const end = Math.min(to, at + chunk.length)
    if (start < end) hash.add(chunk.subarray(start - at, end - at), start)
  }
}

/** Takes a fragment into the session. One that breaks off leaves nothing behind. */
export const receive = Effect.fnUntraced(function* (
  session: Receiving,
  request: HttpServerRequest.HttpServerRequest,
  partial: Partial | null,
  { room, unit }: Limits
) {
  const { blobs } = yield* World
  const fragment = yield* parse(session, request.headers)
  const { from, to, total } = fragment
  if (total > room) return yield* Failure.quotaReached()
  const gaps = session.total === null ? [{ from: 0, to: total }] : session.gaps
  yield* checkPlace(fragment, gaps, unit)
  if (session.busy) {
    return yield* new Failure.Failure({
      status: 409,
      code: "notAllowed",
      message: "Another fragment of this session is being received.",
      inner: ["lockMismatch"]
    })
  }
  const kept = keptOf(fragment, partial)
  const hash = QuickXorHash.make()
  let at = from
  const counted = Stream.map(request.stream, (chunk) => {
    fold(hash, chunk, at, kept)
    at += chunk.length
    return chunk
  })
  yield* Effect.acquireUseRelease(
    Effect.sync(() => {
      session.busy = true
    }),
    () =>
      Effect.mapError(blobs.writeAt(session.path, from, counted), () =>
        Failure.invalidRequest("The body ended too early.", "fragmentLengthMismatch")
      ),
    () =>
      Effect.sync(() => {
        session.busy = false
      })
  )
  if (at !== to) return yield* Failure.invalidRequest("The body ended too early.", "fragmentLengthMismatch")
  session.hash.merge(hash)
  session.total = total
  session.gaps = kept.reduce(without, gaps)
})
