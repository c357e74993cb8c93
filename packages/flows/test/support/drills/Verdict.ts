/**
 * Waits until all executions have ended, and compares what is recorded with the effects that were counted.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { type Effects, type Expected, wrongWith } from "./Effects.ts"
import type { Process as WholeProcess } from "./Processes.ts"

type Process = Pick<WholeProcess, "ask">

const States = Schema.Array(Schema.Tuple([Schema.String, Schema.String, Schema.String]))
const decodeStates = Schema.decodeUnknownEffect(States)

/** State and failure of each execution, by its number. */
export const statesOf = (anyone: () => Process) =>
  Effect.gen(function* () {
    for (;;) {
      const exit = yield* Effect.exit(anyone().ask({ do: "states" }))
      if (Exit.isSuccess(exit)) {
        const states = yield* Effect.orDie(decodeStates(exit.value))
        return new Map(states.map(([key, state, failure]) => [Number(key), { state, failure }]))
      }
      yield* Effect.sleep("50 millis")
    }
  })

/** Nothing more happens by itself, and nothing that was asked for is still to come. */
export const isAtEnd = (state: string) => ["completed", "failed", "cancelled", "halted"].includes(state)

interface Options {
  readonly name: string
  readonly effects: Effects
  readonly anyone: () => Process
  /** How many executions were submitted. */
  readonly total: number
  readonly expectedOf: (n: number, state: string) => Expected
  /** Whether they were retried after their end. */
  readonly retried?: boolean
  /** Whether halted executions continue automatically. */
  readonly resumes?: boolean
}

/** The time after which an execution counts as stuck, also on a busy machine. */
const longestStandstillMillis = 60_000

/** Waits until all have ended, and returns their states. */
export const settled = Effect.fnUntraced(function* ({
  anyone,
  total,
  resumes = false
}: Pick<Options, "anyone" | "total" | "resumes">) {
  const isOver = (state: string) => isAtEnd(state) && !(resumes && state === "halted")
  let fewest = Infinity
  let since = Date.now()
  for (;;) {
    const states = yield* statesOf(anyone)
    const open = [...states].filter(([, { state }]) => !isOver(state))
    if (states.size === total && open.length === 0) return states
    if (open.length < fewest) {
      fewest = open.length
      since = Date.now()
    }
    if (Date.now() > since + longestStandstillMillis) {
      const stuck = yield* Effect.forEach(open.slice(0, 3), ([n]) => Effect.exit(anyone().ask({ do: "history", n })))
      return assert.fail(
        `${states.size} of ${total} are there, ${open.length} have not ended: ` +
          JSON.stringify({ open: open.slice(0, 20), stuck })
      )
    }
    yield* Effect.sleep("100 millis")
  }
})

export const verdict = Effect.fnUntraced(function* ({ effects, expectedOf, name, retried, ...options }: Options) {
  const states = yield* settled(options)
  const wrong = [...states].flatMap(([n, { failure, state }]) =>
    wrongWith(effects, n, state, expectedOf(n, state), retried).map((text) =>
      state === "halted" || text.includes(" is ") ? `${text} (${failure})` : text
    )
  )
  assert.deepStrictEqual(wrong, [])
  yield* Effect.logInfo(`${name}: executions ended`, {
    executions: states.size,
    executed: effects.executed.length,
    sent: effects.arrived.length,
    undone: effects.executed.filter(({ undo }) => undo).length
  })
  return states
})

const Steps = Schema.Struct({
  steps: Schema.Array(Schema.Struct({ path: Schema.String, state: Schema.String, value: Schema.Json }))
})

/** Values that were used outside without being those that are recorded. */
export const drawn = Effect.fnUntraced(function* (effects: Effects, anyone: () => Process, total: number) {
  const wrong: Array<string> = []
  for (let n = 0; n < total; n++) {
    const { steps } = yield* Effect.orDie(
      Effect.flatMap(anyone().ask({ do: "history", n }), Schema.decodeUnknownEffect(Steps))
    )
    const recorded = new Set(steps.map(({ value }) => value))
    for (const { name, used } of effects.arrived.filter((post) => post.n === n)) {
      if (!recorded.has(used)) wrong.push(`${n}: ${name} used ${used}, which is not recorded`)
    }
  }
  return wrong
})
