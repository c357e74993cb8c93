/**
 * Downloads of files of work items and outputs.
 */
import { noResponse } from "@signalbox/transport/NoResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { File } from "./contract/Files.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { ControlRoomError, type NotFound, unexpected } from "./ControlRoomError.ts"
import { operationOf } from "./internal/calls/Operation.ts"
import { reasonOf, send, type Transport, unread } from "./internal/calls/Transport.ts"
import { RetryPolicy } from "./Policy.ts"

export type { File } from "./contract/Files.ts"

/** The failures of a download; `NotFound`: the file was deleted. */
export type DownloadError = NotFound | ControlRoomError

/** Emits the bytes behind a signed address. No credentials are sent there. */
export const fetchSigned = (
  transport: Pick<Transport, "connection">,
  url: string
): Stream.Stream<Uint8Array, DownloadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const path = new URL(url).pathname
      const { info, value: response } = yield* send(transport.connection, HttpClientRequest.get(url), {
        operation: yield* operationOf("Files.download"),
        path,
        repeatable: true,
        keyed: false,
        timed: false,
        read: unread
      }).pipe(Effect.catchTag(["Conflict", "InvalidRequest"], (error) => Effect.fail(unexpected(error))))
      const { idleTimeoutMillis } = yield* RetryPolicy
      return Stream.mapError(
        response.stream,
        (error) => new ControlRoomError({ reason: reasonOf(noResponse(error, idleTimeoutMillis)), request: info })
      )
    })
  )

/**
 * Emits the bytes of a file as they arrive. The address in the file is valid for one hour; get the item again after
 * that.
 */
export const download = (file: Pick<File, "download">): Stream.Stream<Uint8Array, DownloadError, ControlRoom> =>
  Stream.unwrap(Effect.map(ControlRoom, (room) => fetchSigned(room.transport, file.download.url)))
