/**
 * Requests for what executions of another program say, and to what they answer.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type { Answered } from "../../FlowRequests.ts"
import type { Item, ItemPage, ReadOptions } from "../../FlowStates.ts"
import {
  again,
  type Call,
  type FlowManagementError,
  isUnreachable,
  pollSeconds,
  type to as requestsTo
} from "./Requests.ts"
import { Api } from "./States.ts"

export interface RequestOptions {
  /** Identifies the request: sent again with it, it gets the same answer. Default: a new one. An approval has none. */
  readonly id?: string | undefined
  /** How long to wait for the answer; then its state is `pending`. Default: without a limit. */
  readonly within?: Duration.Input | undefined
}

/** The functions of `FlowStates` and `FlowRequests`, for another program. */
export interface Said {
  /** Returns the values of all states of an execution, in the order in which they were set. */
  readonly states: (execution: string) => Call<ReadonlyArray<Item>>
  /** Returns items of a feed in their order: the first ones after a cursor, or the last ones. */
  readonly feed: (execution: string, name: string, options?: ReadOptions) => Call<ReadonlyArray<Item>>
  /**
   * Emits what an execution says from a cursor on, until it has ended. A connection that is lost is made again, for as long as that
   * takes, and nothing is missed or emitted twice; the first one is tried four times.
   */
  readonly watch: (
    execution: string,
    options?: { readonly after?: number | undefined }
  ) => Stream.Stream<Item, FlowManagementError>
  /** Sends a request, by its name with its key as in `review[a]`, and waits for what becomes of it: see `FlowRequests`. */
  readonly request: (execution: string, request: string, input: Schema.Json, options?: RequestOptions) => Call<Answered>
}

/** The retries of a stream that has been connected: the program may be restarted. */
const reconnecting = {
  schedule: Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("5 seconds")]),
  while: (error: FlowManagementError) => isUnreachable(error) || error.code === "UNAVAILABLE"
}

export const to = Effect.fnUntraced(function* ({ call, options, read }: ReturnType<typeof requestsTo>) {
  const { states } = yield* HttpApiClient.make(Api, options)
  const next = (id: string, after: number): Call<ItemPage> =>
    call(states.watch({ params: { id }, query: { after, wait: pollSeconds } }))
  const all: Said = {
    states: (id) => Effect.map(read(states.list({ params: { id } })), ({ states }) => states),
    feed: (id, name, query = {}) =>
      Effect.map(read(states.feed({ params: { id, name }, query: defined(query) })), ({ items }) => items),
    watch: (id, { after: from = 0 } = {}) =>
      Stream.suspend(() => {
        let isFirst = true
        return Stream.paginate(from, (after) =>
          Effect.map(
            Effect.retry(next(id, after), isFirst ? { ...again, while: isUnreachable } : reconnecting),
            (page) => {
              isFirst = false
              return [page.items, page.ended ? Option.none<number>() : Option.some(page.cursor)] as const
            }
          )
        )
      }),
    /** Asks until there is an answer. A request without an id is not repeated before it has one. */
    request: Effect.fnUntraced(function* (execution, request, input, { id: given, within = Infinity } = {}) {
      const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(within))
      let id = given
      for (;;) {
        const left = until - (yield* Clock.currentTimeMillis)
        const wait = Math.min(Math.max(left / 1_000, 0), pollSeconds)
        const payload = { request, input, wait, ...defined({ id }) }
        const asked = call(states.request({ params: { id: execution }, payload }))
        const answer = yield* id === undefined ? asked : Effect.retry(asked, { ...again, while: isUnreachable })
        if (answer.state !== "pending" || left <= 0) return answer
        // An approval has none.
        id = answer.id === "" ? undefined : answer.id
      }
    })
  }
  return all
})
