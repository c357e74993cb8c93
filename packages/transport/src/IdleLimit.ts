/** The time limit of a transfer without progress. */
import * as Context from "effect/Context"

/**
 * How many milliseconds a request may go without a byte in either direction, from when its headers are sent; null: no
 * limit. The HTTP client of `@signalbox/transport/node` applies it; one over `fetch` has the limits of the platform.
 */
export const IdleLimit: Context.Reference<number | null> = Context.Reference<number | null>(
  "@signalbox/transport/IdleLimit",
  { defaultValue: () => null }
)
