import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Triggers from "@signalbox/api/Triggers"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { send } from "./support/Http.ts"
import { receiver } from "./support/Receiver.ts"
import { layerIn, linkWorker, Service, temporaryFolder } from "./support/Service.ts"

/** The text of a value at any depth; references that were printed are not printed again. */
const textOf = (value: unknown): string => {
  const seen = new Set<unknown>()
  return (
    JSON.stringify(value, (_key, part: unknown) => {
      if (typeof part === "bigint") return String(part)
      if (part instanceof Map) return [...part.entries()]
      if (part instanceof Error) return `${part.name}: ${part.message}`
      if (typeof part !== "object" || part === null) return part
      if (seen.has(part)) return "seen"
      seen.add(part)
      return part
    }) ?? ""
  )
}

/** The logs and traces of a service, as text, and the layer that records them, to be provided to the service. */
const makeRecording = () => {
  const said: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        const failure = Exit.isFailure(exit) ? String(exit.cause) : ""
        said.push(textOf([span.name, span.attributes, span.events, failure]))
        end(time, exit)
      }
      return span
    }
  })
  const logger = Logger.make(({ cause, fiber, message }) => {
    said.push(textOf([message, fiber.getRef(References.CurrentLogAnnotations), String(cause)]))
  })
  const layer = Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, "All"),
    Layer.succeed(Tracer.Tracer, tracer)
  )
  return { said, layer }
}

const unknownId = "01900000-0000-7000-8000-000000000000"
const { layer: recording, said } = makeRecording()
const layer = Layer.unwrap(Effect.map(temporaryFolder, (folder) => layerIn(folder))).pipe(Layer.provideMerge(recording))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("logs and spans", (it) => {
  const newProcess = Effect.gen(function* () {
    const name = `secrecy ${crypto.randomUUID()}`
    const { id } = yield* Processes.create({ name, steps: [{ name: "only", task: { name } }] })
    return { process: id, tasks: [name] }
  })

  it.effect("hold no key of an integration, whatever comes of its request", () =>
    Effect.gen(function* () {
      const { key, origin, workspaceId } = yield* Service
      const { process } = yield* newProcess
      said.length = 0
      const path = `/api/v1/workspaces/${workspaceId}/processes/${process}/process-runs-integrations`
      const json = { "content-type": "application/json" }
      const requests: ReadonlyArray<readonly [string, string, string, Record<string, string>]> = [
        ["POST", path, "{}", json],
        ["POST", path, "{", json],
        ["POST", path, "<a/>", { "content-type": "application/xml" }],
        ["POST", path.replace(process, unknownId), "{}", json],
        ["POST", `${path}/`, "{}", json],
        ["POST", `${path}/nowhere`, "{}", json],
        ["POST", path.replace("/api/v1", "/v1"), "{}", json],
        ["GET", path, "", {}]
      ]
      for (const [method, at, body, headers] of requests) {
        for (const token of [key, key.slice(0, -1)]) {
          yield* send(origin, method, `${at}?x=1&token=${token}`, { headers, body })
        }
      }
      const all = said.join("\n")
      assert.include(all, "process-runs-integrations")
      assert.notInclude(all, key.slice(-42, -1))
    })
  )

  it.effect("hold no token of a trigger, whatever comes of its request", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const { process } = yield* newProcess
      const signature = { type: "hmac", header: "x-signature", secret: Redacted.make("hush-of-a-trigger") } as const
      const { url } = yield* Triggers.create({ name: "secret", process: { id: process }, webhook: { signature } })
      const path = new URL(url === null ? "" : Redacted.value(url)).pathname
      said.length = 0
      const headers = { "content-type": "application/json", "x-signature": "0".repeat(64) }
      for (const target of [path, path.slice(0, -1), `${path}/`, `${path}/nowhere`, `/nowhere${path}`, `/${path}`]) {
        for (const method of ["POST", "GET", "PUT"]) {
          yield* send(origin, method, `${target}?a=1`, { headers, ...(method === "GET" ? {} : { body: "{}" }) })
        }
      }
      const all = said.join("\n")
      assert.include(all, "Hooks.receive")
      assert.notInclude(all, path.slice(-42, -1))
      assert.notInclude(all, "hush-of-a-trigger")
    })
  )

  it.effect("hold every attempt of a delivery, and neither secrets nor addresses nor payloads", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        const target = yield* receiver
        const { process, tasks } = yield* newProcess
        said.length = 0
        const secret = "the-secret-of-a-callback"
        const events = ["started", "completed"] as const
        yield* target.on("/hook?key=in-the-address", (received, index) => received.answer(index === 0 ? 500 : 200))
        const webhook = yield* Webhooks.create({
          endpoint: `${target.origin}/hook?key=in-the-address`,
          events: ["process_run.completed"],
          process
        })
        const { secret: rotated } = yield* Webhooks.rotateSecret(webhook.id)
        const worker = yield* linkWorker(tasks)
        const callback = { url: `http://name:password@127.0.0.1:${target.port}/callback`, secret, events }
        yield* ProcessRuns.start(process, { payloads: ["in-the-payload"] }, { callback })
        const { lease } = yield* worker.take
        yield* worker.protocol.finish(lease, null)
        yield* target.take("/callback", 2)
        yield* Effect.repeat(Stream.runHead(Webhooks.deliveries(webhook.id)), {
          until: (delivery) => delivery._tag === "Some" && delivery.value.attempts === 1,
          schedule: Schedule.spaced("20 millis")
        })
        yield* deliverIn(10_000)
        assert.strictEqual(target.at("/hook?key=in-the-address").length, 2)
        const all = said.join("\n")
        assert.include(all, "webhook not delivered")
        assert.include(all, "webhook delivered")
        assert.match(all, /"attempt":1,"status":500,"error":"the endpoint responded with 500[^"]*","milliseconds":\d+/)
        assert.match(all, /"attempt":2,"status":200,"error":null,"milliseconds":\d+/)
        for (const hidden of [
          secret,
          Redacted.value(webhook.secret).slice(6),
          Redacted.value(rotated).slice(6),
          "in-the-address",
          "password",
          "in-the-payload"
        ]) {
          assert.notInclude(all, hidden)
        }
      })
    )
  )
})
