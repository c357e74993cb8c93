/** The limits of sizes, and of how long a worker may be silent. */
import { maxPayload } from "@signalbox/api/contract/WorkItems"
import * as Duration from "effect/Duration"

/** A worker without a heartbeat for this long is offline, and its step runs are lost. */
export const lostAfter = Duration.seconds(10)

/** Bytes; `jsonDepth` in levels, `formParameters` in number. */
export const limits = {
  jsonBody: 8 * 1024 * 1024,
  jsonDepth: 256,
  formBody: 1024 * 1024,
  formParameters: 1000,
  /** A body that is read before the caller is authenticated. */
  unauthenticatedBody: 64 * 1024,
  itemPayload: maxPayload,
  /** A request to the address of a trigger. */
  hookBody: 1024 * 1024,
  /** A page of a list, unless one row alone is larger. */
  page: 8 * 1024 * 1024,
  /** Responses up to this size are not counted. */
  smallResponse: 256 * 1024,
  /** How much long text one statement reads, plus the row that exceeds it. */
  readAtOnce: 1024 * 1024,
  /** All other responses of a process that are being built or not sent yet. */
  responses: 64 * 1024 * 1024,
  /** Bytes of pages per millisecond, once a burst of as many as fit into `responses` is used up. */
  responseBytesPerMilli: 32 * 1024,
  file: 1024 * 1024 * 1024,
  /** The fields of an upload besides its file. */
  uploadForm: 1024 * 1024,
  secret: 64 * 1024,
  inputSchema: 256 * 1024,
  asset: 5 * 1024 * 1024 * 1024,
  /** One packed commit of a git repository that becomes a task package. */
  repository: 1024 * 1024 * 1024
} as const

/** Files of one work item or output. */
export const maxFilesPerItem = 100

/** The message of the refusal when an item has the maximum of files. */
export const tooManyFiles = `the work item has ${maxFilesPerItem} files, the limit; replace or remove one`
