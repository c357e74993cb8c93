/**
 * The queues of a process: for which of its flows an execution may be admitted, and when.
 */
import * as Effect from "effect/Effect"
import { type Execution, type FlowVersion, type Limit, versionName } from "../model/Execution.ts"
import { type Journal } from "../journal/Journal.ts"

export const make = (journal: Journal["Service"]) => {
  const limited = new Map<string, FlowVersion>()
  /** Flows of which an execution was queued or has ended since their last admission. */
  const open = new Set<string>()
  const times = new Map<string, number>()

  return {
    register: (flow: FlowVersion, limits: ReadonlyArray<Limit>) =>
      Effect.map(journal.limit(flow, limits), (isLimited) => {
        if (!isLimited) return
        limited.set(versionName(flow), flow)
        open.add(versionName(flow))
      }),
    forget: (flow: FlowVersion) => {
      for (const known of [limited, open, times]) known.delete(versionName(flow))
    },
    /** Marks one flow or all: an execution may be admitted. Returns whether a queue for it exists. */
    changed: (flow?: string): boolean => {
      const names = [...limited].filter(([, known]) => flow === undefined || known.flow === flow)
      for (const [name] of names) open.add(name)
      return names.length > 0
    },
    /** Returns when a rate admits the next execution. */
    nextAt: (): number => Math.min(Infinity, ...times.values()),
    /** Admits at most `most` executions, those of older versions first, since no new ones of these are submitted. */
    admit: Effect.fnUntraced(function* (process: string, most: number, now: number) {
      const admitted: Array<Execution> = []
      const due = [...limited].filter(([name]) => open.has(name) || (times.get(name) ?? Infinity) <= now)
      for (const [name, flow] of due.sort(([, one], [, other]) => one.version - other.version)) {
        if (admitted.length >= most) break
        open.delete(name)
        const { executions, more, next } = yield* journal.admit(process, flow, most - admitted.length)
        admitted.push(...executions)
        if (more) open.add(name)
        if (next === null) times.delete(name)
        else times.set(name, next)
      }
      return admitted
    })
  }
}

export type Queues = ReturnType<typeof make>
