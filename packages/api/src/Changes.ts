/** Hints of what changes in a workspace. An extension of the hosted service's interface. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { noResponse } from "@signalbox/transport/NoResponse"
import { checkNames } from "@signalbox/transport/OptionError"
import * as contract from "./internal/endpoints/Changes.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { ControlRoomError, Malformed, unexpected } from "./ControlRoomError.ts"
import { names } from "./internal/calls/Known.ts"
import { operationOf } from "./internal/calls/Operation.ts"
import { headersOf, reasonOf, send, unread } from "./internal/calls/Transport.ts"
import { RetryPolicy } from "./Policy.ts"

export type { Change, ChangeTopic } from "./contract/Changes.ts"

const decode = Schema.decodeEffect(Schema.fromJsonString(contract.Change))
/** A ping has other data. */
const dataOf = (line: string): ReadonlyArray<string> => (line.startsWith('data: {"topic"') ? [line.slice(6)] : [])

/** Where the hints begin. */
export interface StreamOptions {
  /** The `seq` of the last hint that was received. */
  readonly after?: number | undefined
}

const streamOptions = names<StreamOptions>("option", { after: 1 })

/**
 * Emits a hint when something changes that the key may read. The first has the topic `reset`: load everything; so has one that
 * stands for hints that were left out. Ends when the service stops or the key is revoked, and fails when the connection breaks:
 * run it again with `after`, the `seq` of the last hint.
 *
 * ```ts
 * import * as Changes from "@signalbox/api/Changes"
 * import * as Console from "effect/Console"
 * import * as Stream from "effect/Stream"
 *
 * export const program = Stream.runForEach(Changes.stream(), ({ id, topic }) =>
 *   Console.log(topic, id)
 * )
 * ```
 */
export const stream = (options: StreamOptions = {}): Stream.Stream<contract.Change, ControlRoomError, ControlRoom> =>
  Stream.unwrap(
    Effect.gen(function* () {
      checkNames("changes.stream", options, streamOptions.names)
      const { after } = options
      const { transport, workspaceId } = yield* ControlRoom
      const path = `/workspaces/${encodeURIComponent(workspaceId)}/changes`
      const request = HttpClientRequest.get(transport.baseUrl + path, {
        headers: yield* headersOf(transport),
        urlParams: after === undefined ? {} : { after: String(after) }
      })
      const operation = yield* operationOf("Changes.stream")
      const sending = { operation, path, repeatable: true, keyed: false, timed: false, read: unread }
      const { info, value: response } = yield* send(transport.connection, request, sending).pipe(
        Effect.catchTag(["Conflict", "InvalidRequest", "NotFound"], (error) => Effect.fail(unexpected(error)))
      )
      const { idleTimeoutMillis } = yield* RetryPolicy
      const failed = (reason: ControlRoomError["reason"]) => new ControlRoomError({ reason, request: info })
      return response.stream.pipe(
        Stream.mapError((error) => failed(reasonOf(noResponse(error, idleTimeoutMillis)))),
        Stream.decodeText,
        Stream.splitLines,
        Stream.flatMap((line) => Stream.fromIterable(dataOf(line))),
        Stream.mapEffect((data) =>
          Effect.mapError(decode(data), () => failed(new Malformed({ message: "a hint has another shape" })))
        )
      )
    })
  )
