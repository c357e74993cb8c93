/**
 * Runs a fork of an exported history in this process, on an engine in memory: a failure of yesterday on one's desk. For
 * `signalbox flows fork --sandbox`, which loads it beside the flows of a file.
 */
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { defined } from "@signalbox/transport/Defined"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as Durable from "./Durable.ts"
import { FlowEngine } from "./FlowEngine.ts"
import { type FlowEvent, FlowEvents } from "./FlowEvents.ts"
import * as FlowExecutions from "./FlowExecutions.ts"
import type { FlowHistory } from "./FlowHistory.ts"
import type { Flow } from "./internal/body/FlowType.ts"
import type { Codec } from "./internal/model/Values.ts"

export interface Options {
  /** The flow of the history, and those that it starts. */
  readonly flows: ReadonlyArray<Flow<Codec, Codec, Codec, unknown>>
  readonly history: FlowHistory
  /** The path of the step to begin with. */
  readonly from: string
  /** The input, as JSON; default: that of the history. */
  readonly input?: Schema.Json | undefined
  /** The version of the flow that runs it; default: that of the history. */
  readonly version?: number | undefined
  /**
   * Layers of the services of the steps. Default: `ControlRoom` by the environment: `SIGNALBOX_BASE_URL` and the others.
   */
  readonly services?: ReadonlyArray<Layer.Layer<never, unknown>> | undefined
  /** Called with each event, of children too. */
  readonly onEvent: (event: FlowEvent) => void
}

/** How far a fork came: it has ended, it is halted, or it waits for what does not come by itself. */
export interface Rest extends Pick<FlowExecutions.Execution, "id" | "state" | "result" | "error"> {
  /** Its state in one line, with what it waits for. */
  readonly summary: string
  /** The next thing to do, when it is halted. */
  readonly remedy: string | null
}

/** For so many polls nothing has changed. */
const restPolls = 30
const pollMillis = 100
/** What is due so soon is waited for. */
const soonMillis = 3_000

const atRest = ["completed", "failed", "cancelled", "halted", "suspended"]

/** Waits until a fork rests. */
const restOf = Effect.fnUntraced(function* (id: string) {
  let before = ""
  for (let same = 0; ;) {
    const inspection = yield* FlowExecutions.inspect(id)
    const { execution, now } = inspection
    if (atRest.includes(execution.state)) return inspection
    const at = yield* Clock.currentTimeMillis
    const runs =
      now.length === 0 || now.some(({ due, kind }) => kind === "attempt" || (due !== null && due - at < soonMillis))
    const text = JSON.stringify(now.map(({ attempt, kind, path }) => [path, kind, attempt]))
    same = runs || text !== before ? 0 : same + 1
    before = text
    if (same >= restPolls) return inspection
    yield* Effect.sleep(pollMillis)
  }
})

/**
 * Creates the fork, and runs it until it has ended, is halted, or waits for a person, for another program or for a time that is not
 * near. Rejects when the history has no such step, or a service cannot be built. Nothing is stored.
 *
 * ```ts
 * import * as FlowSandbox from "@signalbox/flows/FlowSandbox"
 *
 * export const tried = (options: Omit<FlowSandbox.Options, "onEvent">) =>
 *   FlowSandbox.run({
 *     ...options,
 *     onEvent: (event) => console.log(event._tag)
 *   })
 * ```
 */
export const run = ({
  flows,
  from,
  history,
  input,
  onEvent,
  services = [ControlRoom.layerConfig],
  version
}: Options): Promise<Rest> => {
  const publish = (event: FlowEvent) => Effect.sync(() => onEvent(event))
  const registered = flows.reduce<Layer.Layer<never, never, unknown>>(
    (all, flow) => Layer.merge(all, Durable.layer(flow)),
    Layer.empty
  )
  const layer = registered.pipe(
    Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory)),
    Layer.provide(services.reduce<Layer.Layer<never, unknown>>((all, one) => Layer.merge(all, one), Layer.empty)),
    Layer.provide(Layer.succeed(FlowEvents, { publish }))
  )
  const program = Effect.gen(function* () {
    const id = yield* FlowExecutions.forkHistory(history, { from, ...defined({ input, version }) })
    const { execution, remedy, summary } = yield* restOf(id)
    const { error, result, state } = execution
    return { id, state, result, error, summary, remedy }
  })
  // The layer of the user has all services of the steps, or a step dies and names the missing one.
  return Effect.runPromise(Effect.provide(program, layer as Layer.Layer<FlowEngine, unknown>))
}
