/**
 * The record of what has changed in a collection.
 */
import type { Change, Changes } from "../model/Model.ts"

export const make = (): Changes => ({ last: 0, byItem: new Map() })

/** Records a change of an item as the last one. */
export const note = (changes: Changes, id: string, change: Omit<Change, "number">): void => {
  changes.byItem.delete(id)
  changes.byItem.set(id, { ...change, number: ++changes.last })
}
