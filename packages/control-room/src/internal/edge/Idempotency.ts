/**
 * Idempotency keys: a POST with a key is carried out once. Its response is stored in the same transaction, and
 * replayed when the same request comes with the same key.
 */
import { keyLifetime, lifetimeHeader } from "@signalbox/api/contract/IdempotencyKeys"
import type { Permission, Principal } from "@signalbox/api/contract/Authorization"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createHash } from "node:crypto"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as LargeJson from "./LargeJson.ts"
import * as Slices from "../background/Slices.ts"
import { Database } from "../store/database/Database.ts"
import { type IdempotencyRecord, IdempotencyRecords } from "../store/access/IdempotencyRecords.ts"
import { Seal } from "../store/vault/Seal.ts"
import { type Refusal, refuse } from "./Failures.ts"
import { largeBody, pathOf, textOfBody, withText } from "./Incoming.ts"
import { AskedPermissions, AskedView, callerOf, type View, viewOf } from "./Permissions.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"

/**
 * Whether a caller gets a response as it was returned: secret fields in payloads as plain or as masked as they see them themselves. Of
 * one that a node of an older version has stored nobody knows what is in it.
 */
const seesAlike = (principal: Principal, { maker, seen }: IdempotencyRecord): boolean =>
  seen === "none" || seen === viewOf(principal) || (seen === null && maker === makerOf(principal))

const keyPattern = /^[\x21-\x7e]{1,255}$/

/** A request with a key. */
interface Keyed {
  readonly principal: Principal
  /** Whether the response is a credential of who asked for it. */
  readonly isCredential: boolean
  readonly key: string
  readonly fingerprint: string
  /** Seconds until the key expires if this is the first request with it. */
  readonly lifetime: number
}

/** The lifetime that a request asks for, in seconds; null when its header is invalid. */
const lifetimeOf = (given: string | undefined): number | null => {
  if (given === undefined) return keyLifetime.default
  return /^[1-9]\d*$/.test(given) && Number(given) <= keyLifetime.max ? Number(given) : null
}

/** Bytes that are hashed at once: some milliseconds. */
const hashed = 1024 * 1024

/** The fingerprint of a request: equal for repetitions of the same request. */
const fingerprintOf = Effect.fnUntraced(function* (method: string, path: string, body: string) {
  const hash = createHash("sha256").update(`${method}\n${path}\n`)
  if (body.length < largeBody) return hash.update(meaningOf(body)).digest("hex")
  const read = yield* Slices.run(() => LargeJson.read(body, []))
  const parts = read === null ? [body].values() : LargeJson.canonical(read.json)
  for (const part of parts) {
    const bytes = Buffer.from(part)
    for (let at = 0; at < bytes.length; at += hashed) {
      yield* Effect.yieldNow
      hash.update(bytes.subarray(at, at + hashed))
    }
  }
  return hash.digest("hex")
})

/** JSON with sorted keys and no white space, so that two spellings of one body are the same request. */
const meaningOf = (body: string): string =>
  Result.getOrElse(
    Result.try(() => JSON.stringify(ExactJson.parse(body), LargeJson.sorted)),
    () => body
  )

const jsonOf = (response: HttpServerResponse.HttpServerResponse): string | null =>
  response.body._tag === "Uint8Array" ? new TextDecoder().decode(response.body.body) : null

/** Who made a request: a key, a session of the console, or a run. */
const makerOf = (principal: Principal) =>
  "sessionId" in principal && principal.sessionId !== null
    ? `Session ${principal.sessionId}`
    : `${principal._tag} ${callerOf(principal).id}`

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * Runs the handler, or replays the stored response for a repeated key: to a caller with all permissions that the first was asked
     * for and the same view of secret fields, and a credential only to who made the first request. Only a POST with a key is recorded.
     */
    readonly replayOrRun: <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      principal: Principal,
      isCredential: boolean,
      effect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E | Refusal, R>
  }
>()("@signalbox/control-room/edge/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const { transaction } = yield* Database
      const records = yield* IdempotencyRecords
      const { open, seal } = yield* Seal

      const keyed = <E, R>(
        { fingerprint, isCredential, key, lifetime, principal }: Keyed,
        effect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) =>
        transaction(
          Effect.gen(function* () {
            const workspace = principal.workspaceId
            const maker = makerOf(principal)
            const context = `idempotency ${workspace} ${key}`
            // A second request with the key waits here for the first.
            yield* records.lock(workspace, key)
            const known = yield* records.find(workspace, key)
            const headers = yield* ResponseHeaders
            headers[lifetimeHeader] = String(known?.lifetime ?? lifetime)
            if (known !== null && known.fingerprint !== fingerprint) {
              return yield* refuse(
                409,
                "IDEMPOTENCY_KEY_REUSED",
                "Idempotency-Key: already used for another request; use a new key for each request"
              )
            }
            if (known !== null && isCredential && known.maker !== maker) {
              return yield* refuse(
                409,
                "IDEMPOTENCY_KEY_REUSED",
                "Idempotency-Key: already used by another key or session, and the response is a credential, which is returned only to that one " +
                  "again; use a new key for each request"
              )
            }
            if (known !== null) {
              const { permissions } = callerOf(principal)
              const lacking = known.permissions.find((permission) => !permissions.has(permission))
              if (lacking !== undefined) {
                return yield* refuse(403, "FORBIDDEN", `the key lacks the permission ${lacking}; use a key that has it`)
              }
              if (!seesAlike(principal, known)) {
                return yield* refuse(
                  409,
                  "IDEMPOTENCY_KEY_REUSED",
                  "Idempotency-Key: already used by a key or session that sees secret fields of payloads in another way; use a new key for each request"
                )
              }
              headers["idempotent-replayed"] = "true"
              return HttpServerResponse.text(yield* open(known.body, context), {
                status: known.status,
                contentType: "application/json"
              })
            }
            const asked = new Set<Permission>()
            const shown: { view: View | null } = { view: null }
            const response = yield* effect.pipe(
              Effect.provideService(AskedPermissions, asked),
              Effect.provideService(AskedView, shown)
            )
            const json = jsonOf(response)
            if (response.status < 300 && json !== null) {
              const body = yield* seal(json, context)
              yield* records.store(workspace, key, {
                fingerprint,
                status: response.status,
                body,
                lifetime,
                maker,
                permissions: [...asked],
                seen: shown.view ?? "none"
              })
            }
            return response
          })
        )

      return Idempotency.of({
        replayOrRun: (request, principal, isCredential, effect) => {
          const key = request.headers["idempotency-key"]
          if (key === undefined || request.method !== "POST") return effect
          if (!keyPattern.test(key)) {
            return Effect.fail(
              refuse(400, "INVALID_REQUEST", "Idempotency-Key: Expected 1 to 255 visible ASCII characters")
            )
          }
          const lifetime = lifetimeOf(request.headers[lifetimeHeader])
          if (lifetime === null) {
            const range = `1 to ${keyLifetime.max} (7 days)`
            return Effect.fail(refuse(400, "INVALID_REQUEST", `Idempotency-Key-TTL: Expected whole seconds, ${range}`))
          }
          return Effect.flatMap(textOfBody(request), (body) => {
            // The body has been read; the handler reads it from memory.
            const view = withText(request, Effect.succeed(body))
            const handler = Effect.provideService(effect, HttpServerRequest.HttpServerRequest, view)
            return Effect.flatMap(fingerprintOf(request.method, pathOf(request.url), body), (fingerprint) =>
              keyed({ fingerprint, isCredential, key, lifetime, principal }, handler)
            )
          })
        }
      })
    })
  )
}
