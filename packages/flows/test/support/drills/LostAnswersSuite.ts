/**
 * Responses that are lost, or never arrive: however the execution continues, each POST is executed once.
 */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Effects from "./Effects.ts"
import { expected, type Kind, kindOf, kinds } from "./Family.ts"
import * as Local from "./Local.ts"
import type { Order, Plan } from "./Orders.ts"
import * as Processes from "./Processes.ts"
import { isAtEnd, statesOf, verdict } from "./Verdict.ts"

/** On what the drill runs: in memory, or a process on a store. */
export type Place = "memory" | Effect.Effect<Plan["store"], never, Scope.Scope>

const executions = sized(2, 20) * kinds.length

/**
 * Without a retry, a call that gets no answer in a branch that has lost has failed: nobody knows of its effect, so nobody
 * undoes it.
 */
const answeredKindOf = (n: number): Kind => {
  const kind = kindOf(n)
  return kind === "broken" || kind === "race" || kind === "timed" ? "fan" : kind
}

/** Executions that are run again beside each other. */
const mostUnderWay = 32

type Asked = Pick<Processes.Process, "ask">

/** A program on a place, and the same place after a restart with other code. */
const begin = Effect.fnUntraced(function* (place: Place, more: Partial<Plan>, kindAt: (n: number) => Kind = kindOf) {
  const effects = yield* Effects.start
  const store = place === "memory" ? { file: ":memory:" } : yield* place
  const plan = Processes.planOf({ store, effects: effects.url, timeoutMillis: sized(300, 1_000), ...more })
  let process: Asked = { ask: () => Effect.die(new Error("not started")) }
  let kill: Effect.Effect<unknown> = Effect.void
  const run = Effect.fnUntraced(function* (changed: Partial<Plan>) {
    yield* kill
    if (place === "memory") {
      process = yield* Local.start({ ...plan, ...changed })
      return
    }
    const started = yield* Processes.start({ ...plan, ...changed })
    kill = started.kill
    process = started
  })
  yield* run({})
  const anyone = () => process
  const ask = (order: Order) => process.ask(order)
  // The signal comes with the start: an execution whose first step got no answer may have failed before another call.
  const submitAll = Effect.forEach(
    Array.from({ length: executions }, (_, n) => n),
    (n) => {
      const kind = kindAt(n)
      return ask({ do: "submit", n, kind, ...(kind === "signal" ? { value: `value ${n}` } : {}) })
    },
    { concurrency: "unbounded", discard: true }
  )
  return { effects, anyone, ask, run, submitAll, total: executions }
})

const retryOf = (n: number, version: number | null = null): Order => ({ do: "retry", n, from: null, version })

export const lostAnswersSuite = (name: string, place: Place) => {
  const isMemory = place === "memory"
  /** The first response for each effect is lost, or never arrives. */
  const losing = (effects: Effects.Effects) => {
    const known = new Set<string>()
    // What is done again under another key is answered: else two that fail by turns would never come to an end.
    effects.fault = ({ n, name, undo }) => {
      const one = `${n} ${name} ${undo}`
      if (known.has(one)) return "none"
      known.add(one)
      return known.size % 2 === 0 ? "lost" : "hung"
    }
  }
  const test = (title: string, effect: Effect.Effect<void, unknown, Scope.Scope>) =>
    it.live(`${name}: ${title}`, () => Effect.scoped(effect))
  const inEnd = (n: number) => expected[kindOf(n)]

  test(
    "answers that are lost or hang are asked for again, and each POST is executed once",
    Effect.gen(function* () {
      const { anyone, effects, submitAll, total } = yield* begin(place, {})
      losing(effects)
      yield* submitAll
      yield* verdict({ name: `${name}, retried by itself`, effects, anyone, total, expectedOf: inEnd })
      assert.isAtLeast(effects.arrived.length, 2 * effects.executed.length)
    })
  )

  test(
    "suspended and resumed while answers hang, each POST is executed once",
    Effect.gen(function* () {
      const { anyone, ask, effects, submitAll, total } = yield* begin(place, {})
      losing(effects)
      yield* submitAll
      const suspended = new Set<number>()
      for (let round = 0; round < 8; round++) {
        yield* Effect.sleep("150 millis")
        const states = yield* statesOf(anyone)
        for (const [n, { state }] of states) {
          // An execution that has ended in between refuses.
          if (state === "suspended") yield* Effect.ignore(ask({ do: "resume", n }))
          else if ((n + round) % 2 === 0) {
            suspended.add(n)
            yield* Effect.ignore(ask({ do: "suspend", n }))
          }
        }
      }
      // A suspend takes effect when the step that runs has ended, so one may still come.
      for (let open = total; open > 0;) {
        const states = [...(yield* statesOf(anyone))]
        open = states.filter(([, { state }]) => !isAtEnd(state)).length
        for (const [n, { state }] of states) if (state === "suspended") yield* Effect.ignore(ask({ do: "resume", n }))
        yield* Effect.sleep("100 millis")
      }
      yield* verdict({ name: `${name}, suspended`, effects, anyone, total, expectedOf: inEnd })
      assert.isAbove(suspended.size, 0)
    })
  )

  /** Retries and resumes executions that failed or halted because of lost responses, until all have succeeded. */
  const bringToEnd = Effect.fnUntraced(function* (anyone: () => Asked, total: number, order: (n: number) => Order) {
    let retries = 0
    for (let round = 0; ; round++) {
      const states = yield* statesOf(anyone)
      const open = [...states].filter(([, { state }]) => state !== "completed" && state !== "failed")
      // What the body refuses by itself is the end that was planned.
      const wanting = [...states].filter(([, { failure, state }]) => state === "failed" && failure !== "Refused")
      const halted = [...states].filter(([, { state }]) => state === "halted")
      if (open.length + wanting.length === 0 && states.size === total) return retries
      if (round > sized(600, 6_000)) return assert.fail(JSON.stringify([...open, ...wanting].slice(0, 10)))
      // All together they would delay each other beyond their timeouts, again and again.
      const again = wanting.slice(0, Math.max(mostUnderWay - open.length, 0))
      for (const [n] of again) yield* Effect.ignore(anyone().ask(order(n)))
      for (const [n] of halted) yield* Effect.ignore(anyone().ask({ do: "resume", n }))
      retries += again.length + halted.length
      yield* Effect.sleep("50 millis")
    }
  })

  for (const [title, version] of [
    ["retried", null],
    ["retried with a new version", 2]
  ] as const) {
    test(
      `steps that fail for want of an answer and are ${title} execute each POST once`,
      Effect.gen(function* () {
        const { anyone, effects, run, submitAll, total } = yield* begin(place, { retry: "never" }, answeredKindOf)
        losing(effects)
        yield* submitAll
        // An engine in memory has no other deployment.
        if (version !== null && !isMemory) yield* run({ retry: "never", version, alsoBefore: true })
        const retries = yield* bringToEnd(anyone, total, (n) => retryOf(n, isMemory ? null : version))
        yield* verdict({
          name: `${name}, ${title} ${retries} times`,
          effects,
          anyone,
          total,
          expectedOf: (n) => expected[answeredKindOf(n)],
          retried: true
        })
        assert.isAbove(retries, 0)
      })
    )
  }

  if (isMemory) return
  test(
    "a restart while answers hang executes each POST once",
    Effect.gen(function* () {
      const { anyone, effects, run, submitAll, total } = yield* begin(place, {})
      losing(effects)
      yield* submitAll
      for (let restart = 0; restart < sized(2, 20); restart++) {
        yield* Effect.sleep("250 millis")
        yield* run({})
      }
      yield* verdict({ name: `${name}, restarted`, effects, anyone, total, expectedOf: inEnd })
    })
  )

  test(
    "a deployment that does not fit halts, and the next one that fits goes on by itself: each POST once",
    Effect.gen(function* () {
      const { anyone, effects, run, submitAll, total } = yield* begin(place, {})
      losing(effects)
      yield* submitAll
      yield* Effect.sleep("100 millis")
      yield* run({ more: "before" })
      let halted = 0
      // On Postgres the build before is counted on until its lease has ended.
      while (halted < total) {
        yield* Effect.sleep("100 millis")
        halted = [...(yield* statesOf(anyone))].filter(([, { state }]) => state === "halted").length
      }
      yield* run({})
      // The new build reopens them in the background.
      const what = `${name}, ${halted} halted by a deployment`
      yield* verdict({ name: what, effects, anyone, total, expectedOf: inEnd, resumes: true })
    })
  )
}
