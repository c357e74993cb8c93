/**
 * The flows of this program, of which it runs executions, by name and version.
 */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Tracer from "effect/Tracer"
import type { InvalidInput } from "../../FlowErrors.ts"
import type { Signal } from "../../Signals.ts"
import type { AnyState } from "../../States.ts"
import type { Start } from "../body/FlowType.ts"
import type { Body } from "../interpreter/Contract.ts"
import { type Execution, type Limit, type RegisteredVersion, versionName } from "../model/Execution.ts"
import type { Codec } from "../model/Values.ts"

/** A registered flow. */
export interface Registered extends RegisteredVersion {
  readonly signals: ReadonlyArray<Signal<Codec>>
  readonly states: ReadonlyArray<AnyState>
  readonly limits: ReadonlyArray<Limit>
  /** Returns what a new execution with this input has, or why its schema refuses it. */
  readonly startOf: (input: Schema.Json, key: string | undefined) => Effect.Effect<Start, InvalidInput>
  readonly bodyOf: (execution: Pick<Execution, "id" | "input">, span: Tracer.AnySpan) => Body
}

export const make = () => {
  const flows = new Map<string, Registered>()
  return {
    get: (name: string): Registered | undefined => flows.get(name),
    has: (name: string): boolean => flows.has(name),
    /** Returns the newest version of a flow. */
    newest: (name: string): Registered | undefined =>
      [...flows.values()].filter(({ flow }) => flow === name).sort((one, other) => other.version - one.version)[0],
    /** Whether it runs new executions of a version too. */
    takes: (name: string): boolean => flows.has(name) && flows.get(name)?.drain !== true,
    versions: (): ReadonlyArray<RegisteredVersion> =>
      [...flows.values()].map(({ drain, flow, version }) =>
        drain === true ? { flow, version, drain } : { flow, version }
      ),
    add: (flow: Registered) => void flows.set(versionName(flow), flow),
    /** Returns false when the version was registered again since. */
    remove: (flow: Registered): boolean => flows.get(versionName(flow)) === flow && flows.delete(versionName(flow))
  }
}

export type RegisteredFlows = ReturnType<typeof make>
