/** `signalbox dev`: `up`, with the tasks loaded again when their file, or what it imports, changes. The service goes on. */
import * as Console from "effect/Console"
import type { Settings as EnvironmentSettings } from "@signalbox/worker/Environments"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Command from "effect/cli/Command"
import { layerService, layerWorkers } from "../../../Embedded.ts"
import * as Problem from "../../output/Problem.ts"
import * as Reload from "../../files/Reload.ts"
import * as Environments from "../../settings/Environments.ts"
import * as Server from "../../settings/Server.ts"
import { flagsOf } from "../../settings/Setting.ts"
import * as FlagValues from "../../settings/FlagValues.ts"
import * as TasksFile from "../../files/TasksFile.ts"
import { ready, serviceOptions } from "../host/Up.ts"

/**
 * Says that it is ready, and starts the workers with the tasks of the file, again at each change. A file that cannot be loaded
 * changes nothing.
 */
const serve = Effect.fnUntraced(function* (
  settings: Server.Settings,
  service: Effect.Success<ReturnType<typeof serviceOptions>>,
  environments: EnvironmentSettings,
  json: boolean
) {
  const { data, workers } = settings
  const file = settings.tasks ?? "tasks.ts"
  const { changed, next } = yield* Reload.make
  const options = { ...service, workers, environments }
  let running = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Effect.suspend(() => Scope.close(running, exit)))
  const load = Effect.flatMap(next, (suffix) => Effect.result(TasksFile.load(file, suffix)))
  let loaded = yield* load
  yield* Layer.build(ready({ data, json, tasks: Result.getOrElse(loaded, () => []), workers }))
  for (;;) {
    if (Result.isFailure(loaded)) {
      yield* Console.error(`signalbox: ${Problem.lineOf(loaded.failure)}; loading again when the file changes`)
    } else {
      // The workers before let their items end: they are the same workers, in the same folders.
      yield* Scope.close(running, Exit.void)
      running = yield* Scope.make()
      yield* Layer.buildWithScope(layerWorkers({ ...options, tasks: loaded.success }), running)
      const names = loaded.success.map(({ name }) => name).join(", ")
      yield* Console.error(`Loaded ${file}: ${names === "" ? "no tasks" : names}`)
    }
    yield* changed
    loaded = yield* load
  }
})

export const dev = Command.make(
  "dev",
  {
    settings: flagsOf(Server.server),
    environments: flagsOf(Environments.environments),
    json: FlagValues.jsonWhenReady
  },
  Effect.fnUntraced(function* ({ json, ...given }) {
    const settings = yield* Server.read(given.settings)
    const environments = yield* Environments.read(given.environments)
    const service = yield* serviceOptions(settings)
    return yield* serve(settings, service, environments, json).pipe(
      Effect.scoped,
      Effect.provide(layerService(service))
    )
  })
).pipe(
  Command.withDescription(
    "Starts the control room like `up`, and reloads the tasks when their file or its imports change"
  ),
  Command.withExamples([
    { command: "signalbox dev", description: "Use the tasks of tasks.ts" },
    { command: "signalbox dev --tasks src/tasks.ts --port 0", description: "Use another file and a free port" }
  ])
)
