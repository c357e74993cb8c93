/**
 * A command line of some commands: what `Program` is for all of them.
 */
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Runtime from "effect/Runtime"
import packageJson from "../../../package.json" with { type: "json" }
import * as Logs from "../output/Logs.ts"
import * as Problem from "../output/Problem.ts"
import * as Terminal from "../text/Terminal.ts"
import * as Telemetry from "../output/Telemetry.ts"
import * as UsageErrors from "../output/UsageErrors.ts"

/** A stop by signal is a success; otherwise see `exitCode`. */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  onExit(Problem.exitCode(Cause.squash(exit.cause)))
}

/** One line about the failure; the parser has already reported what it could not parse. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)
    ? Effect.void
    : Console.error(`signalbox: ${Problem.lineOf(error)}`)
}

/** The command with these below it. */
export const make = <const Subcommands extends ReadonlyArray<Command.Command.SubcommandEntry>>(
  subcommands: Subcommands
) =>
  Command.make("signalbox").pipe(
    Command.withDescription("Runs and operates an automation control room"),
    Command.withSubcommands(subcommands)
  )

/** Runs a command line with these commands. Prints through `Console`, including failures; `teardown` has the exit code. */
export const run = <const Subcommands extends ReadonlyArray<Command.Command.SubcommandEntry>>(
  subcommands: Subcommands,
  args: ReadonlyArray<string>
) =>
  Command.runWith(make(subcommands), { version: packageJson.version })(args).pipe(
    // The exporter of logs joins the loggers that are there.
    Effect.provide(
      Telemetry.layer.pipe(
        Layer.provideMerge(Logs.layer),
        Layer.provideMerge(NodeServices.layer),
        Layer.merge(UsageErrors.layer)
      )
    ),
    Effect.tapCause(report),
    Effect.provide(Terminal.layer)
  )
