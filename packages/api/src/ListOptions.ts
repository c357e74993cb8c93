/** Which page of a list. */
export interface ListOptions {
  /** Items per page, 1 to 500. */
  readonly limit?: number
  /** Where the page starts: from `next` of the page before. */
  readonly cursor?: string
}
