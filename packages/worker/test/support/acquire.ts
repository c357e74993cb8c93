/** A worker of its own that builds an environment: `node acquire.ts FOLDER OF THE MACHINE`, and says where it is. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Machine from "./Machine.ts"

const { environments, wheels } = Machine.make(process.argv[2])

NodeRuntime.runMain(
  Effect.gen(function* () {
    const { acquire } = yield* environments({ wheels, provider: "venv" })
    const built = yield* acquire(Machine.recipe(["polite==1.0"]), () => Effect.void, Effect.void)
    yield* Console.log(`ready ${built.cached} ${built.folder}`)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
