/**
 * The record of what has changed in a collection.
 */
import type { Change, ChangeKind, Changes } from "../model/Model.ts"

export const make = (): Changes => ({ last: 0, byItem: new Map(), watchers: new Set() })

/** Records a change of an item as the last one. */
export const note = (changes: Changes, id: string, change: Omit<Change, "number">): void => {
  const before = changes.byItem.get(id)
  const kind: ChangeKind = change.deleted ? "deleted" : before === undefined || before.deleted ? "created" : "updated"
  changes.byItem.delete(id)
  changes.byItem.set(id, { ...change, number: ++changes.last })
  for (const watcher of changes.watchers) watcher(id, kind)
}
