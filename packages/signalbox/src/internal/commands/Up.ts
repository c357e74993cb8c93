/**
 * `signalbox up`: the service and its local workers, until it is stopped.
 */
import * as Task from "@signalbox/worker/Task"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Embedded, layer } from "../../Embedded.ts"

/** The file given with `--tasks` is not one. */
export class TasksError extends Schema.TaggedError<TasksError>()("TasksError", { message: Schema.String }) {}

/** Imports a module and takes the tasks that it exports as `tasks`. */
const loadTasks = Effect.fn("loadTasks")(function* (file: string) {
  const module: unknown = yield* Effect.tryPromise({
    try: () => import(pathToFileURL(resolve(file)).href),
    catch: (cause) => new TasksError({ message: `--tasks: cannot load ${file}: ${String(cause)}` })
  })
  const tasks: unknown = typeof module === "object" && module !== null && "tasks" in module ? module.tasks : undefined
  if (!Array.isArray(tasks) || !tasks.every(Task.isTask)) {
    return yield* new TasksError({
      message: `--tasks: ${file} must export \`tasks\`, an array of tasks made with Task.make that need no services`
    })
  }
  return tasks
})

const ready = (options: { readonly data: string; readonly json: boolean; readonly tasks: ReadonlyArray<Task.Any> }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { credentials, origin } = yield* Embedded
      const { api_key, workspace_id } = credentials
      const facts = {
        base_url: `${credentials.base_url}/api/v1`,
        workspace_id,
        api_key,
        docs_url: `${credentials.base_url}/docs`,
        spec_url: `${credentials.base_url}/api/v1/openapi.json`
      }
      if (options.json) return yield* Console.log(JSON.stringify(facts))
      const names = options.tasks.map((task) => task.name).join(", ")
      yield* Console.log(
        [
          `The control room is at ${origin}`,
          `  workspace  ${workspace_id}`,
          `  key        in ${resolve(options.data)}/credentials.json`,
          `  tasks      ${names === "" ? "none (give some with --tasks FILE.ts)" : names}`,
          `  docs       ${facts.docs_url}`,
          "Stop it with Ctrl-C; everything is kept in the data folder."
        ].join("\n")
      )
    })
  )

export const up = Command.make(
  "up",
  {
    host: Flag.String("host").pipe(Flag.withDescription("The address to listen on"), Flag.withDefault("127.0.0.1")),
    port: Flag.Int("port").pipe(
      Flag.withDescription("The port to listen on; 0 picks a free one"),
      Flag.withDefault(4700)
    ),
    data: Flag.String("data").pipe(
      Flag.withDescription("The folder that holds everything"),
      Flag.withDefault(".signalbox")
    ),
    publicUrl: Flag.String("public-url").pipe(
      Flag.withDescription("The address under which clients reach the service, when it is another"),
      Flag.optional
    ),
    allowPrivateTargets: Flag.Boolean("allow-private-targets").pipe(
      Flag.withDescription("Let webhooks lead to private addresses (on a loopback host they may anyway)"),
      Flag.withDefault(false)
    ),
    workers: Flag.Int("workers").pipe(
      Flag.withDescription("Local workers, one step run at a time each"),
      Flag.withDefault(1)
    ),
    tasks: Flag.String("tasks").pipe(
      Flag.withDescription("A TypeScript or JavaScript file that exports `tasks` for the local workers"),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print one line of JSON when ready; logs go to stderr"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ allowPrivateTargets, data, host, json, port, publicUrl, tasks, workers }) {
    const loaded = Option.isNone(tasks) ? [] : yield* loadTasks(tasks.value)
    const embedded = layer({
      data,
      host,
      port,
      workers,
      tasks: loaded,
      ...(Option.isSome(publicUrl) ? { publicUrl: publicUrl.value } : {}),
      ...(allowPrivateTargets ? { allowPrivateTargets } : {})
    })
    return yield* Layer.launch(Layer.provide(ready({ data, json, tasks: loaded }), embedded))
  })
).pipe(
  Command.withDescription("Starts the control room and its local workers"),
  Command.withExamples([
    { command: "signalbox up", description: "Listen on 127.0.0.1:4700, keep everything in .signalbox" },
    {
      command: "signalbox up --port 0 --json --tasks tasks.ts",
      description: "For scripts: a free port, one line of JSON"
    }
  ])
)
