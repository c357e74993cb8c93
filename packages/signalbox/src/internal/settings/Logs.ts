/** What every command logs, and how. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Setting from "./Setting.ts"
import { setting } from "./Setting.ts"

const levels = {
  all: "All",
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
} as const

export const logs = {
  logFormat: setting({
    variable: "SIGNALBOX_LOG_FORMAT",
    description: "The format of logs on standard error: `logfmt` or `json`",
    schema: Schema.Literals(["logfmt", "json"]),
    default: "logfmt"
  }),
  logLevel: setting({
    variable: "SIGNALBOX_LOG_LEVEL",
    description: "The lowest log level; `--log-level` of a command overrides it",
    schema: Schema.Literals(["all", "trace", "debug", "info", "warn", "error", "fatal", "none"]),
    default: "info"
  })
}

/** The log settings, with the level under the name of effect. */
export const read = Effect.map(Setting.read(logs, {}), ({ logFormat, logLevel }) => ({
  logFormat,
  logLevel: levels[logLevel]
}))
