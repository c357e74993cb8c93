/** Receives the webhooks of the service, and trusts those that it has signed. */
import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"
import { Stripe } from "stripe"

export const main = (secret: string, onEvent: (event: Stripe.Event) => void) =>
  createServer((request, response) => {
    const handle = async () => {
      try {
        const signature = request.headers["stripe-signature"] ?? ""
        const body = await buffer(request)
        onEvent(
          await Stripe.webhooks.constructEventAsync(body, signature, secret)
        )
        return 204
      } catch (error) {
        const { StripeSignatureVerificationError } = Stripe.errors
        return error instanceof StripeSignatureVerificationError ? 401 : 500
      }
    }
    void handle().then((status) => response.writeHead(status).end())
  })
