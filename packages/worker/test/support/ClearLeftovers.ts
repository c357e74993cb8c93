/** Clears the folder of runs that its argument names, as a user that is not root, and logs as commands do. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as RunFolders from "../../src/internal/process/RunFolders.ts"
import * as RoutineLog from "../../src/RoutineLog.ts"

const [folder = ""] = process.argv.slice(2)
await Effect.runPromise(
  RunFolders.clearLeftovers(folder).pipe(
    Effect.provideService(RoutineLog.Level, "Info"),
    Effect.provide(NodeServices.layer)
  )
)
