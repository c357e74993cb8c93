/**
 * Which ring of keys an execution has: it is in its sealed input, and remembered of those that this process writes.
 */
import * as Effect from "effect/Effect"
import type { FlowValues } from "../../FlowValues.ts"
import * as Envelope from "../model/Envelope.ts"
import type { Execution } from "../model/Execution.ts"

/** How many executions are remembered. */
const most = 10_000

type Stored = Pick<Execution, "id" | "flow" | "input">

const make = (values: FlowValues, find: (id: string) => Effect.Effect<Stored | null>) => {
  const known = new Map<string, string>()

  /** Returns the ring of an execution as it is stored. The input of one that was stored plain chooses it. */
  const note = ({ flow, id, input }: Stored): string => {
    const before = known.get(id)
    if (before !== undefined) return before
    const ring = Envelope.isSealed(input) ? Envelope.partsOf(input).ring : values.ringOf({ flow, input })
    const [oldest] = known.size < most ? [] : known.keys()
    if (oldest !== undefined) known.delete(oldest)
    known.set(id, ring)
    return ring
  }

  /** Null: the execution does not exist. */
  const of = (id: string): Effect.Effect<string | null> => {
    const ring = known.get(id)
    return ring === undefined
      ? Effect.map(find(id), (execution) => (execution === null ? null : note(execution)))
      : Effect.succeed(ring)
  }

  /** Called when the input of an execution was replaced. */
  const forget = (id: string) => void known.delete(id)

  return { note, of, forget }
}

export const Rings = { make }
