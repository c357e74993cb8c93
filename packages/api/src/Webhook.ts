/**
 * Receivers of webhooks without Effect and without a client: web crypto alone, in browsers, Workers, Deno, Bun and Node. With
 * Effect it is `WebhookSignature`; `receiveWebhook` of `@signalbox/api/promise` also decodes the event.
 */
import { placeOf, standAt } from "@signalbox/transport/Place"
import { type Delivery, type Problem, problemOf, type Scheme } from "./contract/WebhookSigning.ts"

export type { Delivery } from "./contract/WebhookSigning.ts"

/** A delivery, and with what it is verified. */
export interface VerifyOptions extends Delivery, Scheme {
  /** The secret of the webhook or of the callback; several while it is rotated. */
  readonly secret: string | ReadonlyArray<string>
}

/** A delivery that must not be trusted. */
export class InvalidSignature extends Error {
  readonly _tag = "InvalidSignature"
  override readonly name = "InvalidSignature"
  /** `missing`, `malformed`, `expired` or `mismatch`: not signed with this secret, or changed in transit. */
  readonly reason: Problem["reason"]

  constructor({ message, reason }: Problem) {
    super(message)
    this.reason = reason
  }
}

/**
 * Checks that a delivery comes from the service: rejects with `InvalidSignature` unless it was signed with the secret, recently,
 * and is unchanged, and with a `TypeError` for a tolerance that is no number of seconds. `body` is the raw body.
 *
 * ```ts
 * import { InvalidSignature, verifyWebhook } from "@signalbox/api/webhook"
 *
 * export const handle = async (request: Request, secret: string) => {
 *   const body = new Uint8Array(await request.arrayBuffer())
 *   try {
 *     await verifyWebhook({ headers: request.headers, body, secret })
 *   } catch (error) {
 *     if (error instanceof InvalidSignature)
 *       return new Response(error.message, { status: 400 })
 *     throw error
 *   }
 *   return new Response()
 * }
 * ```
 */
export const verifyWebhook = async (options: VerifyOptions): Promise<void> => {
  const place = placeOf(verifyWebhook)
  const { secret, toleranceSeconds = 0 } = options
  // By NaN every delivery would be in time.
  if (!(toleranceSeconds >= 0)) {
    throw new TypeError("verifyWebhook: toleranceSeconds: expected a number of seconds of 0 or more, or Infinity")
  }
  const problem = await problemOf(options, typeof secret === "string" ? [secret] : secret, Date.now())
  if (problem !== null) throw standAt(new InvalidSignature(problem), place)
}
