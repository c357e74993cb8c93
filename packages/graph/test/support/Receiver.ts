/**
 * A receiver of notifications in this process, as a program would have one.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { type Notification, readNotifications } from "../../src/Notifications.ts"

export const clientState = "a secret of this test"

/** Listens while the scope is open. What came is in the queue. */
export const receiver = Effect.gen(function* () {
  const received = yield* Queue.unbounded<Notification>()
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const found = readNotifications({ url: request.url ?? "/", body }, { clientState })
      for (const notification of found.notifications) Queue.offerUnsafe(received, notification)
      response.writeHead(found.status, found.headers).end(found.body)
    })
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return { url: `http://127.0.0.1:${port}/graph`, received, next: Queue.take(received) }
})
