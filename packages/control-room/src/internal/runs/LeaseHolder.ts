/**
 * Whose step run it is: the worker's that leased it, with the token of that lease.
 */
import type { WorkerId } from "@signalbox/api/contract/Ids"
import { Refused } from "../Refused.ts"
import type { StoredStepRun } from "../store/StoredStepRun.ts"
import * as Tokens from "../Tokens.ts"

/** The refusal for who does not have the lease, or has it no more. */
export const lost = () =>
  new Refused({ code: "LEASE_LOST", message: "this worker does not hold this step run any more; stop the task" })

/** The refusal for a worker that does not have the lease, or another token; null for the one that has it. */
export const refusalOf = (
  { leaseHash, workerId }: Pick<StoredStepRun, "leaseHash" | "workerId">,
  worker: WorkerId,
  leaseToken: string
): Refused | null => {
  const token = Tokens.parse(leaseToken)
  return workerId === worker && leaseHash !== null && token !== null && Tokens.matches(token.secret, leaseHash)
    ? null
    : lost()
}
