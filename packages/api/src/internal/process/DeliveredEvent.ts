/** The event of a delivery that is genuine. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { WebhookEvent } from "../../contract/WebhookEvents.ts"
import { bytesOf } from "../../contract/WebhookSigning.ts"

/** A genuine delivery whose body is not an event that this version knows. */
export class UnreadableEvent extends TaggedError<UnreadableEvent>()("UnreadableEvent", {
  message: Schema.String
}) {}

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.toCodecJson(WebhookEvent)))

/** The event that a body is. */
export const eventOf = (body: Uint8Array | string): Effect.Effect<WebhookEvent, UnreadableEvent> =>
  Effect.mapError(
    decodeEvent(new TextDecoder().decode(bytesOf(body))),
    () => new UnreadableEvent({ message: "the body is not an event of a process run" })
  )
