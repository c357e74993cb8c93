/**
 * The `signalbox` command as a value: `Main` runs it as a process.
 */
import * as Effect from "effect/Effect"
import * as CommandLine from "./CommandLine.ts"
import { withContext } from "./ContextFlag.ts"

/**
 * The commands by what one wants to do, as the help lists them. Each is loaded on demand: one needs little of what the others
 * need.
 */
const groups = {
  Begin: {
    init: () => import("./commands/Init.ts").then((module) => module.init),
    dev: () => import("./commands/Dev.ts").then((module) => module.dev),
    up: () => import("./commands/Up.ts").then((module) => module.up),
    open: () => import("./commands/Open.ts").then((module) => withContext(module.open)),
    login: () => import("./commands/Login.ts").then((module) => module.login),
    contexts: () => import("./commands/Login.ts").then((module) => module.contexts),
    env: () => import("./commands/Login.ts").then((module) => withContext(module.env))
  },
  Work: {
    run: () => import("./commands/Run.ts").then((module) => withContext(module.run)),
    runs: () => import("./commands/Runs.ts").then((module) => withContext(module.runs)),
    outputs: () => import("./commands/Runs.ts").then((module) => withContext(module.outputs)),
    items: () => import("./commands/Items.ts").then((module) => withContext(module.items)),
    failures: () => import("./commands/Failures.ts").then((module) => withContext(module.failures)),
    bulk: () => import("./commands/Bulk.ts").then((module) => withContext(module.bulk)),
    queue: () => import("./commands/Queue.ts").then((module) => withContext(module.queue))
  },
  "What the room does, and when": {
    package: () => import("./commands/Package.ts").then((module) => module.packageTasks),
    apply: () => import("./commands/Apply.ts").then((module) => withContext(module.apply)),
    processes: () => import("./nouns/ProcessNoun.ts").then((module) => withContext(module.processes)),
    packages: () => import("./nouns/PackageNoun.ts").then((module) => withContext(module.packages)),
    schedules: () => import("./nouns/ScheduleNoun.ts").then((module) => withContext(module.schedules)),
    triggers: () => import("./nouns/TriggerNoun.ts").then((module) => withContext(module.triggers)),
    assets: () => import("./nouns/AssetNoun.ts").then((module) => withContext(module.assets)),
    secrets: () => import("./nouns/SecretNoun.ts").then((module) => withContext(module.secrets))
  },
  "Workers and robots": {
    worker: () => import("./commands/Worker.ts").then((module) => withContext(module.worker)),
    workers: () => import("./nouns/WorkerNoun.ts").then((module) => withContext(module.workers)),
    groups: () => import("./nouns/GroupNoun.ts").then((module) => withContext(module.groups)),
    robot: () => import("./commands/Robot.ts").then((module) => module.robot),
    assistants: () => import("./nouns/AssistantNoun.ts").then((module) => withContext(module.assistants)),
    assistant: () => import("./commands/Assistant.ts").then((module) => withContext(module.assistant))
  },
  "Telling people and other systems": {
    alerts: () => import("./nouns/AlertNoun.ts").then((module) => withContext(module.alerts)),
    "alert-channels": () => import("./nouns/AlertChannelNoun.ts").then((module) => withContext(module.alertChannels)),
    webhooks: () => import("./nouns/WebhookNoun.ts").then((module) => withContext(module.webhooks))
  },
  "Workspaces and keys": {
    workspaces: () => import("./commands/Workspaces.ts").then((module) => withContext(module.workspaces)),
    keys: () => import("./commands/Keys.ts").then((module) => withContext(module.keys))
  },
  "Durable flows and the graph": {
    flows: () => import("./commands/Flows.ts").then((module) => module.flows),
    "graph-sandbox": () => import("./commands/GraphSandbox.ts").then((module) => module.graphSandbox)
  },
  "Operating the room": {
    deploy: () => import("./commands/Deploy.ts").then((module) => module.deploy),
    doctor: () => import("./commands/Doctor.ts").then((module) => withContext(module.doctor)),
    check: () => import("./commands/Check.ts").then((module) => module.check),
    config: () => import("./commands/Config.ts").then((module) => module.config),
    backup: () => import("./commands/Backup.ts").then((module) => module.backup),
    restore: () => import("./commands/Backup.ts").then((module) => module.restore),
    resume: () => import("./commands/Resume.ts").then((module) => withContext(module.resume)),
    compact: () => import("./commands/Compact.ts").then((module) => module.compact),
    migrate: () => import("./commands/Migrate.ts").then((module) => module.migrate),
    vault: () => import("./commands/Vault.ts").then((module) => module.vault)
  }
} as const

type Group = keyof typeof groups
type Load = { readonly [G in Group]: (typeof groups)[G][keyof (typeof groups)[G]] }[Group]

const all = Object.entries(groups).map(([group, commands]): readonly [string, Readonly<Record<string, Load>>] => [
  group,
  commands
])

/** The command that a command line requests; all of them where it requests none, as for the help that lists them. */
export const asked = ([name = ""]: ReadonlyArray<string>) => {
  const one = all.flatMap(([group, commands]) => {
    const load = Object.hasOwn(commands, name) ? commands[name] : undefined
    return load === undefined ? [] : [[group, { [name]: load }] as const]
  })
  return Effect.forEach(one.length === 0 ? all : one, ([group, commands]) =>
    Effect.promise(async () => ({ group, commands: await Promise.all(Object.values(commands).map((load) => load())) }))
  )
}

/** Runs a command line as `CommandLine.run` does. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.flatMap(asked(args), (subcommands) => CommandLine.run(subcommands, args))

export { teardown } from "./CommandLine.ts"
