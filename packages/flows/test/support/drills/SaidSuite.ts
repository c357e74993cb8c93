/**
 * Processes that are killed while their executions set states, append to feeds and answer requests: nothing is said twice or missed, and
 * no request is answered twice.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { fileURLToPath } from "node:url"
import type { Plan } from "./Orders.ts"
import * as Processes from "./Processes.ts"
import { requests, rounds, type SaidOrder, SaidPage, type SaidPlan } from "./Said.ts"

interface Options {
  readonly name: string
  readonly store: Effect.Effect<Plan["store"], never, Scope.Scope>
  readonly processes: number
  readonly kills: number
}

const script = fileURLToPath(new URL("said-process.ts", import.meta.url))
const decodePage = Schema.decodeUnknownSync(SaidPage)
/** A process that is stopped releases its executions between two of their steps. */
const kindsOfDeath = ["before a write", "stop", "after a write", "time"] as const

const range = (count: number) => Array.from({ length: count }, (_, n) => n)
const starting = (lines: ReadonlyArray<string>, ...words: ReadonlyArray<string>) =>
  lines.filter((line) => words.some((word) => line.startsWith(word)))

/** What is to be said of the work. */
const worked = range(rounds).flatMap((n) => [`begins ${n}`, `ends ${n}`])
/** What is said by its steps. */
const ticksOf = range(Math.max(rounds, requests)).map((n) => `ticks ${n}`)

export const saidSuite = ({ kills, name, processes, store }: Options) =>
  it.live(`${name}: ${kills} kills double and lose nothing of what executions say and answer`, () =>
    Effect.gen(function* () {
      const plan: SaidPlan = { store: yield* store, leaseMillis: 1_000 }
      const start = Processes.startScript<SaidOrder>(script, plan)
      const fleet = yield* Effect.forEach(range(processes), () => start)
      let turn = 0
      const anyone = () => fleet[turn++ % fleet.length] ?? assert.fail("there is no process")
      const ask = Effect.fnUntraced(function* (order: SaidOrder) {
        for (;;) {
          const exit = yield* Effect.exit(anyone().ask(order))
          if (Exit.isSuccess(exit)) return exit.value
          yield* Effect.sleep("50 millis")
        }
      })

      const answersOf = (n: number) =>
        Effect.forEach(range(requests), (one) => ask({ do: "request", n, id: `${n}.${one}` }), { concurrency: 3 })
      const watched = Effect.fnUntraced(function* (n: number) {
        const items: Array<(typeof SaidPage.Type)["items"][number]> = []
        for (let after = 0; ;) {
          const page = decodePage(yield* ask({ do: "next", n, after }))
          items.push(...page.items)
          if (page.ended) return items
          after = page.cursor
        }
      })
      /** One execution, from its start to its end, over all kills. */
      const life = Effect.fnUntraced(function* (n: number) {
        yield* ask({ do: "submit", n })
        const [answers, items] = yield* Effect.all([answersOf(n), watched(n)], { concurrency: 2 })
        assert.deepStrictEqual(yield* answersOf(n), answers, "a repeated request gets the same answer")
        assert.deepStrictEqual(
          [...answers].map(Number).toSorted((one, other) => one - other),
          range(requests)
        )
        const lines = items.flatMap(({ name, value }) => (name === "lines" ? [String(value)] : []))
        assert.deepStrictEqual(starting(lines, "begins", "ends"), worked)
        // A step that is killed says it again.
        const ticks = starting(lines, "ticks")
        assert.isAtLeast(ticks.length, rounds + requests)
        assert.sameMembers([...new Set(ticks)], ticksOf)
        assert.deepStrictEqual(
          items.map(({ cursor }) => cursor),
          [...new Set(items.map(({ cursor }) => cursor))].toSorted((one, other) => one - other)
        )
        const said = starting(lines, "asked", "answered")
        const expected = range(requests).flatMap((by) => {
          const id = `${n}.${answers.indexOf(by)}`
          return [`asked ${id}`, `answered ${id} by ${by}`]
        })
        assert.deepStrictEqual(said, expected)
        assert.strictEqual(lines.at(-1), "done")
        const states = items.flatMap(({ name, value }) => (name === "progress" ? [Number(value)] : []))
        assert.deepStrictEqual(
          states,
          [...new Set(states)].toSorted((one, other) => one - other)
        )
        assert.strictEqual(states.at(-1), rounds)
      })

      let next = 0
      for (let killed = 0; killed < kills; killed++) {
        const slot = killed % processes
        const victim = fleet[slot] ?? assert.fail("there is no process")
        const lives = yield* Effect.forkChild(
          Effect.forEach(range(4), () => life(next++), { concurrency: "unbounded", discard: true })
        )
        const at = kindsOfDeath[killed % kindsOfDeath.length] ?? "time"
        if (at === "time" || at === "stop") {
          yield* Effect.sleep(20 + ((killed * 37) % 150))
          yield* victim.signal(at === "stop" ? "SIGTERM" : "SIGKILL")
          yield* victim.ended
        } else {
          yield* Effect.ignore(victim.ask({ do: "die", at, count: 3 + ((killed * 7) % 40) }))
          const ended = yield* Effect.timeoutOption(victim.ended, "3 seconds")
          if (ended._tag === "None") yield* victim.kill
        }
        fleet[slot] = yield* start
        yield* Fiber.join(lives)
      }
    }).pipe(Effect.scoped)
  )
