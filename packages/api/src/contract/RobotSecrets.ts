/**
 * The vault in the protocol of robots, `/secrets-v1`: besides TLS, values are encrypted for the reader or the vault.
 * Needs the token of a run, or a workspace key with the permission.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Text } from "./Common.ts"
import { summary } from "./Documentation.ts"
import { SecretName, WorkspaceId } from "./Ids.ts"
import { InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse } from "./Responses.ts"
import { NewSecretName } from "./Secrets.ts"

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
export const SealedSecret = Schema.Struct({
  name: SecretName,
  description: Schema.NullOr(Schema.String),
  value: Schema.Uint8ArrayFromBase64,
  encryption: Encryption
}).annotate({ identifier: "SealedSecret" })
export interface SealedSecret extends Schema.Schema.Type<typeof SealedSecret> {}

/** `publicKey` is the reader's RSA key of at least 2048 bits, as base64 of its DER SubjectPublicKeyInfo. */
export const get = HttpApiEndpoint.get("getSealedSecret", "/workspaces/:workspace_id/secrets/:secret_name", {
  params: { workspace_id: WorkspaceId, secret_name: SecretName },
  query: { encryptionScheme: Schema.Literal(encryptionScheme), publicKey: Schema.Uint8ArrayFromBase64 },
  success: SealedSecret,
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Vault.read_secret_values")
  .annotateMerge(summary("Read a secret, encrypted for the reader"))

/** The vault's RSA key: base64 of its DER SubjectPublicKeyInfo, as text. */
export const getPublicKey = HttpApiEndpoint.get("getVaultPublicKey", "/workspaces/:workspace_id/secrets/publicKey", {
  params: { workspace_id: WorkspaceId },
  success: Schema.String.pipe(HttpApiSchema.asText())
}).annotateMerge(summary("Get the key that encrypts written secrets"))

/** Creates the secret, or replaces its items and description. The name in the body must equal the one in the path. */
export const put = HttpApiEndpoint.put("putSealedSecret", "/workspaces/:workspace_id/secrets/:secret_name", {
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
  .annotate(RequiredPermission, "Vault.write_secrets")
  .annotateMerge(summary("Write a secret, encrypted for the vault"))

/** `/secrets-v1/workspaces/{w}/secrets`. */
export const RobotSecrets = /* @__PURE__ */ HttpApiGroup.make("robotSecrets")
  .add(get, getPublicKey, put)
  .middleware(WorkspaceAuthorization)
