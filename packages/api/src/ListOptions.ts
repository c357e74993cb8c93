/** Which page of a list. */
export interface ListOptions {
  /** Items per page, 1 to 500. */
  readonly limit?: number | undefined
  /** The start of the page: `next` of the previous one. */
  readonly cursor?: string | undefined
}

/** Which page of a list of what has a name. */
export interface NamedListOptions extends ListOptions {
  /** Only what has exactly this name. An extension: the hosted service ignores it, and lists everything. */
  readonly name?: string | undefined
}
