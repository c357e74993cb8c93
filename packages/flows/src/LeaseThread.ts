/**
 * The module of the thread that renews the lease of a process while its event loop stands still. `FlowEngine.layerPostgres` and
 * `layerCluster` start it; a program imports nothing from it. A bundle has it as a file of its own, whose path is the option
 * `leaseThread`.
 */
import * as Effect from "effect/Effect"
import { parentPort, workerData } from "node:worker_threads"
import { run } from "./internal/ownership/thread/Renewing.ts"

if (parentPort !== null) Effect.runFork(run(parentPort, workerData))
