/**
 * Uploads of unknown length to a bucket, in parts. The bucket shows nothing of one before it is completed. What fits in one
 * part is sent as one object when it is committed.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Staged } from "../../BlobStore.ts"
import type { S3Client } from "./S3Client.ts"
import * as S3Xml from "./S3Xml.ts"

/** Bytes of a part, which may not be smaller: 10,000 of them hold more than a file may have. An upload has at most four in memory. */
const partBytes = 5 * 1024 * 1024

/** Parts that are sent at the same time. */
const concurrency = 2

/**
 * Gathers chunks into parts. Buffers of parts that were sent are used again: the allocator would keep hundreds of megabytes
 * for new ones.
 */
class Gathering {
  private readonly free: Array<Buffer> = []
  private buffer: Buffer = Buffer.alloc(0)
  private size = 0

  /** Returns the parts that are complete. The last one is never among them, whatever its size. */
  add(chunk: Uint8Array): ReadonlyArray<Buffer> {
    const parts: Array<Buffer> = []
    for (let from = 0; from < chunk.length;) {
      if (this.size === partBytes) {
        parts.push(this.buffer)
        this.buffer = this.free.pop() ?? Buffer.allocUnsafeSlow(partBytes)
        this.size = 0
      }
      const taken = Math.min(partBytes - this.size, chunk.length - from)
      this.reserve(this.size + taken)
      this.buffer.set(chunk.subarray(from, from + taken), this.size)
      this.size += taken
      from += taken
    }
    return parts
  }

  /** The bytes of the last part. */
  rest(): Buffer {
    return this.buffer.subarray(0, this.size)
  }

  release(part: Buffer): void {
    this.free.push(part)
  }

  /** Small files do not need a whole part. */
  private reserve(size: number): void {
    if (size <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.min(partBytes, Math.max(size, 2 * this.buffer.length)))
    larger.set(this.rest())
    this.buffer = larger
  }
}

/** A request of an upload; no caller handles that the bucket fails, so it is a defect. */
const request = (client: S3Client, options: Parameters<S3Client["text"]>[0]) => Effect.orDie(client.text(options))

/** The begun upload of one object. */
const begin = Effect.fnUntraced(function* (client: S3Client, key: string) {
  const begun = yield* request(client, { method: "POST", key, query: { uploads: "" } })
  const uploadId = S3Xml.textOf(begun?.text ?? "", "UploadId")
  return uploadId ?? (yield* Effect.die(new Error("the bucket began an upload without an id")))
})

/** The confirmed length of an object; null: there is none. */
export const sizeOf = (client: S3Client, key: string) =>
  Effect.map(request(client, { method: "HEAD", key }), (found) =>
    found === null ? null : Number(found.headers["content-length"])
  )

/** Completes an upload. One whose response was lost is gone when it is repeated, and its object is there. */
const complete = Effect.fnUntraced(function* (
  client: S3Client,
  key: string,
  uploadId: string,
  parts: ReadonlyArray<S3Xml.Part>,
  size: number
) {
  const body = Buffer.from(S3Xml.completion(parts.toSorted((one, other) => one.number - other.number)))
  const completed = yield* request(client, { method: "POST", key, query: { uploadId }, body })
  if (completed === null && (yield* sizeOf(client, key)) !== size) {
    return yield* Effect.die(new Error(`the bucket no longer has the upload of ${key}: it was aborted`))
  }
})

/** Receives a stream as the object of this key. What is not committed is removed in the scope `cleaning`. */
export const stage = Effect.fnUntraced(function* <E, R>(
  client: S3Client,
  cleaning: Scope.Scope,
  key: string,
  blob: string,
  bytes: Stream.Stream<Uint8Array, E, R>
) {
  const gathering = new Gathering()
  const parts: Array<S3Xml.Part> = []
  let uploadId: string | null = null
  let number = 0
  let size = 0
  let state: "receiving" | "committing" | "committed" = "receiving"

  yield* Effect.addFinalizer(() => {
    if (state === "committed") return Effect.void
    const abort = uploadId === null ? Effect.void : client.text({ method: "DELETE", key, query: { uploadId } }, "brief")
    // It may have been completed although the response was lost.
    const remove = state === "receiving" ? Effect.void : client.text({ method: "DELETE", key }, "brief")
    return Effect.asVoid(Effect.forkIn(Effect.andThen(Effect.ignore(abort), Effect.ignore(remove)), cleaning))
  })

  const send = Effect.fnUntraced(function* (id: string, number: number, body: Uint8Array) {
    const query = { partNumber: String(number), uploadId: id }
    const sent = yield* request(client, { method: "PUT", key, query, body })
    const etag = sent?.headers["etag"]
    if (etag === undefined) return yield* Effect.die(new Error(`the bucket no longer has the upload of ${key}`))
    parts.push({ etag, number })
  })
  /** Its number is that of its place in the stream, however long others take. */
  const numbered = (body: Buffer) => ({ body, number: (number += 1) })

  yield* bytes.pipe(
    Stream.map((chunk) => {
      size += chunk.length
      return gathering.add(chunk)
    }),
    Stream.flattenIterable,
    Stream.map(numbered),
    Stream.tap(() => (uploadId === null ? Effect.map(begin(client, key), (id) => void (uploadId = id)) : Effect.void)),
    Stream.mapEffect(
      ({ body, number }) =>
        Effect.map(send(uploadId ?? "", number, body), () => {
          gathering.release(body)
        }),
      { concurrency, unordered: true }
    ),
    Stream.runDrain
  )
  const rest = numbered(gathering.rest())
  if (uploadId !== null) yield* send(uploadId, rest.number, rest.body)

  const commit = Effect.suspend(() => {
    state = "committing"
    return uploadId === null
      ? Effect.asVoid(request(client, { method: "PUT", key, body: rest.body }))
      : complete(client, key, uploadId, parts, size)
  }).pipe(
    Effect.map(() => {
      state = "committed"
      return blob
    })
  )
  return { size, commit } satisfies Staged
})
