/**
 * Whether plain runs are checked for bodies that would not be replayed as they ran.
 */
import * as Context from "effect/Context"

/**
 * What `verify` of `Flow.run` is when it is not given: false, and true in `signalbox/Testing`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { VerifyRuns } from "@signalbox/flows/VerifyRuns"
 *
 * export const verified = Effect.provideService(VerifyRuns, true)
 * ```
 */
export const VerifyRuns = Context.Reference<boolean>("@signalbox/flows/VerifyRuns", { defaultValue: () => false })
