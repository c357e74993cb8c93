/**
 * What SharePoint does to Office files: it writes properties of the library into them, so that what is stored differs from
 * what was sent.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Failure from "../model/Failure.ts"
import type { Blob, Drive } from "../model/Model.ts"
import { Transfers } from "../world/Transfers.ts"
import { World } from "../world/World.ts"

const extension = /\.(?:doc|docm|docx|dot|dotx|pot|potx|ppt|pptm|pptx|xls|xlsm|xlsx|xlt|xltx)$/i

const properties = Buffer.from("Properties of the library, as SharePoint adds them.")

/** Bytes of the end of a zip archive that has no comment. */
const endLength = 22

/** The end of the file with the properties behind it: as the comment where it is a zip archive, which stays readable. */
const rewrittenEnd = (end: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(end)
  if (bytes.length === endLength && bytes.readUInt32LE(0) === 0x06054b50 && bytes.readUInt16LE(20) === 0) {
    bytes.writeUInt16LE(properties.length, 20)
  }
  return Buffer.concat([bytes, properties])
}

/** Returns the contents to keep of a file that was uploaded under this name: rewritten ones where the sandbox does so. */
export const stored = Effect.fnUntraced(function* (blob: Blob, name: string, drive: Drive) {
  const { settings } = yield* Transfers
  if (!settings.rewriteOffice || drive.driveType !== "documentLibrary" || !extension.test(name)) return blob
  const { blobs } = yield* World
  const { size, source } = blob
  const start = Math.max(0, size - endLength)
  const failed = () => Failure.serviceNotAvailable("The contents could not be rewritten.")
  const end = yield* Effect.mapError(Stream.runCollect(blobs.read(blob, start, size - start)), failed)
  const contents = Stream.concat(
    start === 0 ? Stream.empty : blobs.read(blob, 0, start),
    Stream.succeed(rewrittenEnd(Buffer.concat(end)))
  )
  const rewritten = yield* Effect.mapError(blobs.store(contents, size + properties.length), failed)
  if (typeof source === "string") yield* blobs.remove(source)
  return rewritten
})
