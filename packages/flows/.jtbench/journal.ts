import * as Effect from "effect/Effect"
import { layer } from "../src/internal/journal/Sqlite.ts"
import { Journal } from "../src/internal/journal/Journal.ts"
const entry = (n: number, state: string) => ({ path: `step ${n}`, attempt: 1, redo: 0, name: "step", kind: "step", input: { n }, state, value: state === "succeeded" ? { doubled: n } : null, failure: null, begun: 2 * n, ended: state === "succeeded" ? 2 * n + 1 : null, startedAt: 1e12, endedAt: state === "succeeded" ? 1e12 : null, due: null, subject: null, host: "host" }) as const
const cpu = (f: () => Promise<unknown>) => (async () => { const a = process.cpuUsage(); await f(); const b = process.cpuUsage(a); return (b.user + b.system) })()
const main = Effect.gen(function* () {
  const j: any = yield* Journal
  const fresh = (id: string) => ({ id, flow: "f", version: 1, key: id, input: { id }, tags: [], parent: null, limits: [], state: "running", owner: "me", wakeAt: 0, messages: [] })
  const run = (e: any) => Effect.runPromise(e)
  const out: Record<string, number> = {}
  const timed = function* (name: string, n: number, one: (k: number) => Effect.Effect<any, any>) {
    const loop = Effect.gen(function* () { for (let k = 0; k < n; k++) yield* one(k) })
    let best = Infinity
    for (let r = 0; r < 6; r++) { const t = yield* Effect.promise(() => cpu(() => run(loop))); best = Math.min(best, t / n) }
    out[name] = best
  }
  let i = 0
  yield* timed("create", 1500, () => j.create(fresh(`a${i++}`)))
  yield* j.create(fresh("w"))
  let n = 0
  yield* timed("write1", 1500, () => { n++; return j.write({ id: "w", epoch: 1 }, { execution: { state: "running" }, entries: [entry(n % 50, "succeeded")], undos: [], taken: [], seen: 0 }) })
  yield* timed("write2", 1500, () => { n++; return j.write({ id: "w", epoch: 1 }, { execution: { state: n % 2 ? "running" : "waiting", wakeAt: 5 }, entries: [entry(n % 50, "running"), entry(n % 50 + 50, "succeeded")], undos: [], taken: [], seen: 0 }) })
  yield* j.create(fresh("h"))
  yield* j.write({ id: "h", epoch: 1 }, { execution: {}, entries: Array.from({ length: 2000 }, (_, k) => entry(k, "succeeded")), undos: [], taken: [], seen: 0 })
  yield* timed("history2000", 20, () => j.history("h"))
  yield* timed("history0", 1500, () => j.history("a0"))
  yield* timed("find", 3000, () => j.find("a0"))
  yield* timed("list100", 100, () => j.list({ limit: 100 }))
  let m = 0
  yield* timed("send", 1000, () => j.send("a1", { kind: "signal", name: `s${m++}`, id: "", value: { m } }))
  yield* timed("change", 1000, () => j.change("a2", () => Effect.succeed({ execution: { state: "waiting", wakeAt: null }, aside: [], asideUndos: [], undos: [], taken: [] })))
  console.log(JSON.stringify(out))
})
await Effect.runPromise(Effect.provide(main as any, layer(":memory:") as any) as any)
