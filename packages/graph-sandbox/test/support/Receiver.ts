/**
 * A receiver of notifications on this machine, as a bare server.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export interface Notification {
  readonly subscriptionId: string
  readonly clientState: string | null
  readonly changeType?: string
  readonly resource?: string
  readonly lifecycleEvent?: string
}

const bodyOf = async (request: IncomingMessage) => {
  const parts: Array<Buffer> = []
  // Without an encoding, a request gives buffers.
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

/** What it does with a validation, and with a notification. */
export interface Behaviour {
  readonly validation?: (token: string, response: ServerResponse) => void
  readonly status?: () => number
}

/** Listens while the scope is open; notifications come one by one. */
export const receiver = Effect.fnUntraced(function* ({ status = () => 202, validation }: Behaviour = {}) {
  const received = yield* Queue.unbounded<Notification>()
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const token = new URL(request.url ?? "", "http://localhost").searchParams.get("validationToken")
      if (token === null) {
        const parsed: { readonly value: ReadonlyArray<Notification> } = JSON.parse(body)
        for (const notification of parsed.value) Queue.offerUnsafe(received, notification)
        response.writeHead(status()).end()
      } else if (validation === undefined) {
        response.writeHead(200, { "content-type": "text/plain" }).end(token)
      } else {
        validation(token, response)
      }
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
  return { url: `http://127.0.0.1:${port}/notify?for=tests`, next: Queue.take(received), received }
})
