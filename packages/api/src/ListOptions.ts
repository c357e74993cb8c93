/** Which page of a list. */
export interface ListOptions {
  /** Items per page, 1 to 500. */
  readonly limit?: number
  /** The start of the page: `next` of the previous one. */
  readonly cursor?: string
}
