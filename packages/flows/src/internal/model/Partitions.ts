/**
 * Partitions of executions, by a hash of their id, which processes share among them. There are more partitions than processes, and
 * their number is constant.
 */
import { hash } from "node:crypto"

export const partitionCount = 1_024

/** Returns the partition of an execution, as the migration for older executions does. */
export const partitionOf = (id: string): number => Number.parseInt(hash("sha256", id).slice(0, 4), 16) % partitionCount

/** What a process claims: due executions of its partitions immediately, others when they have been due for a while. */
export interface Share {
  /** A `1` for each of its partitions, a `0` for each other one. */
  readonly partitions: string
  /** How long executions of other partitions must have been due. */
  readonly graceMillis: number
}

export const isIn = ({ partitions }: Pick<Share, "partitions">, id: string): boolean =>
  partitions[partitionOf(id)] === "1"
