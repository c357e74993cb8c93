/**
 * How blobs are spread over folders.
 */

/** The folder of a blob: of one folder with all of them, many file systems get slow. */
export const shardOf = (blob: string): string => blob.slice(-2)
