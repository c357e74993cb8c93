/**
 * Commands at random moments, over processes that are killed and deployed meanwhile: each execution ends as the table of commands says.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Command } from "../../../src/internal/model/Commands.ts"
import * as Seeded from "../simulation/Seeded.ts"
import { expectedOf } from "./CancelsSuite.ts"
import * as Model from "./CommandModel.ts"
import * as Effects from "./Effects.ts"
import { kindOf } from "./Family.ts"
import type { Order, Plan } from "./Orders.ts"
import * as Processes from "./Processes.ts"
import { settled, statesOf } from "./Verdict.ts"

interface Options {
  readonly name: string
  readonly store: Effect.Effect<Plan["store"], never, Scope.Scope>
  readonly processes: number
  readonly executions: number
  /** How many commands each execution gets. */
  readonly each: number
  /** How often a process is replaced, by a kill or by a deployment in turns. */
  readonly replaced: number
  readonly seed: number
}

const kinds = ["suspend", "resume", "suspend", "resume", "cancel", "terminate", "retry", "signal"] as const
/** These leave something to command. */
const gentle = ["suspend", "resume", "signal"] as const

const Described = Schema.Struct({
  steps: Schema.Array(
    Schema.Struct({ path: Schema.String, kind: Schema.String, attempt: Schema.Finite, state: Schema.String })
  )
})

interface Told {
  phases: ReadonlySet<Model.Phase>
  readonly commands: Array<string>
  /** Whether its effects are those of one that ended by itself or by a cancel. */
  isPlain: boolean
  isSignalled: boolean
  /** The attempts of steps that had begun when the last suspend was accepted; null: it was taken back. */
  begun: ReadonlySet<string> | null
}

export const commandsSuite = ({ each, executions, name, processes, replaced, seed, store }: Options) =>
  it.live(`${name}: ${executions * each} commands over ${executions} executions end as the table says`, () =>
    Effect.gen(function* () {
      const since = Date.now()
      const effects = yield* Effects.start
      effects.meanwhile = (_, phase) =>
        phase === "arrived" ? new Promise((resolve) => setTimeout(resolve, 30)) : undefined
      const place = yield* store
      const plan = Processes.planOf({ store: place, effects: effects.url })
      const fleet: Array<Processes.Process> = []
      for (let slot = 0; slot < processes; slot++) fleet.push(yield* Processes.start(plan))
      let turn = 0
      const anyone = () => fleet[turn++ % fleet.length] ?? assert.fail()
      /** Returns whether an order was accepted; null: it named nothing. It is sent again while the processes go. */
      const accepted = Effect.fnUntraced(function* (order: Order) {
        for (;;) {
          const exit = yield* Effect.exit(anyone().ask(order))
          if (Exit.isSuccess(exit)) return true
          const cause = JSON.stringify(exit.cause)
          if (cause.includes("has recorded no step")) return null
          if (cause.includes("Refusal")) return false
          yield* Effect.sleep("50 millis")
        }
      })
      const counts: Record<string, number> = {}
      const count = (what: string) => {
        counts[what] = (counts[what] ?? 0) + 1
      }
      const wrong: Array<string> = []
      const all: Array<Told> = []
      let sent = 0

      /** Those that have begun. One that its branch left before it could begin is recorded as interrupted. */
      const attemptsOf = (n: number) =>
        Processes.askAny({ do: "history", n }, anyone).pipe(
          Effect.flatMap(Schema.decodeUnknownEffect(Described)),
          Effect.orDie,
          Effect.map(({ steps }) =>
            steps
              .filter(({ kind, state }) => kind === "step" && state !== "retrying" && state !== "interrupted")
              .map(({ attempt, path }) => `${path}.${attempt}`)
          )
        )

      const command = Effect.fnUntraced(function* (n: number, told: Told, kind: (typeof kinds)[number]) {
        sent++
        if (kind === "signal") {
          count("signal")
          if (kindOf(n) === "signal" && !told.isSignalled) {
            told.isSignalled = (yield* accepted({ do: "signal", n, value: `value ${n}` })) === true
          }
          return
        }
        const id = `${sent}`
        const order: Order =
          kind === "retry" ? { do: "retry", n, from: "draw", version: null, id } : { do: kind, n, id }
        const before = told.phases
        const isAccepted = yield* accepted(order)
        if (isAccepted === null) {
          told.phases = Model.later(before)
          return count(`${kind} of nothing`)
        }
        count(`${kind} ${isAccepted ? "accepted" : "refused"}`)
        told.commands.push(`${kind} ${isAccepted ? "accepted" : "refused"}`)
        if (isAccepted) told.begun = kind === "suspend" ? new Set(yield* attemptsOf(n)) : null
        if (isAccepted && (kind === "terminate" || kind === "retry")) told.isPlain = false
        told.phases = Model.commanded(before, kind satisfies Command, isAccepted)
        if (told.phases.size === 0) {
          wrong.push(`${n}: ${told.commands.join(", ")}: not from ${[...before].join(" or ")}`)
          told.phases = new Set(["active", "suspended", "cancelling", "undoing", "completed", "failed", "cancelled"])
        }
      })

      const one = Effect.fnUntraced(function* (n: number) {
        const told: Told = { phases: new Set(["active"]), commands: [], isPlain: true, isSignalled: false, begun: null }
        all[n] = told
        const random = Seeded.make(seed).fork(`${n}`)
        yield* Processes.askAny({ do: "submit", n, kind: kindOf(n) }, anyone)
        for (let time = 0; time < each; time++) {
          yield* Effect.sleep(random.int(0, 120))
          yield* command(n, told, time + 1 < each && random.chance(0.6) ? random.pick(gentle) : random.pick(kinds))
        }
      })

      let isOver = false
      const goesOn = () => !isOver
      const replacing = Effect.gen(function* () {
        for (let time = 0; time < replaced && goesOn(); time++) {
          const isEarly = () => goesOn() && sent < ((time + 1) * executions * each) / (replaced + 1)
          while (isEarly()) yield* Effect.sleep("20 millis")
          const slot = time % processes
          const before = fleet[slot] ?? assert.fail()
          yield* before.signal(time % 2 === 0 ? "SIGKILL" : "SIGTERM")
          yield* before.ended
          fleet[slot] = yield* Processes.start(plan)
          count(time % 2 === 0 ? "kill" : "deployment")
        }
      })
      const numbers = Array.from({ length: executions }, (_, n) => n)
      yield* Effect.all(
        [
          Effect.ensuring(
            Effect.forEach(numbers, one, { concurrency: 32, discard: true }),
            Effect.sync(() => {
              isOver = true
            })
          ),
          replacing
        ],
        { concurrency: 2, discard: true }
      )

      // They come to rest: suspended, or at their end.
      yield* Effect.forEach(
        numbers.filter((n) => kindOf(n) === "signal" && all[n]?.isSignalled === false),
        (n) => accepted({ do: "signal", n, value: `value ${n}` }),
        { concurrency: 16, discard: true }
      )
      let atRest = yield* statesOf(anyone)
      const deadline = Date.now() + 120_000
      const open = () =>
        [...atRest].filter(([, { state }]) => !["suspended", "completed", "failed", "cancelled"].includes(state))
      while (open().length > 0 && Date.now() < deadline) {
        yield* Effect.sleep("200 millis")
        atRest = yield* statesOf(anyone)
      }
      for (const [n, { state }] of atRest) {
        const told = all[n] ?? assert.fail()
        if (!Model.mayRestIn(told.phases, state)) {
          wrong.push(`${n} (${kindOf(n)}): is ${state} after ${told.commands.join(", ")}`)
        }
        if (state !== "suspended") continue
        count("suspended at the end")
        for (const attempt of yield* attemptsOf(n)) {
          if (told.begun?.has(attempt) === false) wrong.push(`${n}: ${attempt} began after the suspend`)
        }
      }
      const rested = Date.now()
      yield* Effect.forEach(
        [...atRest].filter(([, { state }]) => state === "suspended"),
        ([n]) => accepted({ do: "resume", n }),
        { concurrency: 16, discard: true }
      )
      const states = yield* settled({ anyone, total: executions })
      for (const [n, { state }] of states) {
        count(`ended ${state}`)
        if (all[n]?.isPlain === true) wrong.push(...Effects.wrongWith(effects, n, state, expectedOf(n, state)))
      }
      yield* Effect.logInfo(`${name}: commands`, {
        seed,
        ...counts,
        seconds: Math.round((Date.now() - since) / 1_000),
        ended: Math.round((Date.now() - rested) / 1_000)
      })
      assert.deepStrictEqual(wrong, [], `seed ${seed}`)
    }).pipe(Effect.scoped)
  )
