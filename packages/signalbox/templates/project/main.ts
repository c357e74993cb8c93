/** Deploys the process and runs the flow, against the control room of this folder, or of SIGNALBOX_BASE_URL. */
import { layerConfig } from "@signalbox/api/node"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Process from "signalbox/Process"
import { greetAll } from "./flow.ts"
import { greetings } from "./process.ts"

const program = Effect.andThen(Process.deploy(greetings), Flow.run(greetAll, { names: process.argv.slice(2) }))

for (const greeting of await Effect.runPromise(Effect.provide(program, layerConfig))) console.log(greeting)
