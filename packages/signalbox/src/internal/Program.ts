/**
 * The `signalbox` command as a value: `Main` runs it as a process.
 */
import * as Effect from "effect/Effect"
import * as CommandLine from "./CommandLine.ts"
import { withContext } from "./ContextFlag.ts"

/** Each command is loaded on demand: one needs little of what the others need. */
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
  queue: () => import("./commands/Queue.ts").then((module) => withContext(module.queue)),
  workers: () => import("./nouns/WorkerNoun.ts").then((module) => withContext(module.workers)),
  groups: () => import("./nouns/GroupNoun.ts").then((module) => withContext(module.groups)),
  packages: () => import("./nouns/PackageNoun.ts").then((module) => withContext(module.packages)),
  assets: () => import("./nouns/AssetNoun.ts").then((module) => withContext(module.assets)),
  secrets: () => import("./nouns/SecretNoun.ts").then((module) => withContext(module.secrets)),
  webhooks: () => import("./nouns/WebhookNoun.ts").then((module) => withContext(module.webhooks)),
  alerts: () => import("./nouns/AlertNoun.ts").then((module) => withContext(module.alerts)),
  "alert-channels": () => import("./nouns/AlertChannelNoun.ts").then((module) => withContext(module.alertChannels)),
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
  backup: () => import("./commands/Backup.ts").then((module) => module.backup),
  restore: () => import("./commands/Backup.ts").then((module) => module.restore),
  resume: () => import("./commands/Resume.ts").then((module) => withContext(module.resume)),
  vault: () => import("./commands/Vault.ts").then((module) => module.vault),
  config: () => import("./commands/Config.ts").then((module) => module.config),
  "graph-sandbox": () => import("./commands/GraphSandbox.ts").then((module) => module.graphSandbox)
} as const

const isCommand = (name: string | undefined): name is keyof typeof commands =>
  name !== undefined && Object.hasOwn(commands, name)

/** The command that a command line requests; all of them where it requests none, as for the help that lists them. */
export const asked = ([name]: ReadonlyArray<string>) => {
  const names = isCommand(name) ? [name] : Object.keys(commands).filter(isCommand)
  return Effect.forEach(names, (name) => Effect.promise(async () => commands[name]()))
}

/** Runs a command line as `CommandLine.run` does. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.flatMap(asked(args), (subcommands) => CommandLine.run(subcommands, args))

export { teardown } from "./CommandLine.ts"
