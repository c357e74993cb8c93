/** `signalbox flows fork --sandbox`: the fork runs here, and its ready steps get an empty room and graph of its own. */
import type { FlowHistory } from "@signalbox/flows/FlowHistory"
import type { FlowEvent } from "@signalbox/flows/FlowEvents"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import { Embedded, layerService } from "../../../Embedded.ts"
import * as SandboxRunner from "../../files/SandboxRunner.ts"

interface Given {
  readonly file: string
  readonly history: FlowHistory
  readonly from: string
  readonly input: Schema.Json | undefined
  readonly version: number | undefined
  readonly json: boolean
}

/** The events that have a line. */
const lines: Readonly<Partial<Record<FlowEvent["_tag"], string>>> = {
  StepStarted: "started",
  StepSucceeded: "succeeded",
  StepRetrying: "failed, retrying",
  StepFailed: "failed"
}

const lineOf = (event: FlowEvent): string | null => {
  const did = lines[event._tag]
  if (did === undefined || !("path" in event)) return null
  const why = "failure" in event ? `: ${event.failure.message.replace(/\s+/g, " ")}` : ""
  return `${new Date(event.at).toISOString()}  ${event.path}  ${did}${why}`
}

/** Lets services that are built by the environment use the room and the graph of the sandbox. */
const pointed = Effect.gen(function* () {
  const { credentials } = yield* Embedded
  const graph = yield* GraphSandbox
  const variables = {
    SIGNALBOX_BASE_URL: credentials.base_url,
    SIGNALBOX_WORKSPACE_ID: credentials.workspace_id,
    SIGNALBOX_API_KEY: credentials.api_key,
    SIGNALBOX_GRAPH_URL: graph.graphUrl,
    SIGNALBOX_GRAPH_LOGIN_URL: graph.origin,
    SIGNALBOX_GRAPH_TOKEN: yield* graph.accessToken()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
      Object.assign(process.env, variables)
      return before
    }),
    (before) =>
      Effect.sync(() => {
        for (const [name, value] of before) {
          if (value === undefined) delete process.env[name]
          else process.env[name] = value
        }
      })
  )
})

/** Runs the fork, and prints its steps and how it ended. */
export const sandbox = Effect.fnUntraced(function* ({ file, from, history, input, json, version }: Given) {
  const fs = yield* FileSystem.FileSystem
  const data = yield* fs.makeTempDirectoryScoped({ prefix: "signalbox-sandbox-" })
  const services = Layer.merge(layerService({ data, port: 0, rateLimit: null }), GraphSandbox.layer({ port: 0 }))
  yield* Effect.gen(function* () {
    yield* pointed
    const runs = Effect.runSyncWith(yield* Effect.context<never>())
    const onEvent = (event: FlowEvent) => {
      const line = json ? JSON.stringify(event) : lineOf(event)
      if (line !== null) runs(Console.log(line))
    }
    const { error, id, remedy, result, state, summary } = yield* SandboxRunner.run(file, {
      history,
      from,
      input,
      version,
      onEvent
    })
    if (json) return yield* Console.log(JSON.stringify({ id, state, result, error, summary, remedy }))
    const end = state === "completed" ? `result ${JSON.stringify(result)}` : remedy === null ? "" : `remedy: ${remedy}`
    yield* Console.log([`${state}: ${summary}`, ...(end === "" ? [] : [end])].join("\n"))
  }).pipe(Effect.provide(services))
}, Effect.scoped)
