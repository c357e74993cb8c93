/**
 * Files that compress to less than a 200th, found while they are packed: zeros of a few kilobytes in a repository take the
 * archive, the zip and its check many seconds. What git itself stores says little: it keeps a file once for all its paths,
 * and near copies as differences.
 */
import { isHollow, packageLimits } from "@signalbox/task-package/PackageLimits"
import type { PackageFile } from "@signalbox/task-package/Packing"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { GitFailure } from "./Failure.ts"

/** What the packing of a file may still hold back of its zipped bytes. */
const heldBack = 256 * 1024

/** Applied around the packing, whose output for a file comes before the next one is asked for. */
export interface Counter {
  readonly files: <E, R, E2, R2>(
    files: Stream.Stream<PackageFile<E, R>, E2, R2>
  ) => Stream.Stream<PackageFile<E | GitFailure, R>, E2 | GitFailure, R2>
  readonly zip: <E, R>(zip: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Uint8Array, E, R>
}

/**
 * Fails as the check of the zip would, once more than the limit of hollow files is packed; and within a file, once so
 * much more was read that the file counts as hollow whatever is held back.
 */
export const counter = (limit: number = packageLimits.hollow): Counter => {
  let hollow = 0
  let read = 0
  let zipped = 0
  const checked = (bytes: number) =>
    bytes <= limit
      ? Effect.void
      : Effect.fail(
          new GitFailure({
            message: `files of the repository that compress to less than a 200th have more than the ${limit} bytes that a task package may have of them; leave them out, and let the task create what is empty`
          })
        )
  /** Ends a file. Its headers count as zipped, so that nothing is refused that the check of the zip accepts. */
  const end = Effect.suspend(() => {
    if (isHollow({ size: read, compressed: zipped })) hollow += read
    read = 0
    zipped = 0
    return checked(hollow)
  })
  return {
    files: (files) =>
      files.pipe(
        Stream.rechunk(1),
        Stream.mapEffect((file) =>
          Effect.as(end, {
            ...file,
            body: Stream.tap(file.body, (chunk) => {
              read += chunk.length
              return checked(hollow + read - 200 * (zipped + heldBack))
            })
          })
        ),
        Stream.concat(Stream.drain(Stream.fromEffect(end)))
      ),
    zip: Stream.tap((chunk) =>
      Effect.sync(() => {
        zipped += chunk.length
      })
    )
  }
}
