/** `signalbox up`: runs the service and its local workers until it is stopped. */
import type * as Task from "@signalbox/worker/Task"
import { Administration } from "@signalbox/control-room/Administration"
import * as Files from "@signalbox/console/Files"
import { defined } from "@signalbox/transport/Defined"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Command from "effect/cli/Command"
import { resolve } from "node:path"
import { Embedded, layerService, layerWorkers } from "../../../Embedded.ts"
import * as Environments from "../../settings/Environments.ts"
import * as Providers from "../../settings/Providers.ts"
import * as Server from "../../settings/Server.ts"
import { flagsOf } from "../../settings/Setting.ts"
import * as Storage from "../../settings/Storage.ts"
import * as FlagValues from "../../settings/FlagValues.ts"
import { word } from "../../text/ShellWord.ts"
import * as TasksFile from "../../files/TasksFile.ts"
import * as Umask from "../../process/Umask.ts"

/** The address of the console; on a terminal of this machine with a ticket, which signs in the person who follows it. */
const consoleOf = Effect.fnUntraced(function* (publicUrl: string, key: string) {
  const address = `${publicUrl}/console/`
  const isLocal = /^http:\/\/(127\.|localhost|\[::1\])/.test(publicUrl)
  if (!isLocal || process.stdout.isTTY !== true) return `${address}  (\`signalbox open\` signs in)`
  const { createConsoleTicket } = yield* Administration
  const ticket = yield* createConsoleTicket(Redacted.make(key), Duration.minutes(10))
  return ticket === null ? address : `${address}#ticket=${Redacted.value(ticket)}`
})

/** Says that it is ready, where, and what can be done next. */
export const ready = (options: {
  readonly data: string
  readonly json: boolean
  readonly tasks: ReadonlyArray<Task.Any>
  readonly workers: number
}) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { credentials, origin } = yield* Embedded
      const { api_key, workspace_id } = credentials
      const facts = {
        base_url: `${credentials.base_url}/api/v1`,
        workspace_id,
        api_key,
        console_url: `${credentials.base_url}/console/`,
        docs_url: `${credentials.base_url}/docs`,
        spec_url: `${credentials.base_url}/api/v1/openapi.json`
      }
      if (options.json) return yield* Console.log(JSON.stringify(facts))
      const names = options.tasks.map((task) => task.name).join(", ")
      const [first] = options.tasks
      const data = options.data === ".signalbox" ? "" : ` --data ${word(options.data)}`
      const task = first?.name ?? "TASK"
      yield* Console.log(
        [
          `The control room is at ${origin}`,
          `  console    ${yield* consoleOf(credentials.base_url, api_key)}`,
          `  workspace  ${workspace_id}`,
          `  key        in ${resolve(options.data)}/credentials.json`,
          `  workers    ${options.workers}, for task packages${names === "" ? "" : ` and ${names}`}`,
          `  docs       ${facts.docs_url}`,
          "From another terminal:",
          `  signalbox processes create greeting --task ${task}${data}`,
          `  signalbox run greeting --payload '{"name":"Ada"}' --wait${data}`,
          `  eval "$(signalbox env${data})"    # for programs and curl`,
          "Stop it with Ctrl-C; all data is stored in the data folder."
        ].join("\n")
      )
    })
  )

/** The options of the service that the settings name. */
export const serviceOptions = Effect.fnUntraced(function* (settings: Server.Settings) {
  const { allowPrivateTargets, host, internalUrl, publicUrl, retainAudit, retainRuns } = settings
  const {
    allowedHosts,
    consoleKeys,
    cors,
    createWorkspaces,
    insecureSignIn,
    metrics,
    port,
    providerStale,
    rateLimit,
    trustedProxies
  } = settings
  return {
    ...Storage.optionsOf(settings),
    host,
    port,
    allowedHosts,
    consoleKeys,
    cors,
    createWorkspaces,
    insecureSignIn,
    metrics,
    providers: yield* Providers.read(settings),
    providerStale,
    rateLimit,
    trustedProxies,
    ...defined({
      publicUrl: publicUrl ?? undefined,
      internalUrl: internalUrl ?? undefined,
      retainRuns: retainRuns ?? undefined,
      retainAudit: retainAudit ?? undefined,
      allowPrivateTargets: allowPrivateTargets ?? undefined
    })
  }
})

export const up = Command.make(
  "up",
  {
    settings: flagsOf(Server.server),
    environments: flagsOf(Environments.environments),
    json: FlagValues.jsonWhenReady
  },
  Effect.fnUntraced(function* ({ json, ...given }) {
    const settings = yield* Server.read(given.settings)
    const { workers } = settings
    const tasks = yield* TasksFile.load(settings.tasks)
    const options = { ...(yield* serviceOptions(settings)), console: yield* Files.read }
    const environments = yield* Environments.read(given.environments)
    // Ready is what serves; the workers come after it.
    const local =
      workers === 0
        ? Layer.empty
        : Layer.provideMerge(layerWorkers({ ...options, workers, tasks, environments }), Layer.effectDiscard(Umask.own))
    return yield* Layer.launch(
      local.pipe(
        Layer.provide(ready({ data: settings.data, json, tasks, workers })),
        Layer.provide(layerService(options))
      )
    )
  })
).pipe(
  Command.withDescription(
    "Starts the control room and local workers. Every flag has an environment variable; see `signalbox config`"
  ),
  Command.withExamples([
    { command: "signalbox up", description: "Listen on 127.0.0.1:4700 and store all data in .signalbox" },
    {
      command: "signalbox up --port 0 --json --tasks tasks.ts",
      description: "For scripts: use a free port and print one line of JSON"
    },
    {
      command: "signalbox up --host 0.0.0.0 --public-url https://room.example.com --cors https://app.example.com",
      description: "Serve other machines behind a proxy, and a web page of another origin"
    }
  ])
)
