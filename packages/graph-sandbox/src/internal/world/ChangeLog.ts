/**
 * The record of what has changed in a collection.
 */
import type { ChangeKind, Changes, Moment } from "../model/Model.ts"

export const make = <A>(): Changes<A> => ({
  last: 0,
  byItem: new Map(),
  watchers: new Set(),
  reads: 0,
  settled: 0,
  lags: true
})

interface Noted<A> {
  readonly at: number
  readonly listItem: string | null
  /** What it was, if it has gone. */
  readonly gone?: A | undefined
}

/** Records a change of an item as the last one, and tells the watchers at once: they do not lag. */
export const note = <A>(changes: Changes<A>, id: string, { at, gone, listItem }: Noted<A>): void => {
  const before = changes.byItem.get(id)
  const moment: Moment = { number: ++changes.last, at, reads: changes.reads }
  const isNew = before === undefined || before.deleted
  const isDeleted = gone !== undefined
  const kind: ChangeKind = isDeleted ? "deleted" : isNew ? "created" : "updated"
  changes.byItem.delete(id)
  changes.byItem.set(id, {
    ...moment,
    deleted: isDeleted,
    listItem,
    added: isNew ? moment : before.added,
    gone: changes.lags ? (gone ?? null) : null
  })
  for (const watcher of changes.watchers) watcher(id, kind)
}

/** From now on no read lags behind what has changed so far; `lags`: whether one may behind what follows. */
export const settle = (changes: Changes<unknown>, lags: boolean): void => {
  changes.settled = changes.last
  changes.lags = lags
  for (const change of changes.byItem.values()) change.gone = null
}
