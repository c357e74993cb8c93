/**
 * Executions fall into slots by a hash of their id, so that each process can have some of the slots as its own. There are
 * more of them than processes, and their number stays, whatever shares them out.
 */
import { hash } from "node:crypto"

export const slotCount = 1_024

/** The same as in the migration that gave slots to older executions. */
export const slotOf = (id: string): number => hash("sha256", id, "buffer").readUInt16BE(0) % slotCount

/** What is for a process to claim: what is due in its slots at once, anything else when nobody has claimed it for a while. */
export interface Share {
  /** A `1` for each slot that it has, a `0` for each other one. */
  readonly slots: string
  /** How long others are waited for. */
  readonly graceMillis: number
}

export const isIn = ({ slots }: Pick<Share, "slots">, id: string): boolean => slots[slotOf(id)] === "1"
