/**
 * Rolling deployments over three processes: with two versions of a flow, and with one whose body has a step more. No submit
 * waits for the old processes to end, and nothing halts.
 */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Effects from "./Effects.ts"
import { expected, kindOf } from "./Family.ts"
import type { Plan } from "./Orders.ts"
import * as Processes from "./Processes.ts"
import { postgres } from "./Stores.ts"
import { isAtEnd, statesOf, verdict } from "./Verdict.ts"

const rounds = sized(1, 10)

/** Three processes under a steady stream of submits. */
const begin = Effect.fnUntraced(function* (cluster: boolean) {
  const effects = yield* Effects.start
  // The steps of a process that ends take a while.
  effects.meanwhile = ({ n }, phase) =>
    new Promise((resolve) => setTimeout(resolve, phase === "arrived" && n % 5 === 0 ? 1_200 : 10))
  const plan = Processes.planOf({ store: yield* postgres, effects: effects.url, cluster })
  const fleet: Array<Processes.Process> = [
    ...(yield* Effect.all([Processes.start(plan), Processes.start(plan), Processes.start(plan)], { concurrency: 3 }))
  ]
  let turn = 0
  const anyone = () => fleet[turn++ % fleet.length] ?? assert.fail()
  let total = 0
  let ending = 0
  let whileEnding = 0
  let longest = 0
  let isOver = false
  const goesOn = () => !isOver
  const submitting = yield* Effect.forkChild(
    Effect.gen(function* () {
      while (goesOn()) {
        const n = total++
        const since = Date.now()
        yield* Processes.askAny({ do: "submit", n, kind: kindOf(n) }, anyone)
        longest = Math.max(longest, Date.now() - since)
        if (ending > 0) whileEnding++
        yield* Effect.sleep("20 millis")
      }
    })
  )
  /** Puts a process in the place of one, which then ends in peace, or is killed. */
  const replace = Effect.fnUntraced(function* (slot: number, changed: Partial<Plan>, how: "SIGTERM" | "SIGKILL") {
    const started = yield* Processes.start({ ...plan, ...changed })
    const before = fleet[slot] ?? assert.fail()
    fleet[slot] = started
    ending++
    yield* before.signal(how)
    yield* Effect.forkChild(
      Effect.andThen(
        before.ended,
        Effect.sync(() => {
          ending--
        })
      )
    )
    // The next one begins while this one still ends.
    yield* Effect.sleep("500 millis")
  })
  let signalled = 0
  /** Sends the signals that the executions so far wait for. */
  const signal = Effect.gen(function* () {
    for (const until = total; signalled < until; signalled++) {
      if (kindOf(signalled) !== "signal") continue
      yield* Processes.askAny({ do: "signal", n: signalled, value: `value ${signalled}` }, anyone)
    }
  })
  /** Waits for the end of the executions so far: a version that no process runs any more must not have any left. */
  const drain = Effect.gen(function* () {
    const until = total - 1
    yield* signal
    for (;;) {
      const open = [...(yield* statesOf(anyone))].filter(([n, { state }]) => n < until && !isAtEnd(state))
      if (open.length === 0) return
      yield* Effect.sleep("100 millis")
    }
  })
  const finish = Effect.fnUntraced(function* (name: string) {
    isOver = true
    yield* Fiber.join(submitting)
    yield* signal
    yield* verdict({ name, effects, anyone, total, expectedOf: (n) => expected[kindOf(n)] })
    assert.isAbove(whileEnding, 0)
    yield* Effect.logInfo(`${name}: ${whileEnding} submits while old processes ended, the longest took ${longest} ms`)
  })
  const noneHalted = Effect.gen(function* () {
    const states = [...(yield* statesOf(anyone))].filter(([, { state }]) => state === "halted")
    assert.deepStrictEqual(states, [])
  })
  return { fleet, replace, drain, finish, noneHalted }
})

export const versionsSuite = (name: string, cluster: boolean) =>
  it.live(`${name}: two versions: the new one takes over while the old one ends`, () =>
    Effect.gen(function* () {
      const { drain, finish, fleet, noneHalted, replace } = yield* begin(cluster)
      for (let round = 0; round < rounds; round++) {
        for (const slot of fleet.keys()) {
          yield* replace(slot, { version: 2 + round, alsoBefore: true }, "SIGTERM")
          yield* noneHalted
        }
        // The next round has this version and the one after it alone.
        if (round + 1 < rounds) yield* drain
      }
      yield* finish(`${name}, two versions`)
    }).pipe(Effect.scoped)
  )

export const stepMoreSuite = (name: string, cluster: boolean) =>
  it.live(
    `${name}: one version with a step more at its end: executions that one build refuses continue in the other`,
    () =>
      Effect.gen(function* () {
        const { finish, noneHalted, replace } = yield* begin(cluster)
        for (let round = 0; round < rounds; round++) {
          // New, old again, and new: what the new build began comes to the old one, and back.
          for (const [slot, more, how] of [
            [0, "after", "SIGTERM"],
            [0, "after", "SIGTERM"],
            [1, "after", "SIGTERM"],
            [1, "after", "SIGKILL"],
            [2, "after", "SIGTERM"]
          ] as const) {
            yield* replace(slot, { more }, how)
            yield* noneHalted
          }
          if (round + 1 < rounds) for (const slot of [0, 1, 2]) yield* replace(slot, { more: "after" }, "SIGTERM")
        }
        yield* finish(`${name}, a step more`)
        yield* noneHalted
      }).pipe(Effect.scoped)
  )
