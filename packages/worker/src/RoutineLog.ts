/**
 * The lines in which a worker logs that all goes as it should: that it is linked, and that a step run has ended.
 * Warnings and failures are not among them.
 */
import * as Context from "effect/Context"
import type { Severity } from "effect/LogLevel"

/**
 * The level of these lines. The default is `Debug`, so that the output of a program with a worker is its own: it hears warnings and
 * failures. The commands that run workers set `Info`.
 *
 * ```ts
 * import * as RoutineLog from "@signalbox/worker/RoutineLog"
 * import * as Layer from "effect/Layer"
 *
 * export const heard = Layer.succeed(RoutineLog.Level, "Info")
 * ```
 */
export const Level = Context.Reference<Severity>("@signalbox/worker/RoutineLog/Level", { defaultValue: () => "Debug" })
