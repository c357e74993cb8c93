/** Receives the webhooks of a room, and trusts those that it has signed. */
import type { WebhookEvent } from "@signalbox/api/promise"
import { webhookListener } from "@signalbox/api/promise-node"
import { createServer } from "node:http"

export const main = (secret: string, onEvent: (event: WebhookEvent) => void) =>
  createServer(webhookListener({ secret, onEvent }))
