/**
 * Executions fall into partitions by a hash of their id, so that each process can have some of the partitions as its own. There are
 * more of them than processes, and their number stays, whatever shares them out.
 */
import { hash } from "node:crypto"

export const partitionCount = 1_024

/** The same as in the migration that gave partitions to older executions. */
export const partitionOf = (id: string): number => hash("sha256", id, "buffer").readUInt16BE(0) % partitionCount

/** What is for a process to claim: what is due in its partitions at once, anything else when nobody has claimed it for a while. */
export interface Share {
  /** A `1` for each partition that it has, a `0` for each other one. */
  readonly partitions: string
  /** How long others are waited for. */
  readonly graceMillis: number
}

export const isIn = ({ partitions }: Pick<Share, "partitions">, id: string): boolean =>
  partitions[partitionOf(id)] === "1"
