/**
 * Schedules of several processes on one journal, some of which are killed: on any journal, in virtual or in real time.
 */
import { assert, describe, it } from "@effect/vitest"
import type { DefinitionInput } from "@signalbox/schedule/Definition"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowSchedules from "../../src/FlowSchedules.ts"
import { type Execution, hasEnded } from "../../src/internal/model/Execution.ts"
import { type Journal } from "../../src/internal/journal/Journal.ts"
import * as Row from "../../src/internal/schedules/Row.ts"
import { journalOf, start, type Started } from "./Processes.ts"

export interface Ground<E> {
  /** Names it in the titles. */
  readonly name: string
  readonly journal: Layer.Layer<Journal, E>
  /** Whether the time of the journal is the virtual one of the test; else `pass` sleeps. */
  readonly virtual: boolean
  /** Lets time pass. */
  readonly pass: (millis: number) => Effect.Effect<void>
  /** At so many of its calls, one after the other, a process is killed that is alone. */
  readonly points: number
  /** How long the processes run while others are killed. */
  readonly seconds: number
  /** Random numbers of each test begin with one of these. */
  readonly seeds: ReadonlyArray<number>
}

/** Numbers from 0 up to 1 that a seed decides. */
const numbersOf = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Of processes whose calls are not delayed. */
const never = () => 1

const work = Flow.step("work", {
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  run: () => Effect.void
})

/** Every third takes longer than the pause to the next one. */
const flow = Flow.make("each second", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: String,
  run: Effect.fnUntraced(function* (at) {
    yield* work(at)
    yield* Flow.sleep("rest", (at / 1_000) % 3 === 0 ? 1_500 : 100)
  })
})

const name = "each second"
const scheduleOf = (definition: Partial<DefinitionInput>) =>
  FlowSchedules.layer(flow, {
    name,
    cron: "* * * * * *",
    input: ({ epochMilliseconds }) => epochMilliseconds,
    ...definition
  }).pipe(Layer.provide(Flow.layer(flow)))

/** Reads what became of the occurrences, which the row remembers for a while, and fails when one has two ends. */
const observer = (journal: Journal["Service"]) => {
  const seen = new Map<number, Row.Outcome>()
  const look = Effect.gen(function* () {
    const row = yield* Row.read(journal, name)
    const counts = new Map<number, number>()
    for (const outcome of row?.recent ?? []) {
      if (outcome.reason === null && outcome.outcome === "skipped") assert.fail(`a span is not listed: ${outcome.why}`)
      counts.set(outcome.at, (counts.get(outcome.at) ?? 0) + 1)
      const before = seen.get(outcome.at)
      if (before !== undefined) assert.deepStrictEqual(outcome, before)
      seen.set(outcome.at, outcome)
    }
    assert.deepStrictEqual(
      [...counts].filter(([, count]) => count > 1),
      []
    )
  })
  return { look, seen }
}

/** All executions, by the time of their occurrence. */
const executionsOf = (journal: Journal["Service"]) =>
  Effect.map(
    journal.list({ flow: flow.name, limit: 10_000 }),
    (all) => new Map(all.map((execution) => [Date.parse(execution.key.slice(name.length + 1)), execution]))
  )

/** Each occurrence has begun, as its one execution, or was skipped and says why; none is left out. */
const check = (seen: ReadonlyMap<number, Row.Outcome>, executions: ReadonlyMap<number, Execution>) => {
  const times = [...seen.keys()].toSorted((a, b) => a - b)
  const [first = 0] = times
  assert.deepStrictEqual(
    times,
    times.map((_, index) => first + index * 1_000)
  )
  const started = times.filter((at) => seen.get(at)?.outcome === "started")
  assert.deepStrictEqual(
    [...executions.keys()].toSorted((a, b) => a - b),
    started
  )
  for (const [at, { execution, outcome, why }] of seen) {
    assert.strictEqual(execution, outcome === "started" ? executions.get(at)?.id : null)
    assert.strictEqual(why === null, outcome === "started")
  }
}

/** No execution began before the previous one had ended. One that was stopped immediately began and ended at one time. */
const checkApart = (executions: ReadonlyMap<number, Execution>) => {
  const all = [...executions.values()].toSorted(
    (a, b) => a.startedAt - b.startedAt || (a.endedAt ?? Infinity) - (b.endedAt ?? Infinity)
  )
  for (const [index, { startedAt }] of all.entries()) {
    const before = all[index - 1]
    if (before !== undefined) assert.isAtLeast(startedAt, before.endedAt ?? Infinity)
  }
}

const policies: ReadonlyArray<Partial<DefinitionInput>> = [
  { overlap: "allow", missed: "all" },
  { overlap: "allow", missed: "last" },
  { overlap: "skip", missed: "last" },
  { overlap: "queue", missed: "all", queue: 3 },
  { overlap: "stop", missed: "last" }
]

/** Whether all that was begun has ended, and nothing is left to begin. */
const isOver = Effect.fnUntraced(function* (journal: Journal["Service"]) {
  const row = yield* Row.read(journal, name)
  const executions = yield* executionsOf(journal)
  const isDone = row !== null && row.wakeAt === null && row.starting.length === 0 && row.state.queue.length === 0
  return isDone && [...executions.values()].every(({ state }) => hasEnded(state))
})

export const suite = <E>({ journal: store, name: ground, pass, points, seconds, seeds, virtual }: Ground<E>) => {
  const run = virtual ? it.effect : it.live

  /** A schedule that ends, what a test does in between, and what must hold at the end. */
  const test = (
    title: string,
    definition: Partial<DefinitionInput>,
    lasting: number,
    body: (
      startOne: (random: () => number) => Effect.Effect<Started>,
      passing: (millis: number) => Effect.Effect<void>
    ) => Effect.Effect<void>
  ) =>
    run(title, () =>
      Effect.gen(function* () {
        const journal = yield* journalOf(store)
        const observed = observer(journal)
        const passing = (millis: number) => Effect.andThen(pass(millis), observed.look)
        const until = new Date((yield* journal.now) + lasting * 1_000).toISOString()
        const schedule = scheduleOf({ ...definition, until })
        yield* body((random) => start(journal, schedule, random), passing)
        for (let waits = 0; waits < 240 && !(yield* isOver(journal)); waits++) yield* passing(250)
        assert.isTrue(yield* isOver(journal))
        const executions = yield* executionsOf(journal)
        check(observed.seen, executions)
        assert.isAtLeast(observed.seen.size, lasting - 1)
        if (definition.overlap !== "allow") checkApart(executions)
      })
    )

  describe(`schedules of several processes: ${ground}`, () => {
    for (const definition of policies) {
      for (const seed of seeds) {
        const title = `begin each occurrence once or say why not while processes are killed: ${definition.overlap} ${definition.missed}, seed ${seed}`
        test(title, definition, seconds, (startOne, passing) =>
          Effect.gen(function* () {
            const random = numbersOf(seed)
            const living = [yield* startOne(random), yield* startOne(random)]
            let next = 4
            for (let tick = 0; tick < seconds * 4; tick++) {
              if (tick === next) {
                const [killed] = living.splice(Math.floor(random() * living.length), 1)
                killed?.die({ afterCalls: Math.floor(random() * 12), answerLost: random() < 0.5 })
                living.push(yield* startOne(random))
                next = tick + 4 + Math.floor(random() * 16)
              }
              yield* passing(250)
            }
          })
        )
      }
    }

    for (const answerLost of [false, true]) {
      for (let point = 0; point < points; point++) {
        const title = `begin each occurrence once when their only process dies at call ${point}, ${answerLost ? "which is" : "not"} carried out`
        test(title, { overlap: "queue", queue: 100, missed: "all" }, 8, (startOne, passing) =>
          Effect.gen(function* () {
            const first = yield* startOne(never)
            yield* passing(2_500)
            first.die({ afterCalls: point, answerLost })
            yield* passing(2_000)
            yield* startOne(never)
          })
        )
      }
    }
  })
}
