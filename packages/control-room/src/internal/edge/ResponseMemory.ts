/**
 * Limits the memory of large responses: those being built or not yet sent, counted for the whole process. Small
 * responses are not counted.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { limits } from "../settings/Limits.ts"
import { type Refusal, refuse } from "./Failures.ts"

/** How long a response waits until others have been sent. */
const maxWait: Duration.Input = "10 seconds"

const busy = Effect.suspend(() =>
  Effect.fail(
    refuse(503, "UNAVAILABLE", "too many large responses are being sent; try again in a moment", { "retry-after": "1" })
  )
)

export class ResponseMemory extends Context.Service<
  ResponseMemory,
  {
    /**
     * Reserves at least this many bytes for a request until its scope closes, which is when its response was sent.
     * Waits while too few are free; after 10 seconds, or when too many wait already, the request gets a 503. After a
     * burst, large responses are built at a rate that leaves time for small ones.
     */
    readonly reserve: (bytes: number, scope: Scope.Scope) => Effect.Effect<void, Refusal>
    /**
     * A response that stays counted until it was sent, if it is large. A request that has changed something is not
     * refused any more: its response is sent even when no memory is free.
     */
    readonly sending: (
      response: HttpServerResponse.HttpServerResponse,
      refusable: boolean
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, Scope.Scope>
  }
>()("@signalbox/control-room/edge/ResponseMemory") {
  static readonly layer = Layer.effect(
    ResponseMemory,
    Effect.gen(function* () {
      const room = yield* Semaphore.make(limits.responses)
      const reserved = new WeakMap<Scope.Scope, number>()
      let waiting = 0

      /** False: not enough memory was free in time. */
      const take = (bytes: number, scope: Scope.Scope): Effect.Effect<boolean> =>
        Effect.suspend(() => {
          const known = reserved.get(scope) ?? 0
          // A single one may exceed the whole budget.
          const more = Math.min(bytes, limits.responses) - known
          if (more <= 0) return Effect.succeed(true)
          if (waiting + more > limits.responses) return Effect.succeed(false)
          waiting += more
          const taken = Semaphore.take(room, more).pipe(
            Effect.timeoutOption(maxWait),
            Effect.ensuring(Effect.sync(() => (waiting -= more)))
          )
          const released = (took: Option.Option<number>) =>
            Option.isSome(took) ? Effect.asVoid(Semaphore.release(room, more)) : Effect.void
          return Effect.acquireRelease(taken, released, { interruptible: true }).pipe(
            Scope.provide(scope),
            Effect.map((took) => {
              if (Option.isSome(took)) reserved.set(scope, known + more)
              return Option.isSome(took)
            })
          )
        })

      /** When the responses so far would have been sent at the rate of large ones, in milliseconds of the process. */
      let pacedTo = 0

      /** Delays large responses to the rate: one of this size takes the time of hundreds of small ones. */
      const pace = (bytes: number) =>
        Effect.callback<void>((resume) => {
          const now = performance.now()
          pacedTo = Math.max(pacedTo, now) + bytes / limits.responseBytesPerMilli
          const wait = pacedTo - now - limits.responses / limits.responseBytesPerMilli
          if (wait <= 0) return resume(Effect.void)
          // Real time, since this is about the event loop of the machine; `Clock` may be virtual.
          const timer = setTimeout(() => resume(Effect.void), wait)
          return Effect.sync(() => clearTimeout(timer))
        })

      const reserve = (bytes: number, scope: Scope.Scope) =>
        Effect.flatMap(take(bytes, scope), (taken) => (taken ? pace(bytes) : busy))

      return ResponseMemory.of({
        reserve,
        sending: (response, refusable) => {
          const { body } = response
          if (body._tag !== "Uint8Array" || body.contentLength <= limits.smallResponse) return Effect.succeed(response)
          const { contentLength, contentType } = body
          // The scope of a request with a stream stays open until the client's side has taken the last byte.
          const streamed = HttpServerResponse.stream(
            Stream.suspend(() => Stream.succeed(body.body)),
            { status: response.status, headers: response.headers, contentLength, contentType }
          )
          return Effect.flatMap(Effect.scope, (scope) =>
            Effect.flatMap(take(contentLength, scope), (taken) =>
              taken || !refusable ? Effect.succeed(streamed) : busy
            )
          )
        }
      })
    })
  )
}
