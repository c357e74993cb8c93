/**
 * `POST /hooks/{token}`: requests of other products become work items. The token in the path is the permission; it is
 * in no log and no span.
 */
import type { TriggerHandshake } from "@signalbox/api/contract/Triggers"
import type { WorkItemId } from "@signalbox/api/contract/Ids"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as ByteSize from "effect/ByteSize"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { body as errorBody } from "../edge/Failures.ts"
import { eventIdOf, payloadOf, refusalOf } from "../edge/HookRequests.ts"
import { jsonTextOf } from "../edge/Incoming.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import { UnauthenticatedRequests } from "../edge/UnauthenticatedRequests.ts"
import * as ExactJson from "@signalbox/transport/ExactJson"
import { hooksPath } from "../settings/HooksPath.ts"
import { limits } from "../settings/Limits.ts"
import { InputSchemas } from "../runs/InputSchemas.ts"
import { Database } from "../store/database/Database.ts"
import { Processes } from "../store/processes/Processes.ts"
import type { Hook, Signature, StoredTrigger } from "../store/starts/StoredTrigger.ts"
import { Triggers } from "../store/starts/Triggers.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import * as Tokens from "../vault/Tokens.ts"

/** A request that made nothing. */
class HookRefused extends Data.TaggedError("HookRefused")<{
  readonly status: 400 | 401 | 404 | 409 | 413 | 429
  readonly message: string
}> {}

const codes = {
  400: "INVALID_REQUEST",
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  429: "RATE_LIMITED"
} as const

const refuse = (status: HookRefused["status"], message: string) => new HookRefused({ status, message })

const toResponse = ({ message, status }: HookRefused) =>
  HttpServerResponse.jsonUnsafe(errorBody(codes[status], message), {
    status,
    headers: status === 429 ? { "retry-after": "60" } : {}
  })

const hookBody = ByteSize.fromInputUnsafe(limits.hookBody)

/** Asana signs with the secret of its handshake. */
const asanaSignature: Signature = { type: "hmac", header: "x-hook-signature", prefix: "" }

const signatureOf = ({ handshake, signature }: Hook): Signature | null =>
  handshake === "asana" ? asanaSignature : signature

/** A request with what was read of it. */
interface Received {
  readonly trigger: StoredTrigger
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, unknown>>
}

type Answer = HttpServerResponse.HttpServerResponse

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const triggers = yield* Triggers
    const processes = yield* Processes
    const items = yield* WorkItems
    const inputSchemas = yield* InputSchemas
    const limiter = yield* UnauthenticatedRequests
    const { millis, transaction } = yield* Database

    const found = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const { params } = yield* HttpRouter.RouteContext
      const token = Tokens.parse(params["token"] ?? "")
      // As for an address that was revoked.
      const unknown = refuse(404, "nothing exists at this address: it is incomplete, or it was revoked")
      if (token === null || token.kind !== "hook") {
        yield* limiter.charge(request)
        return yield* unknown
      }
      const look = Effect.map(triggers.find(token.id), (trigger) =>
        trigger?.tokenHash != null && Tokens.matches(token.secret, trigger.tokenHash) ? trigger : null
      )
      const trigger = yield* limiter.lookUp(request, token, look)
      if (trigger === null || trigger.webhook === null) return yield* unknown
      if (!trigger.enabled) return yield* refuse(409, "the trigger is disabled; enable it to send requests again")
      return { trigger, hook: trigger.webhook }
    })

    /** Answers of handshakes that come before a body is read; null: this is no handshake. */
    const handshakes: Readonly<
      Record<TriggerHandshake, (received: Received) => Effect.Effect<Answer | null, HookRefused>>
    > = {
      asana: Effect.fnUntraced(function* ({ headers, trigger }) {
        const secret = headers["x-hook-secret"]
        if (secret === undefined) return null
        if (secret.trim() === "") {
          return yield* refuse(400, "X-Hook-Secret: Expected the secret with which requests are signed")
        }
        const sealed = yield* triggers.seal(trigger.id, Redacted.make(secret))
        const accepted = yield* transaction(
          Effect.gen(function* () {
            const locked = yield* triggers.lock(trigger.workspaceId, trigger.id)
            if (locked === null || locked.secret !== null) return false
            yield* triggers.setSecret(locked, sealed)
            return true
          })
        )
        if (!accepted) {
          return yield* refuse(
            409,
            "X-Hook-Secret: the handshake is already complete; rotate the address of the trigger to repeat it"
          )
        }
        return HttpServerResponse.empty({ status: 200, headers: { "x-hook-secret": secret } })
      }),
      "microsoft-graph": ({ query }) => {
        const token = query["validationToken"]
        return Effect.succeed(
          typeof token === "string" ? HttpServerResponse.text(token, { contentType: "text/plain" }) : null
        )
      },
      // In the body, which is checked first.
      slack: () => Effect.succeed(null)
    }

    /** Slack expects its challenge back. */
    const challengeIn = (hook: Hook, json: Schema.Json): string | null => {
      if (hook.handshake !== "slack" || typeof json !== "object" || json === null || !("challenge" in json)) return null
      return json["type"] === "url_verification" && typeof json["challenge"] === "string" ? json["challenge"] : null
    }

    const genuine = Effect.fnUntraced(function* (
      trigger: StoredTrigger,
      hook: Hook,
      received: Received,
      bytes: Uint8Array
    ) {
      const signature = signatureOf(hook)
      if (signature === null) return
      const secret = yield* triggers.secretOf(trigger)
      // Anybody could sign with an empty one, which a handshake of an older version may have stored.
      if (secret === null || Redacted.value(secret) === "")
        return yield* refuse(401, "the handshake is not complete, so that requests cannot be verified")
      const now = yield* millis
      const refused = refusalOf(signature, Redacted.value(secret), received.headers, bytes, now)
      if (refused !== null) return yield* refuse(401, refused)
    })

    /** Makes the item of a genuine request, unless its event has made one. */
    const accept = Effect.fnUntraced(function* (
      known: StoredTrigger,
      hook: Hook,
      received: Received,
      json: Schema.Json
    ) {
      const fitting = <A>(result: Result.Result<A, string>) =>
        Effect.mapError(Effect.fromResult(result), (message) => refuse(400, message))
      const event = yield* fitting(eventIdOf(hook.eventId, signatureOf(hook), received.headers, json))
      const payload = yield* fitting(payloadOf(json, hook.payload))
      const text = yield* Effect.mapError(checkPayload(payload), ({ message }) => refuse(413, message))
      return yield* transaction(
        Effect.gen(function* (): Effect.fn.Return<WorkItemId, HookRefused> {
          const process = yield* processes.lock(known.workspaceId, known.processId, "share")
          const trigger = yield* triggers.lock(known.workspaceId, known.id)
          if (process === null || trigger === null || trigger.tokenHash !== known.tokenHash) {
            return yield* refuse(404, "nothing exists at this address: it was revoked")
          }
          const before = event === null ? null : yield* triggers.eventItem(trigger, event)
          if (before !== null) return before
          const { count } = yield* triggers.waiting(trigger.processId, hook.maxWaiting)
          if (count >= hook.maxWaiting) {
            return yield* refuse(429, `${count} work items wait in the queue of the process; send it again later`)
          }
          yield* Effect.mapError(inputSchemas.checkPayload(process, payload, "payload"), ({ message }) =>
            refuse(400, message)
          )
          const item = yield* items.create(trigger.workspaceId, trigger.processId, text)
          if (event !== null) yield* triggers.addEvent(trigger, event, item.id)
          return item.id
        })
      )
    })

    const receive = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { hook, trigger } = yield* found(request)
      const query = yield* HttpServerRequest.ParsedSearchParams
      const received: Received = { trigger, headers: request.headers, query }
      const greeted = hook.handshake === null ? null : yield* handshakes[hook.handshake](received)
      if (greeted !== null) return greeted
      const check = Effect.gen(function* () {
        const bytes = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
        yield* Effect.tapError(genuine(trigger, hook, received, bytes), ({ message }) =>
          triggers.refuse(trigger, message)
        )
        return bytes
      })
      const bytes = yield* limiter.verify(request, trigger.id, check)
      const text = yield* jsonTextOf(bytes)
      const json = yield* Effect.try({
        try: () => ExactJson.parse(text),
        catch: () => refuse(400, "the body: Expected JSON")
      })
      if (!ExactJson.isFinite(json)) {
        return yield* refuse(
          400,
          "the body: has a number beyond 1.7e308, which most languages cannot read; send it as a text"
        )
      }
      const challenge = challengeIn(hook, json)
      if (challenge !== null) return HttpServerResponse.jsonUnsafe({ challenge })
      const id = yield* accept(trigger, hook, received, json)
      return HttpServerResponse.jsonUnsafe({ work_item: { id } }, { status: 202 })
    }).pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, hookBody),
      Effect.catchTag("HookRefused", (refused) => Effect.succeed(toResponse(refused))),
      Effect.withSpan("Hooks.receive")
    )
    yield* router.add("POST", `${hooksPath}/:token`, receive)
  })
)
