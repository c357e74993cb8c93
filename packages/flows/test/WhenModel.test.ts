/** Many executions with made-up starts, priorities and deadlines, against what a small model says of them. */
import { assert, describe, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Diary } from "./support/Flows.ts"
import { memory } from "./support/Running.ts"

const Job = Schema.Struct({ n: Schema.Finite, lane: Schema.NullOr(Schema.String), millis: Schema.Finite })

/** Writes when it began, and takes its time. */
const begin = Flow.step("begin", {
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (n) {
    yield* Diary.write(`${n} ${DateTime.toEpochMillis(yield* DateTime.now)}`)
  })
})

const run = Effect.fnUntraced(function* ({ millis, n }: typeof Job.Type) {
  yield* begin(n)
  yield* Flow.sleep("work", millis)
})

const members = { version: 1, input: Job, success: Schema.Void, error: Schema.Never, run } as const
const free = Flow.make("free", { ...members, idempotencyKey: ({ n }) => `${n}` })
/** One execution of a lane at a time. */
const limited = Flow.make("limited", {
  ...members,
  idempotencyKey: ({ n }) => `${n}`,
  limit: [{ key: ({ lane }) => lane ?? "", concurrency: 1 }]
})

/** A generator of numbers that a seed decides: mulberry32. */
const seeded = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

interface Given {
  readonly n: number
  readonly lane: string | null
  readonly millis: number
  readonly submittedAt: number
  /** When it may begin or enters its queue. */
  readonly readyAt: number
  readonly priority: number
  readonly deadlineAt: number
}

interface Expected {
  /** Null: it never begins. */
  readonly begins: number | null
  readonly ends: number
  readonly state: "completed" | "failed"
}

/** How one ends that begins at a time. */
const from = (begins: number, { deadlineAt, millis }: Given): Expected =>
  // A timer that is due with the deadline is before it.
  begins + millis <= deadlineAt
    ? { begins, ends: begins + millis, state: "completed" }
    : { begins, ends: deadlineAt, state: "failed" }

const never = ({ deadlineAt }: Given): Expected => ({ begins: null, ends: deadlineAt, state: "failed" })

/** What a lane does, which has one execution at a time: the largest priority first, then the earliest. */
const modelOf = (all: ReadonlyArray<Given>): ReadonlyMap<number, Expected> => {
  const expected = new Map<number, Expected>()
  const waiting = new Set(all)
  let freeAt = 0
  while (waiting.size > 0) {
    const earliest = [...waiting].reduce((least, { readyAt }) => Math.min(least, readyAt), Infinity)
    const at = Math.max(freeAt, earliest)
    for (const one of waiting) {
      if (one.deadlineAt > at) continue
      expected.set(one.n, never(one))
      waiting.delete(one)
    }
    const ready = [...waiting].filter(({ readyAt }) => readyAt <= at)
    const [next] = ready.sort((one, other) => other.priority - one.priority || one.readyAt - other.readyAt)
    if (next === undefined) continue
    const outcome = from(at, next)
    expected.set(next.n, outcome)
    waiting.delete(next)
    freeAt = outcome.ends
  }
  return expected
}

const pause = 1_000

describe("executions with starts, priorities and deadlines", () => {
  for (const seed of [1, 2, 3]) {
    it.effect(`begin and end as the model says (seed ${seed})`, () =>
      Effect.gen(function* () {
        const below = seeded(seed)
        const given: Array<Given> = []
        const ids = new Map<number, string>()
        let now = 0
        /** Times of their own, so that no two things of a lane are at once. */
        let unique = 0
        const time = (most: number) => below(most) * 10_000 + ++unique
        for (let n = 0; n < sized(150, 3_400); n++) {
          const lane = below(3) === 0 ? null : `lane ${below(sized(4, 60))}`
          const job = { n, lane, millis: time(900) }
          const after = below(2) === 0 ? time(4_000) : undefined
          const deadline = below(3) === 0 ? time(6_000) + 1 : undefined
          const priority = below(2) === 0 ? below(2_001) - 1_000 : undefined
          ids.set(n, yield* Flow.submit(lane === null ? free : limited, job, { after, deadline, priority }))
          const deadlineAt = deadline === undefined ? Infinity : now + deadline
          const readyAt = now + (after ?? 0)
          given.push({ ...job, submittedAt: now, readyAt, priority: priority ?? 0, deadlineAt })
          const passed = time(60)
          yield* TestClock.adjust(passed)
          now += passed
        }
        const lanes = Map.groupBy(given, ({ lane }) => lane)
        const expected = new Map<number, Expected>()
        for (const [lane, all] of lanes) {
          if (lane !== null) for (const [n, one] of modelOf(all)) expected.set(n, one)
          else
            for (const one of all)
              expected.set(one.n, one.deadlineAt <= one.readyAt ? never(one) : from(one.readyAt, one))
        }
        const last = [...expected.values()].reduce((most, { ends }) => Math.max(most, ends), now)
        yield* TestClock.adjust(last - now + pause)
        const begun = new Map((yield* Diary.read).map((line) => line.split(" ").map(Number) as [number, number]))
        for (const { n } of given) {
          const { endedAt, failure, state } = yield* FlowExecutions.get(ids.get(n) ?? "")
          assert.deepStrictEqual({ n, begins: begun.get(n) ?? null, ends: endedAt, state }, { n, ...expected.get(n) })
          assert.strictEqual(failure?.tag ?? null, state === "failed" ? "DeadlineExceeded" : null)
        }
      }).pipe(Effect.provide(Layer.provideMerge(Layer.merge(Flow.layer(free), Flow.layer(limited)), memory)))
    )
  }
})
