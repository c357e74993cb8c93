import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as Alerts from "@signalbox/api/Alerts"
import * as Task from "@signalbox/worker/Task"
import { Console, Effect, Schema, Stream } from "effect"
import { createServer } from "node:http"
import * as Process from "signalbox/Process"

const order = Task.make("order", {
  input: Schema.Struct({ number: Schema.Int }),
  output: Schema.Struct({ number: Schema.Int }),
  run: ({ payload }) => Effect.succeed(payload)
})
const orders = Process.make("orders", { steps: [order] })

// Takes what an alert sends; in place of your chat.
const receiver = Effect.acquireRelease(
  Effect.callback<ReturnType<typeof createServer>>((resume) => {
    const server = createServer((_request, response) => response.end())
    server.listen(4799, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

const program = Effect.gen(function* () {
  yield* receiver
  const channel = yield* AlertChannels.create({
    name: "team",
    settings: { type: "webhook", url: "http://127.0.0.1:4799/alerts" }
  })
  const alert = yield* Alerts.create({
    name: "the disk is nearly full",
    rule: { type: "disk_above", percent: 95 },
    channels: [{ id: channel.id }],
    repeat_seconds: 24 * 3600,
    quiet: { zone: "Europe/Vienna", from: "22:00", to: "06:30" }
  })
  yield* Console.log(
    `${alert.name}: to ${alert.channels.map(({ name }) => name).join(", ")}`
  )
  yield* Alerts.test(alert.id)
  const attempted = Effect.map(
    Stream.runCollect(Alerts.messages(alert.id)),
    ([message]) => message
  )
  const message = yield* Effect.repeat(Effect.delay(attempted, "100 millis"), {
    until: (message) => message !== undefined && message.attempts > 0
  })
  yield* Console.log(
    `the ${message?.kind} message to ${message?.channel.name} is ${message?.state}`
  )
}).pipe(Effect.scoped)
NodeRuntime.runMain(
  Effect.provide(
    program,
    Process.layer(orders, { data: ".signalbox/alerts", port: 0 })
  )
)
