/** Whether a worker holds the lease of a step run, with the token of that lease. */
import type { WorkerId } from "@signalbox/api/contract/Ids"
import { Refused } from "../engine/Refused.ts"
import type { StoredStepRun } from "../store/runs/StoredStepRun.ts"
import * as Tokens from "../vault/Tokens.ts"

/** The refusal for a caller that does not hold the lease, or no longer. */
export const lost = () =>
  new Refused({ code: "LEASE_LOST", message: "this worker no longer holds the lease of this step run; stop the task" })

/** The refusal for a worker or token that does not match the lease; null when both match. */
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
