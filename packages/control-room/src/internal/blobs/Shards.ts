/**
 * How blobs are spread over folders.
 */

/** The folder of a blob. One folder with all blobs is slow on many file systems. */
export const shardOf = (blob: string): string => blob.slice(-2)

/** Whether a folder is one of them. */
export const isShard = (name: string): boolean => /^[0-9a-f]{2}$/.test(name)
