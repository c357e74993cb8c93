/**
 * The `signalbox` command as a value: `Main` runs it as a process.
 */
import * as Effect from "effect/Effect"
import * as CommandLine from "./CommandLine.ts"
import { withContext } from "../connection/ContextFlag.ts"

/**
 * The commands by what one wants to do, as the help lists them. Each is loaded on demand: one needs little of what the others
 * need.
 */
const groups = {
  Start: {
    init: () => import("../commands/develop/Init.ts").then((module) => module.init),
    dev: () => import("../commands/develop/Dev.ts").then((module) => module.dev),
    up: () => import("../commands/host/Up.ts").then((module) => module.up),
    open: () => import("../commands/operate/Open.ts").then((module) => withContext(module.open)),
    login: () => import("../commands/access/Login.ts").then((module) => module.login),
    contexts: () => import("../commands/access/Login.ts").then((module) => module.contexts),
    env: () => import("../commands/access/Login.ts").then((module) => withContext(module.env))
  },
  "Runs and work items": {
    run: () => import("../commands/run/Run.ts").then((module) => withContext(module.run)),
    runs: () => import("../commands/run/Runs.ts").then((module) => withContext(module.runs)),
    outputs: () => import("../commands/run/Runs.ts").then((module) => withContext(module.outputs)),
    items: () => import("../commands/run/Items.ts").then((module) => withContext(module.items)),
    failures: () => import("../commands/operate/Failures.ts").then((module) => withContext(module.failures)),
    bulk: () => import("../commands/operate/Bulk.ts").then((module) => withContext(module.bulk)),
    queue: () => import("../commands/run/Queue.ts").then((module) => withContext(module.queue))
  },
  "Processes and resources": {
    package: () => import("../commands/develop/Package.ts").then((module) => module.packageTasks),
    apply: () => import("../commands/access/Apply.ts").then((module) => withContext(module.apply)),
    import: () => import("../commands/access/Import.ts").then((module) => withContext(module.importRoom)),
    processes: () => import("../resources/Processes.ts").then((module) => withContext(module.processes)),
    packages: () => import("../resources/Packages.ts").then((module) => withContext(module.packages)),
    schedules: () => import("../resources/Schedules.ts").then((module) => withContext(module.schedules)),
    triggers: () => import("../resources/Triggers.ts").then((module) => withContext(module.triggers)),
    assets: () => import("../resources/Assets.ts").then((module) => withContext(module.assets)),
    secrets: () => import("../resources/Secrets.ts").then((module) => withContext(module.secrets))
  },
  "Workers and robots": {
    worker: () => import("../commands/host/Worker.ts").then((module) => withContext(module.worker)),
    workers: () => import("../resources/Workers.ts").then((module) => withContext(module.workers)),
    groups: () => import("../resources/WorkerGroups.ts").then((module) => withContext(module.groups)),
    robot: () => import("../commands/develop/Robot.ts").then((module) => module.robot),
    assistants: () => import("../resources/Assistants.ts").then((module) => withContext(module.assistants)),
    assistant: () => import("../commands/run/Assistant.ts").then((module) => withContext(module.assistant))
  },
  Notifications: {
    alerts: () => import("../resources/Alerts.ts").then((module) => withContext(module.alerts)),
    "alert-channels": () => import("../resources/AlertChannels.ts").then((module) => withContext(module.alertChannels)),
    webhooks: () => import("../resources/Webhooks.ts").then((module) => withContext(module.webhooks))
  },
  "Workspaces, people and keys": {
    workspaces: () => import("../commands/access/Workspaces.ts").then((module) => withContext(module.workspaces)),
    audit: () => import("../commands/access/Audit.ts").then((module) => withContext(module.audit)),
    users: () => import("../commands/access/Users.ts").then((module) => withContext(module.users)),
    roles: () => import("../commands/access/Roles.ts").then((module) => withContext(module.roles)),
    keys: () => import("../commands/access/Keys.ts").then((module) => withContext(module.keys))
  },
  "Durable flows and graph": {
    flows: () => import("../commands/operate/Flows.ts").then((module) => module.flows),
    "graph-sandbox": () => import("../commands/develop/GraphSandbox.ts").then((module) => module.graphSandbox)
  },
  Operations: {
    deploy: () => import("../commands/host/Deploy.ts").then((module) => module.deploy),
    doctor: () => import("../commands/host/Doctor.ts").then((module) => withContext(module.doctor)),
    check: () => import("../commands/develop/Check.ts").then((module) => module.check),
    config: () => import("../commands/access/Config.ts").then((module) => module.config),
    backup: () => import("../commands/host/Backup.ts").then((module) => module.backup),
    restore: () => import("../commands/host/Backup.ts").then((module) => module.restore),
    resume: () => import("../commands/host/Resume.ts").then((module) => withContext(module.resume)),
    compact: () => import("../commands/host/Compact.ts").then((module) => module.compact),
    migrate: () => import("../commands/host/Migrate.ts").then((module) => module.migrate),
    vault: () => import("../commands/access/Vault.ts").then((module) => module.vault)
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
