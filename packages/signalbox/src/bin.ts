#!/usr/bin/env node
/**
 * The `signalbox` command.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Command from "effect/cli/Command"
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Runtime from "effect/Runtime"
import packageJson from "../package.json" with { type: "json" }
import { items } from "./internal/commands/Items.ts"
import { outputs, run, RunNotCompleted, runs } from "./internal/commands/Runs.ts"
import { up } from "./internal/commands/Up.ts"

const signalbox = Command.make("signalbox").pipe(
  Command.withDescription("Runs and operates an automation control room"),
  Command.withSubcommands([up, run, runs, items, outputs])
)

/** A stop by signal is a success; a command line that cannot be read is 2; a run says its own; all else that fails is 1. */
const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  const error = Cause.squash(exit.cause)
  onExit(error instanceof RunNotCompleted ? error.exitCode : CliError.isCliError(error) ? 2 : 1)
}

/** What went wrong, in one line; the parser has already reported what it could not read. */
const report = (cause: Cause.Cause<unknown>) =>
  Effect.sync(() => {
    const error = Cause.squash(cause)
    if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)) return
    process.stderr.write(`signalbox: ${error instanceof Error ? error.message : String(error)}\n`)
  })

signalbox.pipe(
  Command.run({ version: packageJson.version }),
  Effect.tapCause(report),
  Effect.provide(Layer.merge(NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))),
  NodeRuntime.runMain({ teardown, disableErrorReporting: true })
)
