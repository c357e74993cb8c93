/** How step runs end. */
import type { StepRunErrorCode } from "@signalbox/api/contract/StepRuns"

/** Why a step run failed, as reported to the service. */
export interface StepRunError {
  readonly code: StepRunErrorCode
  readonly message: string
}

export const failed = (code: StepRunErrorCode, message: string): StepRunError => ({ code, message })

/** `null`: succeeded. `"lost"`: nothing to report. */
export type Ending = StepRunError | null | "lost"
