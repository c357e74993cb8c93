/** Logs go to standard error, in the format and from the level of the settings. */
import * as RoutineLog from "@signalbox/worker/RoutineLog"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as LogSettings from "../settings/Logs.ts"

export const layer = Layer.unwrap(
  Effect.map(LogSettings.read, ({ logFormat, logLevel }) =>
    Layer.merge(
      Logger.layer([Logger.withConsoleError(logFormat === "json" ? Logger.formatJson : Logger.formatLogFmt)]),
      Layer.merge(Layer.succeed(References.MinimumLogLevel, logLevel), Layer.succeed(RoutineLog.Level, "Info"))
    )
  )
)

/** For what runs beside the command, which reports settings that cannot be used. */
export const layerBeside = Layer.catch(layer, () => Layer.empty)
