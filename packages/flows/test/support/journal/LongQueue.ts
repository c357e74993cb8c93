/** What an admission costs when much is queued. */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { Execution, Limit } from "../../../src/internal/model/Execution.ts"
import { begin, create, end, order, orders, type TheJournal } from "./Bench.ts"
import type { Process } from "./Held.ts"

const each = (keyed: boolean, concurrency: number): Limit => ({ keyed, concurrency, rate: null })
const rate: Limit = { keyed: true, concurrency: null, rate: { count: 1_000, perMillis: 1_000 } }

/** The statements of an effect, in their order. */
export const statementsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const texts: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const attribute = span.attribute.bind(span)
      span.attribute = (key, value) => {
        if (key === "db.query.text" && typeof value === "string") texts.push(value)
        attribute(key, value)
      }
      return span
    }
  })
  const result = yield* Effect.provideService(effect, Tracer.Tracer, tracer)
  return { result, texts: texts.filter((text) => !/^\s*(BEGIN|COMMIT|ROLLBACK)/i.test(text)) }
})

const queue = (journal: TheJournal, from: number, to: number) =>
  Effect.forEach(
    Array.from({ length: to - from }, (_, n) => from + n),
    (n) =>
      create(
        journal,
        order(`${n}`, { state: "queued", wakeAt: null, limits: [null, `customer ${n % 1_000}`, `${n % 100}`] })
      ),
    { concurrency: 16, discard: true }
  )

/** The number of executions that have begun. */
const running = 400

/** Ends the one that was begun first, and admits the next. */
const turn = Effect.fnUntraced(function* (journal: TheJournal, under: Array<Execution>) {
  const first = under.shift()
  assert(first !== undefined)
  yield* end(journal, first, begin)
  const { executions } = yield* journal.admit("me", orders, 1)
  assert.lengthOf(executions, 1)
  under.push(...executions)
})

/** `explain` returns the plan of a statement whose parameters are not known. */
export const longQueue = (
  open: Effect.Effect<Process, never, Scope.Scope>,
  explain: (process: Process, statement: string) => Effect.Effect<ReadonlyArray<string>>
) =>
  it.live("an admission from many that are queued has the statements of one from 100, and each uses an index", () =>
    Effect.gen(function* () {
      const process = yield* open
      const { journal, sql } = process
      yield* journal.limit(orders, [each(false, running), each(true, 1), rate])
      yield* queue(journal, 0, running + 100)
      const under: Array<Execution> = []
      while (under.length < running) under.push(...(yield* journal.admit("me", orders, 100)).executions)
      const few = yield* statementsOf(turn(journal, under))
      yield* queue(journal, running + 100, sized(500, 10_000))
      // As the database does by itself, sooner or later.
      yield* sql`ANALYZE`
      for (let turns = 0; turns < 20; turns++) yield* turn(journal, under)
      const many = yield* statementsOf(turn(journal, under))
      assert.isAbove(many.texts.length, 5)
      assert.isAtMost(many.texts.length, few.texts.length)
      for (const text of new Set(many.texts)) {
        const plan = yield* explain(process, text)
        // The other tables have only executions that have begun: a database may read a small one whole.
        const scans = plan.filter((line) => /\b(SCAN|Seq Scan on) flow_(run|lane)\b/.test(line))
        assert.deepStrictEqual(scans, [], text)
        // The order of a lane is that of an index.
        const sorts = plan.filter((line) => text.includes("COALESCE(priority") && /TEMP B-TREE|\bSort\b/.test(line))
        assert.deepStrictEqual(sorts, [], text)
      }
    }).pipe(Effect.scoped)
  )
