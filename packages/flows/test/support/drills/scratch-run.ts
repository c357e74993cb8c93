import { startProxy } from "@signalbox/testkit/TcpProxy"
import { startServer } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import * as Processes from "./Processes.ts"
const script = fileURLToPath(new URL("./away-process.ts", import.meta.url))
const modes = (process.env["MODES"] ?? "down,half,slow").split(",")
const whats = (process.env["WHAT"] ?? "calls").split(",")
let count = 0
const one = (dbUrl: string, mode: string, state: string) =>
  Effect.gen(function* () {
    const url = new URL(dbUrl)
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => startProxy({ host: url.hostname, port: Number(url.port || 5432) })),
      ({ close }) => Effect.promise(() => { setTimeout(() => {}, 0); return close() }).pipe(Effect.timeoutOption(1000))
    )
    url.hostname = "127.0.0.1"
    url.port = String(proxy.port)
    const child: any = yield* Processes.startScript<any>(script, { url: url.href, schema: `s${count++}` })
    yield* child.ask({ do: "submit", n: 0, millis: -1, limit: null })
    if (state.startsWith("busy")) {
      yield* child.ask({ do: "submit", n: 1, millis: Number(state.slice(4)), limit: null })
      yield* child.ask({ do: "submit", n: 2, millis: Number(state.slice(4)), limit: null })
    }
    yield* Effect.sleep("500 millis")
    if (mode === "down") proxy.refuse()
    if (mode === "half") proxy.freeze()
    if (mode === "slow") proxy.delay(20_000)
    yield* Effect.sleep(Number(process.env["PAUSE"] ?? 300))
    if (state === "calls") {
      for (let round = 0; round < 2; round++) {
        const results = yield* Effect.all(
          ["submit", "execute", "signal", "list"].map((name, i) =>
            child.ask({ do: name, n: name === "signal" ? 0 : 10 + i + round * 10, millis: 10, limit: 2000, plain: round === 1 }).pipe(
              Effect.raceFirst(Effect.as(Effect.sleep(40_000), "over 40 s")),
              Effect.map((v) => [name, v] as const),
              Effect.catch((e: any) => Effect.succeed([name, "gone " + e.output]))
            )
          ),
          { concurrency: "unbounded" }
        )
        console.log(mode, round, JSON.stringify(results))
      }
    } else {
      const begun = performance.now()
      yield* child.signal("SIGTERM")
      const code = yield* Effect.raceFirst(child.ended, Effect.as(Effect.sleep(120_000), "never"))
      console.log(mode, state, "SIGTERM", Math.round(performance.now() - begun), code)
    }
    if (process.env["OUT"]) console.log(child.output().slice(-2500))
  }).pipe(Effect.scoped)
const server = await startServer()
await Effect.runPromise(
  Effect.forEach(
    modes.flatMap((mode) => whats.map((what) => [mode, what] as const)),
    ([mode, what]) => one(server.url, mode, what),
    { concurrency: Number(process.env["PAR"] ?? 1), discard: true }
  )
)
await server.remove()
process.exit(0)
