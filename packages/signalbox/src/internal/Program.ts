/**
 * The `signalbox` command as a value: `Main` runs it as a process.
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
import packageJson from "../../package.json" with { type: "json" }
import { withContext } from "./ContextFlag.ts"
import * as Logging from "./Logging.ts"
import * as Problem from "./Problem.ts"
import * as Telemetry from "./Telemetry.ts"
import * as UsageErrors from "./UsageErrors.ts"

/** Each command is loaded on demand, so that `up` starts quickly. */
const commands = {
  init: () => import("./commands/Init.ts").then((module) => module.init),
  dev: () => import("./commands/Dev.ts").then((module) => module.dev),
  up: () => import("./commands/Up.ts").then((module) => module.up),
  open: () => import("./commands/Open.ts").then((module) => withContext(module.open)),
  run: () => import("./commands/Run.ts").then((module) => withContext(module.run)),
  runs: () => import("./commands/Runs.ts").then((module) => withContext(module.runs)),
  items: () => import("./commands/Items.ts").then((module) => withContext(module.items)),
  failures: () => import("./commands/Failures.ts").then((module) => withContext(module.failures)),
  bulk: () => import("./commands/Bulk.ts").then((module) => withContext(module.bulk)),
  outputs: () => import("./commands/Runs.ts").then((module) => withContext(module.outputs)),
  processes: () => import("./nouns/ProcessNoun.ts").then((module) => withContext(module.processes)),
  workers: () => import("./nouns/WorkerNoun.ts").then((module) => withContext(module.workers)),
  groups: () => import("./nouns/GroupNoun.ts").then((module) => withContext(module.groups)),
  packages: () => import("./nouns/PackageNoun.ts").then((module) => withContext(module.packages)),
  assets: () => import("./nouns/AssetNoun.ts").then((module) => withContext(module.assets)),
  secrets: () => import("./nouns/SecretNoun.ts").then((module) => withContext(module.secrets)),
  webhooks: () => import("./nouns/WebhookNoun.ts").then((module) => withContext(module.webhooks)),
  schedules: () => import("./nouns/ScheduleNoun.ts").then((module) => withContext(module.schedules)),
  triggers: () => import("./nouns/TriggerNoun.ts").then((module) => withContext(module.triggers)),
  keys: () => import("./commands/Keys.ts").then((module) => withContext(module.keys)),
  flows: () => import("./commands/Flows.ts").then((module) => module.flows),
  worker: () => import("./commands/Worker.ts").then((module) => withContext(module.worker)),
  robot: () => import("./commands/Robot.ts").then((module) => module.robot),
  assistants: () => import("./nouns/AssistantNoun.ts").then((module) => withContext(module.assistants)),
  assistant: () => import("./commands/Assistant.ts").then((module) => withContext(module.assistant)),
  workspaces: () => import("./commands/Workspaces.ts").then((module) => withContext(module.workspaces)),
  login: () => import("./commands/Login.ts").then((module) => module.login),
  contexts: () => import("./commands/Login.ts").then((module) => module.contexts),
  env: () => import("./commands/Login.ts").then((module) => withContext(module.env)),
  apply: () => import("./commands/Apply.ts").then((module) => withContext(module.apply)),
  migrate: () => import("./commands/Migrate.ts").then((module) => module.migrate),
  doctor: () => import("./commands/Doctor.ts").then((module) => withContext(module.doctor)),
  check: () => import("./commands/Check.ts").then((module) => module.check),
  vault: () => import("./commands/Vault.ts").then((module) => module.vault),
  config: () => import("./commands/Config.ts").then((module) => module.config),
  "graph-sandbox": () => import("./commands/GraphSandbox.ts").then((module) => module.graphSandbox)
} as const

const isCommand = (name: string | undefined): name is keyof typeof commands =>
  name !== undefined && Object.hasOwn(commands, name)

/** The requested command; all of them for the help that lists them. */
const asked = ([name]: ReadonlyArray<string>) => {
  const names = isCommand(name) ? [name] : Object.keys(commands).filter(isCommand)
  return Effect.forEach(names, (name) => Effect.promise(async () => commands[name]()))
}

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

/** Runs a command line. Prints through `Console`, including failures; `teardown` has the exit code. */
export const run = (args: ReadonlyArray<string>) =>
  asked(args).pipe(
    Effect.flatMap((subcommands) => {
      const signalbox = Command.make("signalbox").pipe(
        Command.withDescription("Runs and operates an automation control room"),
        Command.withSubcommands(subcommands)
      )
      return Command.runWith(signalbox, { version: packageJson.version })(args)
    }),
    // The exporter of logs joins the loggers that are there.
    Effect.provide(
      Telemetry.layer.pipe(
        Layer.provideMerge(Logging.layer),
        Layer.provideMerge(NodeServices.layer),
        Layer.merge(UsageErrors.layer)
      )
    ),
    Effect.tapCause(report)
  )
