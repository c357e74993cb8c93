/** Blobs as objects of a bucket, under the names that they would have in a folder. */
import { defined } from "@signalbox/transport/Defined"
import * as NodeTransport from "@signalbox/transport/node"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { BlobMissing, BlobStore, type BucketError, type Range } from "../../BlobStore.ts"
import type { S3Options } from "../../Options.ts"
import { shardOf } from "./Shards.ts"
import * as S3Client from "./S3Client.ts"
import * as S3Uploads from "./S3Uploads.ts"
import * as S3Xml from "./S3Xml.ts"

/** How often the rest of a download is asked for without a byte of progress. */
const maxResumptions = 4

const keyOf = (blob: string) => `${shardOf(blob)}/${blob}`

/** The object that is overwritten to find out whether the bucket can be written. */
const probeKey = "probe"

/** The object with the id of the room whose blobs these are. */
const roomKey = "room"

interface Listed {
  readonly blob: string
  readonly modified: number
}

const make = Effect.fnUntraced(function* (options: S3Options, sweepAfter: Duration.Duration) {
  const client = yield* S3Client.make(options)
  const cleaning = yield* Effect.scope
  const fs = yield* FileSystem.FileSystem
  const random = yield* SecureRandom.SecureRandom
  const { prefix } = client

  const stage = Effect.fnUntraced(function* <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, given?: string) {
    const blob = given ?? (yield* random.uuidV7())
    return yield* S3Uploads.stage(client, cleaning, keyOf(blob), blob, bytes)
  })

  const stageFile = Effect.fnUntraced(function* <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) {
    const created = fs.makeTempFileScoped({ prefix: "signalbox-" })
    const opened = Effect.flatMap(created, (path) =>
      Effect.map(fs.open(path, { flag: "w" }), (file) => ({ file, path }))
    )
    const { file, path } = yield* Effect.orDie(opened)
    const staged = yield* stage(Stream.tap(bytes, (chunk) => Effect.orDie(file.writeAll(chunk))))
    return { ...staged, path }
  })

  /** From `offset` to before `end`; null: to the end. */
  const open = Effect.fnUntraced(function* (blob: string, offset: number, end: number | null) {
    const range = offset === 0 && end === null ? {} : { range: `bytes=${offset}-${end === null ? "" : end - 1}` }
    const response = yield* client.stream({ method: "GET", key: keyOf(blob), headers: range })
    return response ?? (yield* new BlobMissing({ blob }))
  })

  /** Continues a download that was cut off where it was. */
  const resuming = (
    blob: string,
    bytes: Stream.Stream<Uint8Array, BucketError>,
    offset: number,
    end: number | null,
    left: number
  ): Stream.Stream<Uint8Array, BlobMissing | BucketError> =>
    Stream.suspend(() => {
      let at = offset
      const counted = Stream.map(bytes, (chunk) => {
        at += chunk.length
        return chunk
      })
      return Stream.catchTag(counted, "BucketError", (error): Stream.Stream<Uint8Array, BlobMissing | BucketError> => {
        if (left === 0) return Stream.fail(error)
        const next = Effect.map(open(blob, at, end), (opened) =>
          resuming(blob, opened.bytes, at, end, at > offset ? maxResumptions : left - 1)
        )
        return Stream.unwrap(next)
      })
    })

  const read = Effect.fnUntraced(function* (blob: string, range?: Range) {
    if (range?.length === 0) return Stream.empty
    const offset = range?.offset ?? 0
    const end = range === undefined ? null : offset + range.length
    const { bytes } = yield* Effect.catchTag(open(blob, offset, end), "BucketError", Effect.die)
    return Stream.orDie(resuming(blob, bytes, offset, end, maxResumptions))
  })

  const pages = <A>(
    query: Readonly<Record<string, string>>,
    next: (xml: string) => Readonly<Record<string, string>> | null,
    each: (xml: string) => ReadonlyArray<A>
  ) =>
    Stream.paginate<Readonly<Record<string, string>>, ReadonlyArray<A>, BucketError>(
      {},
      Effect.fnUntraced(function* (from) {
        const listed = yield* client.text({ method: "GET", key: "", query: { ...query, prefix, ...from } })
        const xml = listed?.text ?? ""
        const truncated = S3Xml.textOf(xml, "IsTruncated") === "true"
        return [[each(xml)], Option.fromNullOr(truncated ? next(xml) : null)]
      })
    )

  const ofElement = (element: string): Listed | null => {
    const key = S3Xml.textOf(element, "Key") ?? ""
    const [, blob] = /^[0-9a-f]{2}\/([0-9a-f-]{36})$/.exec(key.slice(prefix.length)) ?? []
    const isOurs = key.startsWith(prefix) && blob !== undefined && keyOf(blob) === key.slice(prefix.length)
    return isOurs ? { blob, modified: Date.parse(S3Xml.textOf(element, "LastModified") ?? "") } : null
  }
  const listed = pages(
    { "list-type": "2" },
    (xml) => {
      const token = S3Xml.textOf(xml, "NextContinuationToken")
      return token === null ? null : { "continuation-token": token }
    },
    (xml) => S3Xml.elementsOf(xml, "Contents").flatMap((element) => ofElement(element) ?? [])
  )
  const unfinished = pages(
    { uploads: "" },
    (xml) => {
      const [key, id] = [S3Xml.textOf(xml, "NextKeyMarker"), S3Xml.textOf(xml, "NextUploadIdMarker")]
      return key === null ? null : { "key-marker": key, ...defined({ "upload-id-marker": id ?? undefined }) }
    },
    (xml) =>
      S3Xml.elementsOf(xml, "Upload").map((element) => ({
        key: S3Xml.textOf(element, "Key") ?? "",
        uploadId: S3Xml.textOf(element, "UploadId") ?? "",
        initiated: Date.parse(S3Xml.textOf(element, "Initiated") ?? "")
      }))
  )

  const isOf = Effect.fnUntraced(function* (room: string) {
    const known = yield* client.text({ method: "GET", key: roomKey })
    if (known === null) yield* client.text({ method: "PUT", key: roomKey, body: Buffer.from(room) })
    return known === null || known.text === room
  })

  const sweep = Effect.fnUntraced(function* (
    named: (blobs: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>,
    room?: string
  ) {
    if (room !== undefined && !(yield* isOf(room))) {
      yield* Effect.logError(
        "the bucket has files of another room below this prefix: give each room a separate prefix; unfinished uploads are not deleted"
      )
      return 0
    }
    const cutoff = (yield* Clock.currentTimeMillis) - Duration.toMillis(sweepAfter)
    let swept = 0
    yield* Stream.runForEach(
      listed,
      Effect.fnUntraced(function* (page) {
        const old = page.filter(({ modified }) => modified <= cutoff).map(({ blob }) => blob)
        const known = yield* named(old)
        for (const blob of old.filter((blob) => !known.has(blob))) {
          yield* client.text({ method: "DELETE", key: keyOf(blob) })
          swept += 1
        }
      })
    )
    const aborting = Stream.runForEach(
      unfinished,
      Effect.fnUntraced(function* (uploads) {
        for (const { initiated, key, uploadId } of uploads) {
          if (!key.startsWith(prefix) || !(initiated <= cutoff)) continue
          yield* client.text({ method: "DELETE", key: key.slice(prefix.length), query: { uploadId } })
          swept += 1
        }
      })
    )
    // Some services cannot list them and abort them by themselves; others have a permission for it.
    yield* Effect.catchIf(
      aborting,
      ({ kind }) => kind === "bucketRefused",
      ({ message }) =>
        Effect.logInfo(
          `unfinished uploads cannot be listed (${message}): let the bucket abort incomplete multipart uploads after a day`
        )
    )
    return swept
  }, Effect.orDie)

  return BlobStore.of({
    stage,
    stageFile,
    pathOf: () => null,
    read,
    sizeOf: (blob) => S3Uploads.sizeOf(client, keyOf(blob)),
    names: Stream.orDie(Stream.map(listed, (page) => page.map(({ blob }) => blob))),
    remove: (blob) => Effect.ignore(client.text({ method: "DELETE", key: keyOf(blob) }, "brief")),
    probe: Effect.asVoid(client.text({ method: "PUT", key: probeKey, body: Buffer.from("signalbox") }, "once")),
    sweep
  })
})

/**
 * Blobs in a bucket. `sweepAfter`: how old an object or an unfinished upload must be before no open transaction can be
 * about to name it.
 */
export const layer = (options: S3Options, sweepAfter: Duration.Duration) =>
  Layer.effect(BlobStore, make(options, sweepAfter)).pipe(
    Layer.provide(SecureRandom.layerWebCrypto),
    // It names a variable of the environment that no client of this process could use.
    Layer.provide(Layer.orDie(NodeTransport.layer))
  )
