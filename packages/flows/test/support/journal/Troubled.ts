/**
 * Processes that work on one database while that is in trouble, and what must be there afterwards.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import { until } from "../Polling.ts"
import {
  create,
  entry,
  historyOf,
  idsOf,
  order,
  orders,
  register,
  signal,
  succeeded,
  type TheJournal,
  write
} from "./Bench.ts"
import type { Process } from "./Held.ts"

const steps = 3

/** Executions that are run between two troubles. */
const pace = 12

/** Runs one execution to its end as an owner does: a write for the begin and the end of each step, and then its own. */
const run = Effect.fnUntraced(function* (journal: TheJournal, id: string, epoch: number) {
  for (let n = 0; n < steps; n++) {
    const before = n === 0 ? [] : [succeeded(`s${n - 1}`, 2 * n - 1)]
    const begun = entry(`s${n}`, { begun: 2 * n + 1 })
    yield* journal.write({ id, epoch }, write({ entries: [...before, begun] }))
  }
  const last = succeeded(`s${steps - 1}`, 2 * steps - 1)
  const over = { state: "completed", result: id, owner: null, wakeAt: null, endedAt: 1 } as const
  yield* journal.write({ id, epoch }, write({ entries: [last], execution: over }))
})

/** Claims what there is, and runs it, until there is nothing any more. */
const worker = Effect.fnUntraced(function* (
  journal: TheJournal,
  process: string,
  runs: Map<string, number>,
  isOver: Effect.Effect<boolean>
) {
  while (true) {
    const last = yield* isOver
    const claimed = yield* journal.claim(process, [orders], yield* journal.now, 3)
    if (claimed.length === 0 && last) return
    if (claimed.length === 0) yield* Effect.sleep("5 millis")
    for (const { epoch, id } of claimed) {
      runs.set(id, (runs.get(id) ?? 0) + 1)
      yield* run(journal, id, epoch)
    }
  }
})

/** Does `trouble` so often, while the processes create, send to, claim and run executions. */
export const troubled = Effect.fnUntraced(function* (
  processes: ReadonlyArray<Process>,
  trouble: Effect.Effect<unknown>,
  times: number
) {
  let stopping = false
  const goesOn = () => !stopping
  let done = 0
  const created = new Map<string, number>()
  const runs = new Map<string, number>()
  const client = ({ journal }: Process, process: number, lane: number) =>
    Effect.gen(function* () {
      for (let n = 0; goesOn(); n++) {
        // Each process creates each of them.
        const answer = yield* journal.create(order(`shared ${lane} ${n}`, { wakeAt: 1 }))
        assert(answer._tag !== "Expired")
        const { id } = answer.execution
        if (answer._tag === "Created") created.set(id, (created.get(id) ?? 0) + 1)
        for (const signalled of ["x", "y"]) {
          const { outcome } = yield* journal.send(id, signal(signalled))
          assert.include(["sent", "repeated", "ended"], outcome)
        }
        const mine = yield* create(journal, order(`own ${process} ${lane} ${n}`, { owner: "born" }))
        yield* run(journal, mine.id, mine.epoch)
        assert.isTrue(yield* journal.swap(mine.id, null, n))
        done++
      }
    })
  yield* Effect.forEach(processes, ({ journal }, n) => register(journal, `process ${n}`), { discard: true })
  let failures = 0
  const counting = Logger.layer([Logger.make(() => failures++)])
  const each = <E>(work: (process: Process, n: number) => Effect.Effect<void, E>) =>
    Effect.forEach(processes, work, { concurrency: "unbounded", discard: true }).pipe(
      Effect.provide(counting),
      Effect.forkScoped
    )
  const clients = yield* each((process, n) =>
    Effect.forEach([1, 2, 3], (lane) => client(process, n, lane), { concurrency: "unbounded", discard: true })
  )
  const isOver = Effect.sync(() => clients.pollUnsafe() !== undefined)
  const workers = yield* each(({ journal }, n) => worker(journal, `process ${n}`, runs, isOver))
  for (let n = 1; n <= times; n++) {
    yield* until(Effect.sync(() => done >= n * pace))
    yield* trouble
  }
  yield* until(Effect.sync(() => done >= (times + 1) * pace))
  stopping = true
  yield* Fiber.join(clients)
  yield* Fiber.join(workers)

  const [first] = processes
  assert(first !== undefined)
  const { journal } = first
  const all = yield* journal.list({ limit: 100_000 })
  assert.isAtLeast(all.length, times * pace)
  assert.isAbove(failures, 0)
  for (const execution of all) {
    assert.deepInclude(execution, { state: "completed", result: execution.id, owner: null })
    const history = yield* historyOf(journal, execution.id)
    assert.deepStrictEqual(
      history.entries,
      Array.from({ length: steps }, (_, n) => succeeded(`s${n}`, 2 * n + 1))
    )
    assert.deepStrictEqual(
      history.messages.map(({ seq }) => seq),
      Array.from({ length: execution.mail }, (_, n) => n + 1)
    )
  }
  const shared = idsOf(all.filter(({ key }) => key.startsWith("shared"))).sort()
  for (const counts of [created, runs]) {
    assert.deepStrictEqual([...counts.keys()].sort(), shared)
    assert.deepStrictEqual(new Set(counts.values()), new Set([1]))
  }
})
