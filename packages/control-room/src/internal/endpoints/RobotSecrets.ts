/** The vault in the protocol of robots. */
import { SecretItems } from "@signalbox/api/contract/Secrets"
import type { Secret } from "@signalbox/api/contract/Secrets"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import { Secrets } from "../store/vault/Secrets.ts"
import { TransitKeys } from "../store/vault/TransitKeys.ts"
import * as Transit from "../vault/Transit.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { invalidRequest, orNotFound } from "../edge/Failures.ts"
import { checkItems } from "./Secrets.ts"

const decodeItems = Schema.decodeEffect(Schema.fromJsonString(SecretItems))

/** Reports a value that does not decrypt as a 400 that names the field. */
const at =
  (field: string) =>
  <A>(effect: Effect.Effect<A, Transit.TransitError>) =>
    Effect.mapError(effect, ({ message }) => invalidRequest(`${field}: ${message}`))

/** What robots know of a secret. */
const shown = ({ description, name }: Secret) => ({ name, description })

export const layer = Endpoints.group(
  "robotSecrets",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Secrets
    const keys = yield* TransitKeys
    return handlers.handleAll({
      getSealedSecret: Effect.fnUntraced(function* ({ params, query }) {
        const reader = yield* at("publicKey")(Transit.readerKey(query.publicKey))
        const { secret_name, workspace_id } = params
        const { items, secret } = yield* orNotFound("secret", secret_name, store.read(workspace_id, secret_name))
        return { ...shown(secret), ...(yield* at("publicKey")(Transit.sealFor(reader, items))) }
      }),
      // Text without quotes, not JSON.
      getVaultPublicKey: ({ params }) => Effect.map(keys.publicKey(params.workspace_id), HttpServerResponse.text),
      putSealedSecret: Effect.fnUntraced(function* ({ params, payload }) {
        if (payload.name !== params.secret_name) {
          return yield* invalidRequest("name: must be the name in the path")
        }
        const json = yield* at("value")(Transit.open(yield* keys.privateKey(params.workspace_id), payload))
        const items = yield* Effect.mapError(decodeItems(Redacted.value(json)), () =>
          invalidRequest("value: must be a JSON object after decryption")
        )
        const content = { items: yield* checkItems(items, "value"), description: payload.description }
        return shown(yield* store.put(params.workspace_id, payload.name, content))
      })
    })
  })
)
