/**
 * How large things may be.
 */

/** Bytes; `jsonDepth` in levels, `formParameters` in number. */
export const limits = {
  jsonBody: 8 * 1024 * 1024,
  jsonDepth: 256,
  formBody: 1024 * 1024,
  formParameters: 1000,
  /** A body that is read before it is known who sent it. */
  strangerBody: 64 * 1024,
  itemPayload: 1024 * 1024,
  /** A page of a list, unless one row alone is larger. */
  page: 8 * 1024 * 1024,
  /** Answers up to this size are not counted. */
  smallAnswer: 256 * 1024,
  /** What one statement reads of long texts, but for the row that goes beyond. */
  readAtOnce: 1024 * 1024,
  /** All other responses of a process that are being built or not sent yet. */
  answers: 64 * 1024 * 1024,
  /** Bytes of pages a millisecond, once a burst of as many as fit into `answers` is used up. */
  answersPerMilli: 32 * 1024,
  file: 1024 * 1024 * 1024,
  /** What an upload has besides its file. */
  uploadForm: 1024 * 1024,
  secret: 64 * 1024,
  asset: 5 * 1024 * 1024 * 1024,
  /** A git repository on its way into a task package: one commit of it, packed. */
  repository: 1024 * 1024 * 1024
} as const

/** Files of one work item or output. */
export const maxFilesPerItem = 100

/** What is said when an item has all the files it may have. */
export const tooManyFiles = `the work item has ${maxFilesPerItem} files, the most it may have; replace or leave out one`
