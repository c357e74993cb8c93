/** Calls of the promise API while their Postgres is away. */
import { assert, describe, it } from "@effect/vitest"
import { Sent } from "@signalbox/sql/Sent"
import { startProxy, type TcpProxy } from "@signalbox/testkit/TcpProxy"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { Patience } from "../../src/internal/journal/Calling.ts"
import { CallUnanswered, defineFlow, type Flows, FlowsClosed, openFlows, signal } from "../../src/Promises.ts"
import { postgres } from "../support/drills/Stores.ts"

const go = signal("go", Schema.String)
const flow = defineFlow({
  name: "waits",
  input: Schema.String,
  output: Schema.String,
  key: (text: string) => text,
  signals: [go],
  run: (ctx) => ctx.signal(go)
})

const behindProxy = (body: (flows: Flows, proxy: TcpProxy) => Promise<void>) =>
  Effect.gen(function* () {
    const { schema, url: given } = yield* postgres
    const url = new URL(given)
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => startProxy({ host: url.hostname, port: Number(url.port) })),
      ({ close }) => Effect.promise(close)
    )
    url.port = String(proxy.port)
    const flows = yield* Effect.acquireRelease(
      Effect.promise(() => openFlows({ url: url.href, schema, flows: [flow], leaseThread: false })),
      ({ close }) => Effect.promise(close)
    )
    yield* Effect.promise(() => body(flows, proxy))
  }).pipe(Effect.scoped)

const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error
  )

describe("calls of promises while the database is away", () => {
  it.live("end at their limit, or when they are aborted, and say whether they were sent", () =>
    behindProxy(async (flows, proxy) => {
      proxy.freeze()
      const aborting = new AbortController()
      const calls = [
        flows.submit(flow, "a", { limit: "500 millis" }),
        flows.execute(flow, "b", { limit: "500 millis" }),
        flows.signal(flow, "a", go, "now", { limit: "500 millis" }),
        flows.submit(flow, "c", { abortSignal: aborting.signal })
      ].map(errorOf)
      setTimeout(() => aborting.abort(), 500)
      const errors = await Promise.all(calls)
      for (const error of errors) assert.instanceOf(error, CallUnanswered)
      assert.deepInclude(errors[0], { why: "limit", execution: null, afterMillis: 500 })
      assert.deepInclude(errors[2], { why: "limit", sent: "no" })
      assert.deepInclude(errors[3], { why: "aborted" })
    })
  )

  it.live("without a limit end when it is away for too long", () =>
    behindProxy(async (flows, proxy) => {
      proxy.refuse()
      const listed = FlowExecutions.list().pipe(
        Effect.provideService(Patience, 500),
        Effect.provideService(Sent, { isSent: false })
      )
      const error = await errorOf(flows.run(listed))
      assert.instanceOf(error, CallUnanswered)
      assert.deepInclude(error, { why: "database", sent: "no" })
    })
  )

  it.live("reject with FlowsClosed when the flows are closed", () =>
    behindProxy(async (flows, proxy) => {
      const { id } = await flows.submit(flow, "a").then(() => flows.handle(flow, "a"))
      const waiting = errorOf(flows.execute(flow, "a"))
      await flows.run(Effect.sleep("200 millis"))
      proxy.freeze()
      const sending = errorOf(flows.submit(flow, "b"))
      await flows.close()
      assert.instanceOf(await waiting, FlowsClosed)
      assert.deepInclude(await waiting, { execution: id })
      assert.instanceOf(await sending, FlowsClosed)
      assert.deepInclude(await sending, { execution: null })
    })
  )

  it.live("with a limit end also when the database responds, and the execution continues", () =>
    behindProxy(async (flows) => {
      const error = await errorOf(flows.execute(flow, "a", { limit: "500 millis" }))
      const handle = await flows.handle(flow, "a")
      assert.instanceOf(error, CallUnanswered)
      assert.deepInclude(error, { why: "limit", sent: "maybe", execution: handle.id })
      await handle.signal(go, "done")
      assert.strictEqual(await handle.result(), "done")
    })
  )
})
