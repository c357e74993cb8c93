/** Receives the webhooks of a room, and trusts those that it has signed. */
import {
  InvalidSignature,
  receiveWebhook,
  type WebhookEvent
} from "@signalbox/api/promise"
import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"

export const main = (secret: string, onEvent: (event: WebhookEvent) => void) =>
  createServer((request, response) => {
    const handle = async () => {
      try {
        onEvent(
          await receiveWebhook({
            headers: request.headers,
            body: await buffer(request),
            secret
          })
        )
        return 204
      } catch (error) {
        return error instanceof InvalidSignature ? 401 : 500
      }
    }
    void handle().then((status) => response.writeHead(status).end())
  })
