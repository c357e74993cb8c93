/**
 * Files of work items and outputs, and the forms with which they are uploaded.
 */
import * as Schema from "effect/Schema"
import { FileId } from "./Ids.ts"
import { Struct } from "../internal/endpoints/Endpoint.ts"

/** A stored file. `size` is in bytes; `download.url` needs no key and is valid for one hour. */
// A struct, not a class: for the compiler an instance of a class is not `Schema.Json`, and outputs with files are.
export const File = Schema.Struct({
  id: FileId,
  name: Schema.String,
  size: Schema.Finite,
  download: Schema.Struct({ url: Schema.String })
}).annotate({ identifier: "File" })
export interface File extends Schema.Schema.Type<typeof File> {}

/**
 * Where and how to send the bytes: a multipart `POST` to `url` without authorization, with all members of `form_data`
 * as fields first and the part `file` last. The response is a 204.
 */
export class UploadForm extends Struct<UploadForm>("UploadForm")({
  url: Schema.String,
  form_data: Schema.Record(Schema.String, Schema.String)
}) {}

/** A file to upload: its name (1 to 255 characters, no path) and exact size in bytes. */
export class NewFile extends Struct<NewFile>()({
  file_name: Schema.String.check(
    Schema.isBetweenLength(1, 255),
    Schema.isPattern(/^(?!\.{1,2}$)[^/\\\p{Cc}\p{Cs}]+$/u, { message: "Expected a file name without a path" })
  ),
  file_size: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
}) {}
