/**
 * Bytes to upload, and how they are sent to a signed form.
 */
import { check, whole } from "@signalbox/transport/OptionError"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { UploadForm } from "./contract/Files.ts"
import type { CallError } from "./ControlRoomError.ts"
import type { Connection } from "./internal/calls/Connection.ts"
import { operationOf } from "./internal/calls/Operation.ts"
import { send, unread } from "./internal/calls/Transport.ts"

/** The source of an upload could not be read. */
export class UploadSourceError
  extends /* @__PURE__ */ TaggedError<UploadSourceError>()("UploadSourceError", {
    name: Schema.String,
    message: Schema.String
  }) {}

/** Bytes of a known size; `stream` may be run more than once. */
export interface SizedBytes {
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly stream: Stream.Stream<Uint8Array, UploadSourceError>
}

/** A path (with the layers of `@signalbox/api/node`), bytes with a name, or a stream of known size. */
export type UploadSource = string | NamedBytes | SizedBytes

/** Bytes in memory, and what the file is called. */
export interface NamedBytes {
  readonly name: string
  readonly bytes: Uint8Array
}

/** Opens the sources that the platform can read. By default, a path is refused. */
export interface Uploads {
  readonly openPath: (path: string) => Effect.Effect<SizedBytes, UploadSourceError>
}

export const Uploads = /* @__PURE__ */ Context.Reference<Uploads>("@signalbox/api/Uploads", {
  defaultValue: () => ({
    openPath: (path) =>
      Effect.fail(
        new UploadSourceError({
          name: path,
          message: `cannot open the path ${path} on this platform: use a layer of @signalbox/api/node, or give the bytes`
        })
      )
  })
})

/** Opens any source as one with name and size. */
export const open = (uploads: Uploads, source: UploadSource): Effect.Effect<SizedBytes, UploadSourceError> => {
  if (typeof source === "string") return uploads.openPath(source)
  return Effect.sync(() => {
    if ("bytes" in source) {
      return { name: source.name, size: source.bytes.length, stream: Stream.succeed(source.bytes) }
    }
    check("the source of an upload", source, { size: whole(0) })
    return source
  })
}

/**
 * Receives the number of bytes passed to the socket so far, from zero in every attempt. One that dies or throws ends the transfer
 * with that, and nothing is sent again.
 */
export type OnProgress = (sentBytes: number) => Effect.Effect<void>

const quoted = (text: string) =>
  text.replace(/["\r\n]/g, (char) => (char === '"' ? "%22" : char === "\r" ? "%0D" : "%0A"))

/** Bytes in memory come in one chunk: they are counted, and an upload is aborted, in pieces of this size. */
const pieceBytes = 256 * 1024

const pieces = (chunk: Uint8Array): ReadonlyArray<Uint8Array> =>
  chunk.length <= pieceBytes
    ? [chunk]
    : Array.from({ length: Math.ceil(chunk.length / pieceBytes) }, (_, n) =>
        chunk.subarray(n * pieceBytes, (n + 1) * pieceBytes)
      )

/** The bytes, counted from zero in every attempt. */
const counted = (source: SizedBytes, onProgress: OnProgress | undefined) =>
  Stream.suspend(() => {
    let sent = 0
    const bytes = Stream.flatMap(source.stream, (chunk) => Stream.fromIterable(pieces(chunk)))
    return onProgress === undefined ? bytes : Stream.tap(bytes, (chunk) => onProgress((sent += chunk.length)))
  })

/**
 * Sends bytes with `send`. When the source or `onProgress` fails, the transfer ends with that: for the HTTP client a body that
 * fails is a broken connection, which is tried again. So the body stands still, and the request is aborted from outside.
 */
const transfer = /* @__PURE__ */ Effect.fnUntraced(function* (
  source: SizedBytes,
  onProgress: OnProgress | undefined,
  send: (bytes: Stream.Stream<Uint8Array>) => Effect.Effect<void, CallError>
): Effect.fn.Return<void, CallError | UploadSourceError> {
  const ended = yield* Deferred.make<never, UploadSourceError>()
  const bytes = Stream.catchCause(counted(source, onProgress), (cause) =>
    Stream.fromEffect(Effect.andThen(Deferred.failCause(ended, cause), Effect.never))
  )
  yield* Effect.raceFirst(send(bytes), Deferred.await(ended))
})

const sendBytes = /* @__PURE__ */ Effect.fnUntraced(function* (
  connection: Connection,
  request: HttpClientRequest.HttpClientRequest,
  url: string
) {
  yield* send(connection, request, {
    operation: yield* operationOf("Upload.send"),
    path: new URL(url).pathname,
    repeatable: true,
    keyed: false,
    timed: false,
    read: unread
  })
})

/** Sends raw bytes to a signed address, with a `PUT` that carries no other header. Safe to repeat. */
export const sendRaw = (
  connection: Connection,
  url: string,
  source: SizedBytes,
  onProgress?: OnProgress
): Effect.Effect<void, CallError | UploadSourceError> =>
  transfer(source, onProgress, (bytes) => {
    const request = HttpClientRequest.put(url).pipe(
      HttpClientRequest.bodyStream(bytes, { contentLength: source.size }),
      // A signature may cover the content type, and such signers expect none.
      HttpClientRequest.removeHeader("content-type")
    )
    return sendBytes(connection, request, url)
  })

/**
 * Sends bytes to a signed form: its fields first, then the part `file`. Memory stays flat; `onProgress` receives the
 * number of bytes passed to the socket so far. Safe to repeat: the same form replaces the same file.
 */
export const sendForm = /* @__PURE__ */ Effect.fnUntraced(function* (
  connection: Connection,
  form: UploadForm,
  source: SizedBytes,
  onProgress?: OnProgress
): Effect.fn.Return<void, CallError | UploadSourceError> {
  const boundary = `signalbox-${crypto.randomUUID()}`
  const encoder = new TextEncoder()
  const fields = Object.entries(form.form_data).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`
  )
  const head = encoder.encode(
    `${fields.join("")}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${quoted(source.name)}"\r\n` +
      "content-type: application/octet-stream\r\n\r\n"
  )
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`)
  yield* transfer(source, onProgress, (bytes) => {
    const body = Stream.concat(Stream.succeed(head), Stream.concat(bytes, Stream.succeed(tail)))
    const request = HttpClientRequest.post(form.url).pipe(
      HttpClientRequest.bodyStream(body, {
        contentType: `multipart/form-data; boundary=${boundary}`,
        contentLength: head.length + source.size + tail.length
      })
    )
    return sendBytes(connection, request, form.url)
  })
})
