/** `signalbox flows schedules` against a program with durable flows. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as Flow from "@signalbox/flows/Flow"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { createServer } from "node:http"
import { refund } from "./support/checked/deployed.ts"
import { signalbox, succeed } from "./support/Cli.ts"

const token = "a token of some length"

const yearly = FlowSchedules.layer(refund, {
  name: "yearly refund",
  cron: "0 6 1 1 *",
  zone: "Europe/Vienna",
  input: ({ epochMilliseconds }) => epochMilliseconds
})

const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(yearly),
  Layer.provideMerge(Flow.layer(refund)),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory))
)

const environment = Effect.map(HttpServer.HttpServer, ({ address }) => ({
  SIGNALBOX_FLOWS_URL: HttpServer.formatAddress(address),
  SIGNALBOX_FLOWS_TOKEN: token
}))

const schedules = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const env = yield* environment
  return (yield* Effect.promise(() => succeed(["flows", "schedules", ...args], { env }))).stdout
})

const failing = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const env = yield* environment
  return yield* Effect.promise(() => signalbox(["flows", "schedules", ...args], { env }))
})

const begun = Effect.repeat(FlowSchedules.get("yearly refund"), { until: ({ running }) => running.length > 0 })

describe("signalbox flows schedules", () => {
  it.live("lists, shows, pauses, resumes and removes", () =>
    Effect.gen(function* () {
      const listed = yield* schedules("list")
      assert.match(listed, /^schedule +flow +next +running +waiting +note$/m)
      assert.match(listed, /^yearly refund +refund@1 +\d{4}-01-01T05:00:00.000Z +0 +0$/m)

      const paused = yield* schedules("pause", "yearly refund", "--note", "the ERP is down", "--by", "ann")
      assert.match(paused, /^yearly refund paused/)
      assert.match(yield* schedules("list"), /paused since \S+Z by ann: the ERP is down$/m)
      const [json = ""] = (yield* schedules("show", "yearly refund", "--json")).split("\n")
      assert.deepInclude(JSON.parse(json), { name: "yearly refund", flow: "refund", version: 1, local: true })
      assert.match(json, /"paused":{"at":"\S+Z","by":"ann","note":"the ERP is down"}/)
      yield* schedules("resume", "yearly refund")
      assert.notInclude(yield* schedules("show", "yearly refund"), "paused since")

      assert.match(
        yield* schedules("remove", "yearly refund"),
        /removed; a program that still defines the schedule creates it again/
      )
      assert.strictEqual(yield* schedules("list"), "No schedules\n")
    }).pipe(Effect.provide(program))
  )

  it.live("begins one now, and those of a past span", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* schedules("run-now", "yearly refund"), "yearly refund started\n")
      yield* begun
      const again = yield* schedules("run-now", "yearly refund")
      assert.match(again, /^yearly refund skipped: the execution \S+ of \S+Z is (running|waiting)$/m)
      const span = ["--from", "2020-01-01T00:00:00Z", "--to", "2023-01-01T00:00:00Z"]
      const asked = yield* schedules("backfill", "yearly refund", ...span, "--json")
      assert.strictEqual(asked, '{"name":"yearly refund","asked":3}\n')
      const shown = yield* schedules("show", "yearly refund")
      assert.match(shown, /^backfill 2020-01-01T05:00:00.000Z, 2021-/m)
      assert.match(shown, /^definition {"name":"yearly refund","cron":"0 6 1 1 \*",.*"zone":"Europe\/Vienna"/m)
      assert.match(shown, /^\S+Z +overlap +the execution \S+ of/m)
    }).pipe(Effect.provide(program))
  )

  it.live("says what is wrong", () =>
    Effect.gen(function* () {
      const table: ReadonlyArray<readonly [ReadonlyArray<string>, number, RegExp]> = [
        [["show", "nobody"], 1, /the schedule nobody does not exist; the first start of a program/],
        [["remove", "nobody"], 1, /the schedule nobody does not exist/],
        [["pause", "yearly refund"], 2, /note/],
        [
          ["backfill", "yearly refund", "--from", "2022-01-01T00:00:00Z", "--to", "2021-01-01T00:00:00Z"],
          1,
          /to: Expected/
        ],
        [["backfill", "yearly refund", "--from", "never", "--to", "2021-01-01T00:00:00Z"], 2, /from/],
        [
          ["backfill", "yearly refund", "--from", "2021-02-30T00:00:00Z", "--to", "2022-01-01T00:00:00Z"],
          2,
          /expected a time that exists/
        ]
      ]
      for (const [args, status, expected] of table) {
        const ended = yield* failing(...args)
        assert.strictEqual(ended.status, status, ended.stderr)
        assert.match(ended.stderr, expected)
      }
    }).pipe(Effect.provide(program))
  )
})
