import * as Context from "effect/Context"

/**
 * Makes ids the same in every run, on a clock that stands still: for tests. Keys and tokens stay random. Null, the default,
 * for ids from secure random bytes.
 */
export const IdSeed = Context.Reference<string | null>("@signalbox/control-room/IdSeed", { defaultValue: () => null })
