/**
 * What differs between a file here and the same file on the service. Document libraries of sites rewrite Office files as they store
 * them, and say sizes that are not those of what comes: there a difference is reported, elsewhere it is a failure.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type DriveAddress, of } from "../../Drive.ts"
import * as Drives from "../../Drives.ts"
import type { Graph } from "../../Graph.ts"
import type { DriveItem } from "../../model/Drive.ts"
import type * as QuickXorHash from "../../QuickXorHash.ts"
import { Mismatch, type TransferError, transferError } from "../../TransferError.ts"

/** How a file here and the same file on the service differ. */
export const Difference = Schema.Struct({
  of: Schema.Literals(["size", "hash"]),
  /** Bytes that were sent, or that arrived. */
  here: Schema.Finite,
  /** Bytes that the service says. */
  there: Schema.Finite
})
export interface Difference extends Schema.Schema.Type<typeof Difference> {}

/** What is here; `hash` null: not known. */
export interface Here {
  readonly size: number
  readonly hash: string | null
}

/** Hashes only where both sides have one. */
export const differenceOf = ({ hash, size }: Here, item: DriveItem): Difference | null => {
  const there = item.size ?? size
  const stored = item.file?.hashes?.quickXorHash ?? null
  if (there !== size) return { of: "size", here: size, there }
  return stored !== null && hash !== null && stored !== hash ? { of: "hash", here: size, there } : null
}

/** The same, of what has been hashed as it came. */
export const hereOf = (hash: QuickXorHash.QuickXorHash): Here => ({ size: hash.size, hash: hash.digest() })

const libraryType = "documentLibrary"

/** Sparse responses do not say what kind of drive an item is in. */
const driveTypeOf = (
  drive: DriveAddress,
  { parentReference }: DriveItem
): Effect.Effect<string | null, never, Graph> => {
  const { driveId, driveType } = parentReference ?? {}
  if (driveType !== undefined && driveType !== null) return Effect.succeed(driveType)
  const asked = driveId === undefined || driveId === null ? drive : of({ id: driveId })
  return Effect.match(Drives.get(asked, { select: ["driveType"] }), {
    onFailure: () => null,
    onSuccess: (found) => found.driveType ?? null
  })
}

/** What to say of a difference, and what to do when it is none of the library's. */
interface Words {
  readonly size: (difference: Difference) => string
  readonly hash: string
  readonly remedy: string
}

/** Logs a difference in a document library; fails as `Mismatch` in any other drive. */
export const reportOrFail = Effect.fnUntraced(function* (
  drive: DriveAddress,
  item: DriveItem,
  difference: Difference,
  words: Words
): Effect.fn.Return<void, TransferError, Graph> {
  const message = difference.of === "size" ? words.size(difference) : words.hash
  if ((yield* driveTypeOf(drive, item)) !== libraryType) {
    return yield* transferError(new Mismatch({ of: difference.of, message: `${message}; ${words.remedy}` }), item.name)
  }
  yield* Effect.logWarning(
    `${item.name ?? "a file"}: ${message}; document libraries change Office files as they store them`
  )
})
