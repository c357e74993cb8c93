/** Calls with a limit, and programs that end, while their Postgres is down, no longer responds, or responds too late. */
import { assert, describe, it } from "@effect/vitest"
import { startProxy, type TcpProxy } from "@signalbox/testkit/TcpProxy"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import type { AwayOrder } from "../support/drills/Away.ts"
import { printed } from "../support/drills/BusySuite.ts"
import * as Processes from "../support/drills/Processes.ts"
import { postgres } from "../support/drills/Stores.ts"

const script = fileURLToPath(new URL("../support/drills/away-process.ts", import.meta.url))

const away: Readonly<Record<string, (proxy: TcpProxy) => void>> = {
  down: ({ refuse }) => refuse(),
  "half open": ({ freeze }) => freeze(),
  slow: ({ delay }) => delay(20_000)
}

const Answer = Schema.Struct({ outcome: Schema.String, isLate: Schema.Boolean, millis: Schema.Finite })

/** A process whose Postgres is behind a proxy, with an execution that waits for a signal. */
const started = Effect.gen(function* () {
  const store = yield* postgres
  const url = new URL(store.url)
  const proxy = yield* Effect.acquireRelease(
    Effect.promise(() => startProxy({ host: url.hostname, port: Number(url.port) })),
    ({ close }) => Effect.promise(close)
  )
  url.port = String(proxy.port)
  const process = yield* Processes.startScript<AwayOrder>(script, { url: url.href, schema: store.schema })
  const ask = (order: AwayOrder) => Effect.flatMap(process.ask(order), Schema.decodeUnknownEffect(Answer))
  yield* ask({ do: "submit", n: 0, millis: -1, by: "nobody" })
  return { process, proxy, ask }
})

/** The time that a program has to end, beside its steps. */
const endsWithin = (process: Pick<Processes.Process, "signal" | "ended" | "output">, seconds: number) =>
  Effect.gen(function* () {
    yield* process.signal("SIGTERM")
    const ended = yield* Effect.raceFirst(process.ended, Effect.as(Effect.sleep(seconds * 1_000), "still there"))
    assert.strictEqual(ended, 130, process.output())
  })

const names = ["submit", "execute", "signal", "list"] as const

for (const [name, leave] of Object.entries(away)) {
  describe(`a Postgres that is ${name}`, () => {
    it.live("ends calls at their limit, and says whether they were sent", () =>
      Effect.gen(function* () {
        const { ask, proxy } = yield* started
        leave(proxy)
        const callsBy = (by: AwayOrder["by"], first: number) =>
          Effect.forEach(
            names,
            (name, index) => ask({ do: name, n: name === "signal" ? 0 : first + index, millis: 0, by }),
            { concurrency: "unbounded" }
          )
        const limited = yield* callsBy("limit", 10)
        assert.deepStrictEqual(
          limited.map(({ isLate }) => isLate),
          names.map(() => false)
        )
        for (const { outcome } of limited) assert.match(outcome, /^limit (no|maybe)$/)
        // Those that only read, or have found no connection.
        assert.strictEqual(limited[3]?.outcome, "limit no")
        // Nothing leaves a process that cannot connect, once it has used its connections up.
        if (name === "down") assert.strictEqual((yield* callsBy("limit", 30))[0]?.outcome, "limit no")
        const interrupted = yield* callsBy("interruption", 20)
        assert.deepStrictEqual(
          interrupted.map(({ isLate, outcome }) => [isLate, outcome.includes("TimeoutError")]),
          names.map(() => [false, true])
        )
      }).pipe(Effect.scoped)
    )

    it.live("does not keep an idle program from ending", () =>
      Effect.gen(function* () {
        const { process, proxy } = yield* started
        leave(proxy)
        yield* endsWithin(process, 15)
      }).pipe(Effect.scoped)
    )

    it.live("does not keep a program from ending whose step runs longer than its grace", () =>
      Effect.gen(function* () {
        const { ask, process, proxy } = yield* started
        yield* ask({ do: "submit", n: 1, millis: 600_000, by: "nobody" })
        yield* printed([process], "begun")
        leave(proxy)
        yield* endsWithin(process, 20)
      }).pipe(Effect.scoped)
    )
  })
}

it.live("a call that was not answered is carried out when it arrived", () =>
  Effect.gen(function* () {
    const { ask, process, proxy } = yield* started
    // Leaves connections that are free.
    yield* Effect.forEach(Array.from({ length: 10 }), () => ask({ do: "list", n: 0, millis: 0, by: "nobody" }), {
      concurrency: "unbounded"
    })
    proxy.delay(3_000)
    const { outcome } = yield* ask({ do: "submit", n: 1, millis: 0, by: "limit" })
    assert.strictEqual(outcome, "limit maybe")
    proxy.thaw()
    yield* printed([process], "begun")
  }).pipe(Effect.scoped)
)
