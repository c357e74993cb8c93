/**
 * How executions begin: claimed by their key, then started.
 */
import * as Effect from "effect/Effect"
import type { Flow } from "./FlowType.ts"
import { FlowNotRegistered } from "../FlowErrors.ts"
import { start } from "./DurableRun.ts"
import { theEngine } from "./engine/TheEngine.ts"
import { workflowName } from "./FlowPayload.ts"
import { type Codec, record } from "./Values.ts"

/** The execution of this input, made unless it is there. `key`: instead of the flow's own. */
export const claim = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  key?: string
) {
  const { registered, store } = yield* theEngine
  const given = yield* record(flow.input, input, `the input of the flow ${flow.name}`)
  const execution = yield* store.claim(crypto.randomUUID(), {
    flow: flow.name,
    version: flow.version,
    key: key ?? flow.idempotencyKey(given.value),
    generation: 1,
    input: given.json,
    resumes: null
  })
  if (execution.state === "running" && !registered.has(workflowName(execution))) {
    return yield* new FlowNotRegistered({ flow: flow.name, version: execution.version, execution: execution.id })
  }
  return execution
})

/** Starts the execution unless it has ended, and gives its id. */
export const begin = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"],
  key?: string
) {
  const { workflows } = yield* theEngine
  const execution = yield* claim(flow, input, key)
  return execution.state === "running" ? yield* start(workflows, execution) : execution.id
})
