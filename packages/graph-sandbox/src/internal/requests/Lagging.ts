/**
 * Reads that lag behind writes, as those of the service do: lists, searches and changes show what was written only later.
 */
import type { Lag } from "../../Faults.ts"
import type { Changes, Moment } from "../model/Model.ts"
import type { GraphRequest } from "./GraphRequest.ts"

type Reads = NonNullable<Lag["of"]>[number]

/** What a read does not see yet. It counts as one that follows the changes. */
export const late = (
  { lag, now }: Pick<GraphRequest, "lag" | "now">,
  of: Reads,
  changes: Changes<unknown>
): ((moment: Moment) => boolean) => {
  if (lag === undefined || lag.of?.includes(of) === false) return () => false
  const { millis = 0, requests = 0 } = lag
  const reads = ++changes.reads
  return (moment) => moment.number > changes.settled && (reads - moment.reads <= requests || now - moment.at < millis)
}

/** The rows of a read: without what was added lately, and still with what was removed lately, if it was `within`. */
export const rows = <A extends { readonly id: string }>(
  request: Pick<GraphRequest, "lag" | "now">,
  of: Reads,
  changes: Changes<A>,
  there: ReadonlyArray<A>,
  within: (gone: A) => boolean = () => true
): ReadonlyArray<A> => {
  if (request.lag === undefined) return there
  const isLate = late(request, of, changes)
  const seen = there.filter(({ id }) => {
    const change = changes.byItem.get(id)
    return change === undefined || !isLate(change.added)
  })
  const gone = [...changes.byItem.values()].flatMap((change) =>
    change.gone !== null && isLate(change) && !isLate(change.added) && within(change.gone) ? [change.gone] : []
  )
  return [...seen, ...gone]
}

/** The number of the last change that a read sees. */
export const last = (changes: Changes<unknown>, isLate: (moment: Moment) => boolean): number => {
  let seen = changes.last
  for (const change of changes.byItem.values()) {
    if (isLate(change)) seen = Math.min(seen, change.number - 1)
  }
  return seen
}
