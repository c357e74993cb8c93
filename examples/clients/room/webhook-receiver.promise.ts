/** Receives the webhooks of a room, and trusts those that it has signed. */
import * as Api from "@signalbox/api/promise"
import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"

export const main = (
  secret: string,
  onEvent: (event: Api.WebhookEvent) => void
) =>
  createServer((request, response) => {
    const handle = async () => {
      try {
        const { headers } = request
        const body = await buffer(request)
        onEvent(await Api.receiveWebhook({ headers, body, secret }))
        return 204
      } catch (error) {
        return error instanceof Api.InvalidSignature ? 401 : 500
      }
    }
    void handle().then((status) => response.writeHead(status).end())
  })
