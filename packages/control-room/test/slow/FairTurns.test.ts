/**
 * One process floods, ten have an item now and then: for their results these wait at most twice as long as alone.
 *
 * The time is virtual: a worker takes ten seconds for an item, whatever the service takes.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import type { StoredProcess } from "../../src/internal/store/processes/Processes.ts"
import * as TurnsRoom from "../support/TurnsRoom.ts"

const slots = 4
const ofItem = 10_000
const horizon = sized(400_000, 1_000_000)

/** Numbers between 0 and 1, the same for the same seed. */
const random = (seed: number) => () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647

const p99 = (values: ReadonlyArray<number>) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? assert.fail("no values")

interface Event {
  readonly at: number
  readonly run: Effect.Effect<void>
}

/** How long the items of ten processes took from their start to their end, in milliseconds, beside a flood. */
const waits = Effect.fnUntraced(function* (
  flood: (room: Effect.Success<typeof TurnsRoom.make>, process: StoredProcess) => Effect.Effect<void>
) {
  const room = yield* TurnsRoom.make
  const since = new Map<string, Array<number>>()
  const waited: Array<number> = []
  const events: Array<Event> = []
  let free = slots
  let flooded = 0
  const take = Effect.fnUntraced(function* (at: number) {
    const hands = yield* room.at(at)(room.take(free))
    free -= hands.length
    for (const hand of hands) events.push({ at: at + ofItem, run: end(hand, at + ofItem) })
  })
  const end = (hand: TurnsRoom.Hand, at: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      const started = since.get(hand.process)?.shift()
      if (started === undefined) flooded++
      else waited.push(at - started)
      const next = yield* room.at(at)(room.next(hand))
      if (next !== null) return void events.push({ at: at + ofItem, run: end(next, at + ofItem) })
      free++
      yield* take(at)
    })
  yield* room.at(0)(flood(room, yield* room.process("flood", { parallel: 100 })))
  yield* take(0)
  const next = random(44)
  for (let number = 0; number < 10; number++) {
    const process = yield* room.process(`trickle ${number}`)
    since.set(process.view.id, [])
    // One in about fifty seconds each: together half of what the worker can do.
    for (let at = next() * 50_000; at < horizon; at += 25_000 + next() * 50_000) {
      const begun = Math.round(at)
      const run = Effect.gen(function* () {
        since.get(process.view.id)?.push(begun)
        yield* room.at(begun)(room.start(process))
        if (free > 0) yield* take(begun)
      })
      events.push({ at: begun, run })
    }
  }
  while (true) {
    events.sort((a, b) => b.at - a.at)
    const event = events.pop()
    if (event === undefined || event.at > horizon) break
    yield* event.run
  }
  return { waited, flooded }
})

withLayer(TurnsRoom.layer, { excludeTestServices: true, timeout: "8 minutes" })("ten processes", (it) => {
  const floods = {
    "a run with very many items": (room, process) => room.start(process, sized(2000, 100_000)),
    "very many runs with an item each": (room, process) =>
      Effect.forEach(Array.from({ length: sized(300, 1000) }), () => room.start(process), { discard: true })
  } satisfies Record<string, Parameters<typeof waits>[0]>
  for (const [name, flood] of Object.entries(floods)) {
    it.effect(`wait for their results at most twice as long beside ${name} as alone`, () =>
      Effect.gen(function* () {
        const alone = yield* waits(() => Effect.void)
        const beside = yield* waits(flood)
        assert.isAtLeast(alone.waited.length, 10)
        assert.isAtMost(p99(beside.waited), 2 * p99(alone.waited))
        // As many as beside nobody, and the flood has the rest of the worker.
        assert.isAtLeast(beside.waited.length, alone.waited.length - slots)
        assert.isAtLeast(beside.flooded + beside.waited.length, (slots * horizon) / ofItem - 2 * slots)
      })
    )
  }
})
