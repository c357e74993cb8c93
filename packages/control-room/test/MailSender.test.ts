/** Sending an e-mail to servers that do not keep to the protocol. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { createServer, type LookupFunction, type Server } from "node:net"
import { send } from "../src/internal/delivery/MailSender.ts"

const lookup: LookupFunction = (_host, _options, callback) => callback(null, "127.0.0.1", 4)

/** A server that greets without end, a line at a time. */
const dripping = Effect.gen(function* () {
  const connected = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const server = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((socket) => {
        const timer = setInterval(() => socket.write("220-and so on\r\n"), 50)
        socket.on("data", () => undefined)
        socket.on("error", () => undefined)
        socket.on("close", () => {
          clearInterval(timer)
          Deferred.doneUnsafe(closed, Effect.void)
        })
        Deferred.doneUnsafe(connected, Effect.void)
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : assert.fail("no port")
  return { closed: Deferred.await(closed), connected: Deferred.await(connected), port }
})

describe("an e-mail", () => {
  it.effect("to a server that never comes to an end is given up after 8 minutes, with its connection", () =>
    Effect.gen(function* () {
      const { closed, connected, port } = yield* dripping
      const mail = { host: "mail.test", port, security: "none", auth: null, ca: null, from: "r@example.com" } as const
      const sending = yield* Effect.forkChild(
        Effect.flip(send({ ...mail, to: ["a@example.com"], id: "1", subject: "s", text: "t", lookup }))
      )
      yield* connected
      yield* TestClock.adjust("479 seconds")
      assert.isUndefined(sending.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(
        (yield* Fiber.join(sending)).message,
        "the mail server did not accept the message within 8 minutes"
      )
      yield* closed
    })
  )
})
