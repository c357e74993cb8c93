/**
 * How blobs are spread over folders.
 */

/** The folder of a blob. One folder with all blobs is slow on many file systems. */
export const shardOf = (blob: string): string => blob.slice(-2)
