/**
 * What reads and lists may be asked for, as query parameters.
 */
import { check, whole } from "@signalbox/transport/OptionError"
import type { Query } from "../../Path.ts"

/** Which fields come. The id always does. */
export interface Selection<A> {
  readonly select?: ReadonlyArray<keyof A & string> | undefined
}

export interface ListOptions<A> extends Selection<A> {
  /** An OData expression; put texts into it with `odataText`. */
  readonly filter?: string | undefined
  /** Such as `displayName desc`. */
  readonly orderBy?: string | undefined
  /** How many items a page has; the service bounds it. All pages come in any case. */
  readonly pageSize?: number | undefined
}

export const selection = (fields: ReadonlyArray<string> | undefined): string | undefined =>
  fields === undefined ? undefined : [...new Set(["id", ...fields])].join(",")

/** What an item of a list brings along: all of its fields, or those of some columns. */
export const expansion = (fields: ReadonlyArray<string> | undefined): string =>
  fields === undefined ? "fields" : `fields($select=${fields.join(",")})`

export const listQuery = <A>(options: ListOptions<A>): Query => {
  check("a list of Graph", options, { pageSize: whole(1) })
  return {
    $select: selection(options.select),
    $filter: options.filter,
    $orderby: options.orderBy,
    $top: options.pageSize
  }
}
