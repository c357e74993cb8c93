/**
 * The bytes behind an address that gives access by itself. A broken connection is resumed where it broke; an address
 * that has expired is replaced.
 */
import { defined } from "@signalbox/transport/Defined"
import { pauseAfter } from "@signalbox/transport/Policy"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { Graph } from "../../Graph.ts"
import { GraphError, InvalidRange } from "../../GraphError.ts"
import { GraphPolicy } from "../../Policy.ts"
import { Changed, type TransferError, transferError } from "../../TransferError.ts"
import { requestAddress } from "../requests/Call.ts"
import { brokenOff } from "../requests/Delivery.ts"
import { type Sent, unread } from "../requests/Transport.ts"

export interface ContentsOptions {
  readonly name: string | null
  readonly first: Effect.Effect<Redacted.Redacted, GraphError, Graph>
  /** Another address of the same contents. */
  readonly fresh: Effect.Effect<Redacted.Redacted, GraphError, Graph>
  /** The addresses are those of the API, which get the token. */
  readonly authorize?: boolean | undefined
  /** How many bytes are there already: those that follow come. */
  readonly offset: number
}

type Response = Sent<HttpClientResponse.HttpClientResponse>
type Failure = GraphError | TransferError

const expired = new Set(["Unauthenticated", "Forbidden", "NotFound", "Gone"])

/** The length of the whole, where the answer says it. */
const totalOf = ({ headers, status }: Response): number | null => {
  const text = status === 206 ? /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] : headers["content-length"]
  return text === undefined || headers["content-encoding"] !== undefined ? null : Number(text)
}

export const contents = (options: ContentsOptions): Stream.Stream<Uint8Array, Failure, Graph> =>
  Stream.suspend(() => {
    let address: Redacted.Redacted | undefined
    let etag: string | undefined
    let total: number | null = null
    let received = options.offset
    let isAnswered = false
    let failures = 0
    /** How much there was when it failed last. */
    let mark = -1

    const changed = () =>
      transferError(
        new Changed({ message: "the file changed while it was downloaded; download it again" }),
        options.name
      )

    const ask = (url: Redacted.Redacted) =>
      requestAddress(Redacted.value(url), {
        method: "GET",
        authorize: options.authorize ?? false,
        timed: false,
        headers: {
          // Offsets are those of the plain bytes.
          "accept-encoding": "identity",
          ...defined({
            range: received === 0 ? undefined : `bytes=${received}-`,
            "if-range": received === 0 || etag === undefined || etag.startsWith("W/") ? undefined : etag
          })
        },
        read: unread
      })

    const connect = Effect.gen(function* () {
      address ??= yield* options.first
      const result = yield* Effect.result(ask(address))
      if (Result.isSuccess(result)) return result.success
      if (result.failure.reason._tag === "InvalidRange") return yield* changed()
      if (!expired.has(result.failure.reason._tag)) return yield* result.failure
      address = yield* options.fresh
      return yield* ask(address)
    })

    /** How many bytes of the answer were there already; fails when it is no continuation. */
    const overlap = (response: Response): Effect.Effect<number, Failure> => {
      const tag = response.headers["etag"]
      if (!isAnswered || received === 0) {
        isAnswered = true
        etag = tag
        total = totalOf(response)
        if (received === 0) return Effect.succeed(0)
      }
      if (etag !== undefined && tag !== undefined && tag !== etag) return Effect.fail(changed())
      if (response.status !== 206) return Effect.succeed(received)
      if (response.headers["content-range"]?.startsWith(`bytes ${received}-`) === true) return Effect.succeed(0)
      const message = "the answer to a range is another range"
      return Effect.fail(
        new GraphError({ reason: new InvalidRange({ codes: [], message }), request: response.request })
      )
    }

    const body = (response: Response, known: number): Stream.Stream<Uint8Array, Failure> => {
      let skip = known
      const fail = (error: HttpClientError.HttpClientError | null) =>
        Stream.unwrap(
          Effect.map(brokenOff(error), (reason) => Stream.fail(new GraphError({ reason, request: response.request })))
        )
      const bytes = Stream.map(response.value.stream, (chunk) => {
        const part = chunk.subarray(Math.min(skip, chunk.length))
        skip -= chunk.length - part.length
        received += part.length
        return part
      })
      const end = Stream.suspend(() => (total !== null && received < total ? fail(null) : Stream.empty))
      return Stream.concat(Stream.catch(bytes, fail), end)
    }

    const again = Effect.fnUntraced(function* (error: GraphError) {
      const policy = yield* GraphPolicy
      failures = received > mark ? 1 : failures + 1
      mark = received
      if (failures >= policy.attempts) return yield* error
      yield* Effect.sleep(yield* pauseAfter(policy, failures))
      return pump
    })

    const resume = (_: unknown, error: GraphError) => Stream.unwrap(again(error))

    const pump: Stream.Stream<Uint8Array, Failure, Graph> = Stream.suspend(() =>
      Stream.unwrap(
        Effect.gen(function* () {
          // All is here, and only the end of the answer was lost.
          if (total !== null && received > 0 && received >= total) return Stream.empty
          const response = yield* connect
          const known = yield* overlap(response)
          if (total === 0) return Stream.empty
          return body(response, known).pipe(Stream.catchReasons("GraphError", { Unreachable: resume, Timeout: resume }))
        })
      )
    )
    return pump
  })
