/** Clears the folder of runs that its argument names, as a user that is not root. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Runs from "../../src/internal/packages/Runs.ts"

const [folder = ""] = process.argv.slice(2)
await Effect.runPromise(Effect.provide(Runs.clearLeftovers(folder), NodeServices.layer))
