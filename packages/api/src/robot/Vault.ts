/**
 * The vault in the protocol of robots: values of secrets, which are encrypted besides TLS. Needs the token of a run, or
 * a workspace key with the permissions `Vault.read_secret_values` and `Vault.write_secrets`. No value is ever in an
 * error, a log or a span.
 */
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { SecretName, type WorkspaceId } from "../contract/Ids.ts"
import * as contract from "../internal/endpoints/RobotSecrets.ts"
import { unexpected } from "../ControlRoomError.ts"
import * as Connection from "../internal/calls/Connection.ts"
import { make as makeCall } from "../internal/calls/EndpointCall.ts"
import { operationOf } from "../internal/calls/Operation.ts"
import { headersOf, send } from "../internal/calls/Transport.ts"
import { generate, open, type ReaderKeyPair, seal } from "../internal/calls/VaultCrypto.ts"
import { type Endpoint, transportOf } from "../internal/calls/RobotEndpoint.ts"

const call = { get: makeCall(contract.get), put: makeCall(contract.put, { repeatable: true }) }

/** A response of the vault does not decrypt, or its key is invalid. The message says which, never the content. */
export class VaultError extends TaggedError<VaultError>()("VaultError", {
  secret: Schema.String,
  message: Schema.String
}) {}

/**
 * The key pair for reading secrets: one for the whole program, created on first use, which takes up to half a second.
 */
export const ReaderKeys = Context.Reference<Effect.Effect<ReaderKeyPair>>("@signalbox/api/robot/ReaderKeys", {
  defaultValue: () => {
    let keys: Promise<ReaderKeyPair> | undefined
    return Effect.flatMap(WebCrypto, (crypto) => Effect.promise(() => (keys ??= generate(crypto))))
  }
})

/** A secret with its values. */
export interface Secret {
  readonly name: string
  readonly description: string | null
  /** Any JSON under each name. */
  readonly items: Redacted.Redacted<Readonly<Record<string, Schema.Json>>>
}

export interface Options extends Endpoint {
  readonly workspaceId: WorkspaceId
}

const Items = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
const decodeItems = Schema.decodeEffect(Items)

/**
 * Creates the client for the vault of one workspace.
 *
 * ```ts
 * import type { WorkspaceId } from "@signalbox/api/contract/Ids"
 * import * as Vault from "@signalbox/api/robot/Vault"
 * import * as Effect from "effect/Effect"
 * import type * as Redacted from "effect/Redacted"
 * import * as FetchHttpClient from "effect/http/FetchHttpClient"
 *
 * export const shop = (token: Redacted.Redacted, workspaceId: WorkspaceId) =>
 *   Vault.make({ url: "http://127.0.0.1:4700", token, workspaceId }).pipe(
 *     Effect.flatMap((vault) => vault.get("shop")),
 *     Effect.provide(FetchHttpClient.layer)
 *   )
 * ```
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const connection = Connection.make(yield* HttpClient.HttpClient, { idempotency: "ignored" })
  const transport = transportOf(options, "/secrets-v1", connection)
  const workspace = { workspace_id: options.workspaceId }

  const crypt = Effect.fnUntraced(function* <A>(
    secret: string,
    message: string,
    work: (crypto: Crypto) => Promise<A>
  ): Effect.fn.Return<A, VaultError> {
    const crypto = yield* WebCrypto
    return yield* Effect.tryPromise({ try: () => work(crypto), catch: () => new VaultError({ secret, message }) })
  })

  /** The key that encrypts written secrets. The response is text, not JSON. */
  const publicKey = Effect.fnUntraced(function* (secret: string) {
    const path = `/workspaces/${encodeURIComponent(options.workspaceId)}/secrets/publicKey`
    const request = HttpClientRequest.get(transport.baseUrl + path, { headers: yield* headersOf(transport) })
    const answer = yield* send(connection, request, {
      operation: yield* operationOf("Vault.put"),
      path,
      repeatable: true,
      keyed: false,
      timed: true,
      read: (response) => response.text
    }).pipe(Effect.catchTag(["NotFound", "Conflict", "InvalidRequest"], (error) => Effect.fail(unexpected(error))))
    // Some services put the text in quotes.
    const der = Base64.decode(answer.value.trim().replace(/^"(.*)"$/s, "$1"))
    if (Result.isSuccess(der)) return der.success
    return yield* new VaultError({ secret, message: "the vault's public key is not base64" })
  })

  return {
    /** Fails with `NotFound` when no secret has this name. */
    get: Effect.fn("Vault.get")(function* (name: string) {
      const keys = yield* yield* ReaderKeys
      const sealed = yield* call.get(transport, {
        params: { ...workspace, secret_name: SecretName.make(name) },
        query: { encryptionScheme: contract.encryptionScheme, publicKey: keys.publicKey }
      })
      const text = yield* crypt(name, `the secret "${name}" does not decrypt with the key of the request`, (crypto) =>
        open(crypto, keys.privateKey, sealed)
      )
      const items = yield* Effect.mapError(
        decodeItems(text),
        () => new VaultError({ secret: name, message: `the secret "${name}" is not a JSON object after decryption` })
      )
      const secret: Secret = { name, description: sealed.description, items: Redacted.make(items) }
      return secret
    }),
    /**
     * Creates the secret, or replaces its items and description. Safe to repeat. A name has letters, digits and
     * underscores.
     */
    put: Effect.fn("Vault.put")(function* (
      name: string,
      content: {
        readonly items: Redacted.Redacted<Readonly<Record<string, Schema.Json>>>
        /** Absent: none, even if the secret had one. */
        readonly description?: string | null | undefined
      }
    ) {
      const key = yield* publicKey(name)
      const text = JSON.stringify(Redacted.value(content.items))
      const sealed = yield* crypt(name, "the vault's public key is not an RSA key", (crypto) => seal(crypto, key, text))
      const secretName = SecretName.make(name)
      yield* call.put(transport, {
        params: { ...workspace, secret_name: secretName },
        payload: {
          name: secretName,
          ...defined({ description: content.description }),
          ...sealed
        }
      })
    })
  }
})

/** The client that `make` creates. */
export type Vault = Effect.Success<ReturnType<typeof make>>
