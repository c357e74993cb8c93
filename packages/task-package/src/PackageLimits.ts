/** The limits of task packages. */

/** What a task package may have at most. */
export interface PackageLimits {
  /** Bytes of the zip. */
  readonly zip: number
  /** Bytes of all files together, unpacked. */
  readonly unpacked: number
  /** Bytes of its hollow files together, unpacked. */
  readonly hollow: number
  /** Files and folders in the zip. */
  readonly entries: number
  /** Bytes of `robot.yaml`. */
  readonly robotYaml: number
  /** Characters of the path of an entry. */
  readonly path: number
  /** Parts of the path of an entry. */
  readonly depth: number
}

/**
 * The limits of every task package, for both the service that receives it and the worker that unpacks it.
 *
 * ```ts
 * import { packageLimits } from "@signalbox/task-package/PackageLimits"
 *
 * export const isTooLarge = (bytes: number) => bytes > packageLimits.zip
 * ```
 */
export const packageLimits: PackageLimits = {
  zip: 500 * 1024 * 1024,
  unpacked: 5 * 1024 * 1024 * 1024,
  hollow: 50 * 1024 * 1024,
  entries: 20_000,
  robotYaml: 256 * 1024,
  path: 1024,
  depth: 64
}

/**
 * Whether a file compresses to less than a 200th, as zeros do and hardly anything that a task needs.
 *
 * ```ts
 * import { isHollow } from "@signalbox/task-package/PackageLimits"
 *
 * export const zeros = isHollow({ size: 1_000_000, compressed: 1_000 })
 * ```
 */
export const isHollow = ({ compressed, size }: { readonly size: number; readonly compressed: number }): boolean =>
  size > 200 * compressed
