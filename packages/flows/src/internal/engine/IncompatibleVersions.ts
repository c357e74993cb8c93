/**
 * Builds that refuse an execution, because its record does not fit their code: it is halted once all that are registered have
 * refused it, and reopened when a new one is registered.
 */
import * as Effect from "effect/Effect"
import { reopened } from "../model/Commands.ts"
import { type HaltedFailure, isRefused } from "../interpreter/Halts.ts"
import { type Execution, type FlowVersion, versionName, type Write } from "../model/Execution.ts"
import { type Journal } from "../journal/Journal.ts"

/** The number of halted executions that are read together. */
const reopenedAtATime = 100

export const make = (journal: Journal["Service"], wakeClaims: () => void) => {
  /** The name of the value with the processes that have refused an execution. */
  const refusedName = (id: string) => `refused ${id}`

  /**
   * Records that this process has refused an execution, which may fit the body of another build. `seen` is the last message that was
   * read.
   */
  const refused = Effect.fnUntraced(function* (
    self: string,
    { flow, id, version }: Execution,
    failure: HaltedFailure,
    seen: number
  ): Effect.fn.Return<Write> {
    const now = yield* journal.now
    const others = (yield* journal.processes).filter(
      (process) =>
        process.id !== self && process.flows.some((known) => known.flow === flow && known.version === version)
    )
    const known = yield* journal.read(refusedName(id))
    const all = [...new Set([...(Array.isArray(known) ? known : []), self])]
    const isLast = others.every((process) => all.includes(process.id))
    yield* journal.swap(refusedName(id), known, isLast ? null : all)
    return {
      execution: isLast
        ? { state: "halted", owner: null, wakeAt: null, failure }
        : { state: "waiting", owner: null, wakeAt: now + 1_000, failure },
      entries: [],
      undos: [],
      taken: [],
      seen
    }
  })

  /** Deletes earlier refusals, because this build fits. */
  const fitted = Effect.fnUntraced(function* (id: string) {
    const known = yield* journal.read(refusedName(id))
    if (known !== null) yield* journal.swap(refusedName(id), known, null)
  })

  const reopen = Effect.fnUntraced(function* (id: string) {
    const now = yield* journal.now
    yield* journal.change(id, ({ execution }) => Effect.succeed(isRefused(execution) ? reopened(execution, now) : null))
  })

  /** Versions whose halted executions are being reopened, with those that callers have awaited since. */
  const reopening = new Map<string, Set<string>>()

  /** Reopens the executions that older builds have refused, because they may fit this one. There may be any number of them. */
  const reopenAll = ({ flow, version }: FlowVersion) =>
    Effect.gen(function* () {
      reopening.set(versionName({ flow, version }), new Set())
      let before: Execution | undefined
      do {
        const page = { flow, version, states: ["halted"], limit: reopenedAtATime } as const
        const halted = yield* journal.list(before === undefined ? page : { ...page, before })
        for (const execution of halted) if (isRefused(execution)) yield* reopen(execution.id)
        before = halted.length < reopenedAtATime ? undefined : halted.at(-1)
        wakeClaims()
      } while (before !== undefined)
    }).pipe(
      Effect.catchDefect((defect) =>
        Effect.logWarning(
          `halted executions of ${versionName({ flow, version })} could not be reopened: resume them`,
          defect
        )
      ),
      Effect.ensuring(Effect.sync(() => reopening.delete(versionName({ flow, version }))))
    )

  /** Reopens an awaited execution that was halted by older builds before its turn; returns whether it did. */
  const reopenedFirst = Effect.fnUntraced(function* (execution: Execution) {
    const first = reopening.get(versionName(execution))
    if (first === undefined || first.has(execution.id) || !isRefused(execution)) return false
    first.add(execution.id)
    yield* reopen(execution.id)
    wakeClaims()
    return true
  })

  return { refused, fitted, reopenAll, reopenedFirst }
}

export type IncompatibleVersions = ReturnType<typeof make>
