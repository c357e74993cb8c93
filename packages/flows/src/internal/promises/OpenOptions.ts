/**
 * The options of `openFlows`, and the engine that they describe.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { FlowValues } from "../../FlowValues.ts"
import { FlowEngine, type FlowEngineError, type RetainOptions, type SharedOptions } from "../../FlowEngine.ts"

interface Common<R> {
  /** The flows of this program: those of `defineFlow`, and `{ layer: Flow.layer(flow) }` for others. */
  readonly flows: ReadonlyArray<{ readonly layer: Layer.Layer<never, never, R> }>
  /**
   * Flows of which this program only continues the executions that have begun: those of `defineFlow`, and
   * `{ draining: Flow.layer(flow, { drain: true }) }` for others. `submit` and `execute` of them reject with `FlowDraining`, unless another
   * living program takes new ones. Default: none.
   */
  readonly drain?: ReadonlyArray<{ readonly draining: Layer.Layer<never, never, R> }> | undefined
  /** The largest number of executions in memory; default 1,000. Not for `memory`. */
  readonly concurrency?: number
  /** How long executions are retained after their end: by default 30 days, and 90 days when they failed. Not for `memory`. */
  readonly retain?: RetainOptions
  /** Encrypts values in the database: `FlowValues.aes`. Not for `memory`. */
  readonly values?: FlowValues
}

/** The storage of executions: a SQLite file, Postgres, or memory, for tests. */
type Storage =
  | { readonly file: string }
  | ({ readonly url: string; readonly schema?: string } & SharedOptions)
  | { readonly memory: true }

export type OpenOptions<R> = Common<R> &
  Storage &
  ([Exclude<R, FlowEngine>] extends [never]
    ? { readonly layer?: undefined }
    : {
        /** The services of steps that are defined with Effect. */
        readonly layer: Layer.Layer<Exclude<R, FlowEngine>, unknown>
      })

type Settings = Pick<Common<never>, "concurrency" | "retain" | "values">

const engineOf = (options: Storage & Settings): Layer.Layer<FlowEngine, FlowEngineError> => {
  const { concurrency, retain, values } = options
  const limits = { concurrency, retain, values }
  if ("file" in options) return FlowEngine.layerSqlite({ file: options.file, ...limits })
  if ("memory" in options) return Layer.fresh(FlowEngine.layerMemory)
  const { leaseThread, schema, stallLimit, url } = options
  return FlowEngine.layerPostgres({
    url: Redacted.make(url),
    ...limits,
    stallLimit,
    leaseThread,
    ...defined({ schema })
  })
}

/** Unset variables arrive as `undefined` from programs without types, and as empty strings. */
const checked = <R>(options: OpenOptions<R>): OpenOptions<R> => {
  const there = (["file", "url", "memory"] as const).filter((name) => name in options)
  const [name] = there
  if (name === undefined || there.length > 1) {
    throw new TypeError("openFlows: needs one of `file` (SQLite), `url` (Postgres) and `memory: true`")
  }
  if (!Object.entries(options).some(([key, value]) => key === name && Boolean(value))) {
    throw new TypeError(`openFlows: \`${name}\` is empty`)
  }
  return options
}

/** Returns the engine with the flows of the program. Throws a `TypeError` when the options are invalid. */
export const layerOf = <R>(options: OpenOptions<R>): Layer.Layer<FlowEngine, unknown> => {
  const { drain = [], flows, layer } = checked(options)
  const storage: Storage & Settings = options
  // The overload without a layer accepts only flows without services.
  const services = (layer ?? Layer.empty) as Layer.Layer<Exclude<R, FlowEngine>, unknown>
  const layers = [...flows.map((flow) => flow.layer), ...drain.map(({ draining }) => draining)]
  const registered = layers.reduce<Layer.Layer<never, never, R>>((all, one) => Layer.merge(all, one), Layer.empty)
  return registered.pipe(Layer.provideMerge(engineOf(storage)), Layer.provide(services))
}
