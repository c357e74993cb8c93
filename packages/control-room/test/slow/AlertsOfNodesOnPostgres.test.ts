/**
 * Two nodes check alerts and send their messages, while one of them, at random, is killed again and again: every firing is
 * told at least once, always with one id, and its end by one message. `SIGNALBOX_ALERTS_SEED` repeats the choices of a run.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, it } from "@effect/vitest"
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as Alerts from "@signalbox/api/Alerts"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Processes from "@signalbox/api/Processes"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized } from "@signalbox/testkit/Soak"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Child from "../support/Child.ts"
import { chooser } from "../support/Fuzz.ts"
import { receiver } from "../support/Receiver.ts"
import { temporaryFolder } from "../support/Service.ts"

const kills = sized(1, 60)
/** Alerts that begin and end all the time. */
const watched = sized(3, 12)

const options = Config.all({
  seed: Config.withDefault(Config.Int("SIGNALBOX_ALERTS_SEED"), Date.now() % 1_000_000)
})

it.live(`every firing is told, its end too, over kills of one of two nodes: ${kills}`, () =>
  Effect.gen(function* () {
    const { seed } = yield* options
    yield* Effect.logInfo(`SIGNALBOX_ALERTS_SEED=${seed}`)
    const choose = chooser(seed)
    const target = yield* receiver
    const folder = yield* temporaryFolder
    const start = Child.start(folder, undefined, { SIGNALBOX_TEST_ALERTS: "fast" })
    const nodes = [yield* start, yield* start]

    /** Asks a node that may be killed meanwhile, so what is asked has the same result when it is asked again. */
    const ask = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) =>
      Effect.suspend(() => {
        const node = nodes[choose.below(nodes.length)] ?? assert.fail("no node")
        return Effect.provide(effect, node.client)
      }).pipe(Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 400 }))
    const until = <A, E>(effect: Effect.Effect<A, E, ControlRoom>, holds: (value: A) => boolean) =>
      Effect.repeat(Effect.delay(ask(effect), "100 millis"), { until: holds })

    const prepare = Effect.fnUntraced(function* (n: number) {
      const name = `alert ${n}`
      const process = yield* Processes.create({ name, steps: [{ name: "only", task: { name: "nobody" } }] })
      const settings = { type: "webhook", url: `${target.origin}/${n}` } as const
      const channel = yield* AlertChannels.create({ name, settings })
      const rule = { type: "queue_above", process: { id: process.id }, items: 1 } as const
      const alert = yield* Alerts.create({ name, rule, channels: [{ id: channel.id }], gather_seconds: 0 })
      // Some nodes are killed while they wait for this.
      const path = `/${n}`
      yield* target.on(path, (received) => void setTimeout(() => received.answer(200), choose.below(400)))
      return { alert: alert.id, process: process.id, path }
    })
    const made = yield* Effect.forEach(
      Array.from({ length: watched }, (_, n) => n),
      prepare
    ).pipe(Effect.provide(nodes[0]?.client ?? assert.fail("no node")))
    type Made = (typeof made)[number]

    const running = { current: true }
    const firing = ({ alert }: Made) => Effect.map(Alerts.get(alert), (view) => view.firing)
    /** Lets an alert begin and end until the drill is over; returns how often it did. */
    const toggle = Effect.fnUntraced(function* (one: Made) {
      let rounds = 0
      while (running.current) {
        const items = WorkItems.stream({ process: one.process })
        const fill = Effect.flatMap(Stream.runCollect(items), ({ length }) =>
          length > 1 ? Effect.void : Effect.asVoid(WorkItems.createMany({ process: one.process, payloads: [1, 2] }))
        )
        const empty = Effect.flatMap(Stream.runCollect(items), (all) =>
          all.length === 0 ? Effect.void : Effect.asVoid(WorkItems.remove(all.map(({ id }) => id)))
        )
        yield* ask(fill)
        yield* until(firing(one), (count) => count === 1)
        yield* ask(empty)
        yield* until(firing(one), (count) => count === 0)
        rounds++
      }
      return rounds
    })
    const toggling = yield* Effect.forkChild(Effect.forEach(made, toggle, { concurrency: "unbounded" }))

    for (let kill = 0; kill < kills; kill++) {
      yield* Effect.sleep(300 + choose.below(1_500))
      const index = choose.below(nodes.length)
      yield* nodes[index]?.kill ?? assert.fail("no node")
      nodes[index] = yield* start
    }
    running.current = false
    const rounds = yield* Fiber.join(toggling)

    let told = 0
    let again = 0
    for (const [index, one] of made.entries()) {
      const pending = Effect.map(Stream.runCollect(Alerts.messages(one.alert)), (all) =>
        all.filter(({ state }) => state !== "delivered")
      )
      yield* until(pending, ({ length }) => length === 0)
      const firings = yield* ask(Stream.runCollect(Alerts.firings({ alert: one.alert })))
      assert.lengthOf(firings, rounds[index] ?? 0)
      const received = target.at(one.path).map(({ body, headers }) => {
        const event: Alerts.AlertEvent = JSON.parse(body.toString())
        assert.strictEqual(headers["webhook-id"], event.id)
        return event
      })
      for (const { id, state } of firings) {
        assert.strictEqual(state, "over")
        // What waits for a channel at the same time is one message, which names the firings that it is about.
        const about = received.flatMap(({ firing, firings = [], id: message, type }) =>
          (firings.length > 0 ? firings : firing === null ? [] : [{ ...firing, type }])
            .filter((one) => one.id === id)
            .map((one) => ({ message, type: one.type }))
        )
        // However often each of the two arrived, and however many nodes had it. A firing that was over before its begin was
        // sent is told once: it is over.
        const types = [...new Set(about.map(({ type }) => type))].toSorted()
        assert.includeDeepMembers([["alert.began", "alert.over"], ["alert.over"]], [types], `seed ${seed}`)
        assert.strictEqual(about.at(-1)?.type, "alert.over")
        told += new Set(about.map(({ message }) => message)).size
        again += about.length - new Set(about.map(({ message }) => message)).size
      }
      assert.lengthOf(received, received.filter(({ firing }) => firings.some(({ id }) => id === firing?.id)).length)
    }
    yield* Effect.logInfo(`${kills} kills, ${told} messages told, ${again} of them again with the same id`)
    assert.isAtLeast(told, watched)
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)
