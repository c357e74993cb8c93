/**
 * The vault in the protocol of robots, `/secrets-v1`: besides TLS, values are encrypted for the reader or the vault.
 * Needs the token of a run, or a workspace key with the permission.
 */
import * as Schema from "effect/Schema"
import { Text } from "../../contract/Common.ts"
import { SecretName, WorkspaceId } from "../../contract/Ids.ts"
import { InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse } from "../../contract/Responses.ts"
import { NewSecretName } from "./Secrets.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/**
 * The items, as JSON, under AES-256-GCM without associated data; that key, of 32 bytes, under RSA-OAEP (SHA-256, MGF1
 * with SHA-256) for the public key of the reader. The tag is separate from the ciphertext. `iv` has 16 bytes. The nonce
 * is the `iv` itself in what a robot writes, and the ASCII bytes of its lower-case hex in what a robot reads.
 */
export const encryptionScheme = "robocloud-vault-transit-v2"

const Encryption = Schema.Struct({
  encryptionScheme: Schema.Literal(encryptionScheme),
  encryptedAES: Schema.Uint8ArrayFromBase64,
  authTag: Schema.Uint8ArrayFromBase64,
  iv: Schema.Uint8ArrayFromBase64
})

/** A secret with its encrypted items in `value`. */
export class SealedSecret extends Struct<SealedSecret>("SealedSecret")({
  name: SecretName,
  description: Schema.NullOr(Schema.String),
  value: Schema.Uint8ArrayFromBase64,
  encryption: Encryption
}) {}

export const get = /* @__PURE__ */ Endpoint.get(
  "getSealedSecret",
  "/workspaces/:workspace_id/secrets/:secret_name",
  () => ({
    params: { workspace_id: WorkspaceId, secret_name: SecretName },
    query: { encryptionScheme: Schema.Literal(encryptionScheme), publicKey: Schema.Uint8ArrayFromBase64 },
    success: SealedSecret,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const put = /* @__PURE__ */ Endpoint.put(
  "putSealedSecret",
  "/workspaces/:workspace_id/secrets/:secret_name",
  () => ({
    params: { workspace_id: WorkspaceId, secret_name: NewSecretName },
    payload: Schema.Struct({
      name: NewSecretName,
      description: Schema.optionalKey(Schema.NullOr(Text.check(Schema.isMaxLength(1000)))),
      value: Schema.Uint8ArrayFromBase64,
      encryption: Encryption
    }),
    success: Schema.Struct({ name: SecretName, description: Schema.NullOr(Schema.String) }),
    error: [InvalidRequestResponse, PayloadTooLargeResponse]
  })
)
