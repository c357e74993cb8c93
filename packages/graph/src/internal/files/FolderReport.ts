/**
 * What the two directions of a folder have in common: their options, and what they report.
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { GraphError } from "../../GraphError.ts"
import { TransferError } from "../../TransferError.ts"
import { Difference } from "./Difference.ts"

/** How the files of a folder are transferred. */
export interface TransferOptions {
  /** How many files at a time. Default 4. */
  readonly concurrency?: number | undefined
  /** Whether size and hash of each file are compared, as for one file. Default true. */
  readonly verify?: boolean | undefined
  /** Called after each file that was transferred. */
  readonly onProgress?:
    | ((done: { readonly path: string; readonly files: number; readonly bytes: number }) => Effect.Effect<void>)
    | undefined
}

const Failure = Schema.Struct({
  /** Below the folder. */
  path: Schema.String,
  error: Schema.Union([GraphError, TransferError])
})
export type Failure = typeof Failure.Type

const Differing = Schema.Struct({ path: Schema.String, difference: Difference })
export type Differing = typeof Differing.Type

/** The fields of both reports. */
export const fields = {
  /** The local folder. */
  path: Schema.String,
  /** Files that were transferred. */
  files: Schema.Finite,
  /** Files that were there already, whole. */
  present: Schema.Finite,
  /** Folders, with the empty ones, without the folder itself. */
  folders: Schema.Finite,
  /** Bytes that were transferred. */
  bytes: Schema.Finite,
  failures: Schema.Array(Failure),
  /** What has no contents: notebooks of the service, symbolic links here, which are not followed. */
  left: Schema.Array(Schema.String),
  /** What the service says or stores otherwise than it was transferred, as document libraries do. */
  differing: Schema.Array(Differing)
}

interface Counts {
  readonly failures: ReadonlyArray<Failure>
  readonly files: number
  readonly present: number
}

/** How many failed, and the first of them. `did`: what the others did. */
export const incomplete = ({ failures, files, present }: Counts, did: string): string => {
  const [first] = failures
  const why = first === undefined ? "" : `; the first: ${first.path}: ${first.error.message}`
  return `${failures.length} of ${failures.length + files + present} files and folders ${did}${why}`
}
