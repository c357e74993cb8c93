/** Prints the ancestors of this process, up to the package runner that started it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import { linksToRunner } from "../../src/internal/process/ParentEnded.ts"

const found = await Effect.runPromise(Effect.provide(linksToRunner, NodeServices.layer))
process.stdout.write(JSON.stringify(found))
