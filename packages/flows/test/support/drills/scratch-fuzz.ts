/** scratch */
import { startServer } from "@signalbox/testkit/Postgres"
import { connect, createServer, type Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import { QueryDeadline } from "@signalbox/sql/QueryDeadline"
const server = await startServer()
const target = new URL(server.url)
let uncaught = 0
process.on("uncaughtException", (e) => { uncaught++; console.log("UNCAUGHT", e?.stack?.slice(0, 800)) })
process.on("unhandledRejection", (e: any) => { uncaught++; console.log("UNHANDLED", e?.stack?.slice(0, 800)) })
const sockets = new Set<Socket>()
let chaos = false
const random = (n: number) => Math.floor(Math.random() * n)
const proxy = createServer((client) => {
  const up = connect({ host: "127.0.0.1", port: Number(target.port) })
  sockets.add(client)
  const kind = !chaos ? 99 : random(Number(process.env['ODDS'] ?? 6))
  const after = random(40)
  const cut = () => { if (kind === 0) client.resetAndDestroy(); else if (kind === 1) client.destroy(); else if (kind === 2) client.end() ; up.destroy() }
  if (kind < 3) setTimeout(cut, after)
  let bytes = 0
  const most = kind === 3 ? random(600) : Infinity
  client.on("data", (c) => up.write(c))
  up.on("data", (c) => { bytes += c.length; client.write(c); if (bytes > most) { client.resetAndDestroy(); up.destroy() } })
  client.on("error", () => {}); up.on("error", () => {})
  client.on("close", () => { up.destroy(); sockets.delete(client) }); up.on("close", () => client.destroy())
}).listen(0, "127.0.0.1")
await new Promise((r) => proxy.once("listening", r))
target.hostname = process.env["HOSTNAME_"] ?? "127.0.0.1"
target.port = String((proxy.address() as any).port)
const one = Effect.gen(function* () {
  const sql = yield* SqlClient
  chaos = true
  yield* Effect.forEach(Array.from({ length: 400 }, (_, i) => i), (i) => {
    const work = i % 3 === 0 ? sql.withTransaction(Effect.andThen(sql`SELECT 1`, sql`SELECT pg_sleep(0.01)`)) : i % 3 === 1 ? sql`SELECT pg_sleep(${Math.random() / 20})` : sql`SELECT ${i}`
    return work.pipe(Effect.timeout(5 + random(60)), Effect.exit)
  }, { concurrency: 30, discard: true })
}).pipe(Effect.provide(PostgresClient.layer({ url: Redacted.make(target.href), schema: "fuzz" })), Effect.provideService(QueryDeadline, "300 millis"), Effect.timeout("4 seconds"), Effect.exit)
const until = Date.now() + Number(process.env["SECONDS"] ?? 40) * 1000
let rounds = 0, errs = new Map<string, number>()
while (Date.now() < until) { chaos = false; const e: any = await Effect.runPromise(one); rounds++; const k = String(e).slice(0, 100); errs.set(k, (errs.get(k) ?? 0) + 1) }
console.log({ rounds, uncaught }, errs)
await server.remove()
process.exit(0)
