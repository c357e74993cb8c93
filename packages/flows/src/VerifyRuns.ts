/**
 * Whether plain runs check that their bodies are deterministic.
 */
import * as Context from "effect/Context"

/**
 * The default of `verify` in `Flow.run`: false, and true in `signalbox/Testing`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { VerifyRuns } from "@signalbox/flows/VerifyRuns"
 *
 * export const verified = Effect.provideService(VerifyRuns, true)
 * ```
 */
export const VerifyRuns = Context.Reference<boolean>("@signalbox/flows/VerifyRuns", { defaultValue: () => false })
