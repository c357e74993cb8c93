/**
 * An upload in fragments: what is missing is sent until nothing is, whatever happens on the way. The address of the upload
 * gives access by itself and never gets a token.
 */
import { pauseAfter } from "@signalbox/transport/Policy"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as HttpBody from "effect/http/HttpBody"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import { DriveItem, UploadStatus } from "../../model/Drive.ts"
import { GraphPolicy } from "../../Policy.ts"
import { type TransferError, transferError, UploadLost } from "../../TransferError.ts"
import { bodyOf } from "../requests/Answer.ts"
import { decoder, requestAddress } from "../requests/Call.ts"
import type { Reader } from "./Reader.ts"
import { asNothing, asText, type Sent } from "../requests/Transport.ts"

/** Bytes from `from` up to, but not with, `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The ranges as the service writes them: `"0-"`, `"12345-55232"`; mailboxes say `"12345"` for all from there. */
export const parseRanges = (ranges: ReadonlyArray<string>, size: number): ReadonlyArray<Range> =>
  ranges
    .flatMap((text) => {
      const match = /^(\d+)(?:-(\d*))?$/.exec(text.trim())
      if (match === null) return []
      const to = (match[2] ?? "") === "" ? size : Number(match[2]) + 1
      return [{ from: Number(match[1]), to: Math.min(to, size) }]
    })
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from)

export interface Progress {
  /** Bytes that the service has acknowledged. */
  readonly sent: number
  readonly total: number
}

/** What an answer to a fragment says: what became of the whole, or which ranges are missing (null: it does not say). */
export type Received<A> = { readonly item: A } | { readonly next: ReadonlyArray<string> | null }

export interface SessionOptions<A> {
  readonly url: Redacted.Redacted
  readonly name: string | null
  readonly size: number
  readonly fragmentBytes: number
  readonly onProgress: ((progress: Progress) => Effect.Effect<void>) | undefined
  readonly read: (sent: Sent<string>) => Effect.Effect<Received<A>, GraphError>
}

const decodeStatus = decoder(UploadStatus)

/** The missing ranges that an answer names. Some clouds write names with a capital. */
export const statusOf = (sent: Sent<string>) => {
  const body = bodyOf(sent.value)
  const named = Predicate.isObject(body)
    ? Object.fromEntries(Object.entries(body).map(([name, value]) => [name[0]?.toLowerCase() + name.slice(1), value]))
    : body
  return Effect.map(decodeStatus(named, sent.request), ({ nextExpectedRanges }) => nextExpectedRanges ?? null)
}
const decodeItem = decoder(DriveItem)

const missingBytes = (ranges: ReadonlyArray<Range>) => ranges.reduce((sum, { from, to }) => sum + to - from, 0)

/** What another try can't change. */
const isFinal = ({ reason }: GraphError): boolean => {
  switch (reason._tag) {
    case "Unavailable":
      // With a time to come back, it was sent again already, as often as the policy says.
      return reason.retryAfterMillis !== null
    case "InvalidRange":
    case "Conflict":
    case "Timeout":
    case "NotFound":
    case "Gone":
    case "Unauthenticated":
      return false
    case "Unreachable":
      return reason.sent === "no"
    default:
      return true
  }
}

/** The session is no more, or its address does not work any longer. */
export const isGone = ({ reason }: GraphError): boolean =>
  reason._tag === "NotFound" || reason._tag === "Gone" || reason._tag === "Unauthenticated"

/** Ends an upload; what was sent is thrown away. */
export const cancel = (url: Redacted.Redacted): Effect.Effect<void, GraphError, Graph> =>
  requestAddress(Redacted.value(url), { method: "DELETE", authorize: false, read: asNothing }).pipe(
    Effect.asVoid,
    Effect.catchIf(isGone, () => Effect.void)
  )

/** What the service still misses. */
export const missing = Effect.fnUntraced(function* (url: Redacted.Redacted, size: number) {
  const sent = yield* requestAddress(Redacted.value(url), { method: "GET", authorize: false, read: asText })
  return parseRanges((yield* statusOf(sent)) ?? [], size)
})

/** How a session ended: with the item, or in nothing. `complete`: all bytes had been sent. */
export type Outcome<A> =
  | { readonly _tag: "Done"; readonly item: A }
  | { readonly _tag: "Lost"; readonly complete: boolean }

/** A drive accepts a fragment with 202, and the last one with the item. */
export const ofDrive = (sent: Sent<string>): Effect.Effect<Received<DriveItem>, GraphError> =>
  sent.status === 202
    ? Effect.map(statusOf(sent), (next) => ({ next }))
    : Effect.map(decodeItem(bodyOf(sent.value), sent.request), (item) => ({ item }))

const put = Effect.fnUntraced(function* <A>(
  { read, size, url }: SessionOptions<A>,
  from: number,
  bytes: Uint8Array
): Effect.fn.Return<Received<A>, GraphError, Graph> {
  const sent = yield* requestAddress(Redacted.value(url), {
    method: "PUT",
    authorize: false,
    timed: false,
    // After a lost answer the service is asked what it has, before anything is sent again.
    repeatable: false,
    headers: { "content-range": `bytes ${from}-${from + bytes.length - 1}/${size}` },
    body: HttpBody.uint8Array(bytes),
    read: asText
  })
  return yield* read(sent)
})

/** Sends what is missing. */
export const transfer = Effect.fnUntraced(function* <A>(
  options: SessionOptions<A>,
  reader: Reader,
  initial: ReadonlyArray<Range>
): Effect.fn.Return<Outcome<A>, GraphError | TransferError, Graph> {
  const { fragmentBytes, onProgress, size, url } = options
  const policy = yield* GraphPolicy
  let left = initial
  let complete = missingBytes(left) === 0
  let failures = 0

  /** Takes over what the service says; with progress, what failed before is forgotten. */
  const take = (next: ReadonlyArray<Range>) => {
    if (missingBytes(next) < missingBytes(left)) failures = 0
    left = next
    const progress = { sent: size - missingBytes(next), total: size }
    return onProgress === undefined ? Effect.void : onProgress(progress)
  }

  for (;;) {
    const [range] = left
    // Nothing is missing, and yet the item did not come: it is there, or the session is of no use.
    if (range === undefined) return { _tag: "Lost", complete: true }
    const length = Math.min(fragmentBytes, range.to - range.from)
    const bytes = yield* reader.read(range.from, length)
    complete ||= missingBytes(left) === length
    failures++
    const result = yield* Effect.result(put(options, range.from, bytes))
    if (Result.isSuccess(result)) {
      if ("item" in result.success) {
        if (onProgress !== undefined) yield* onProgress({ sent: size, total: size })
        return { _tag: "Done", item: result.success.item }
      }
      const { next } = result.success
      const rest = range.from + length < range.to ? [{ from: range.from + length, to: range.to }] : []
      yield* take(next === null ? [...rest, ...left.slice(1)] : parseRanges(next, size))
      if (failures < policy.attempts) continue
      const message = "the service accepts the fragments but stores none of them"
      return yield* transferError(new UploadLost({ message }), options.name)
    }
    const error = result.failure
    if (isFinal(error) || failures >= policy.attempts) return yield* error
    if (error.reason._tag !== "InvalidRange") yield* Effect.sleep(yield* pauseAfter(policy, failures))
    const status = yield* Effect.result(missing(url, size))
    if (Result.isFailure(status)) {
      if (isGone(status.failure)) return { _tag: "Lost", complete }
      return yield* status.failure
    }
    yield* take(status.success)
  }
})
