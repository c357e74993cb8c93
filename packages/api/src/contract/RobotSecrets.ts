/**
 * The vault in the protocol of robots, `/secrets-v1`: besides TLS, values are encrypted for the reader or the vault.
 * Needs the token of a run, or a workspace key with the permission.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { summary } from "./Documentation.ts"
import { WorkspaceId } from "./Ids.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/RobotSecrets.ts"

export * from "../internal/endpoints/RobotSecrets.ts"

/** `publicKey` is the reader's RSA key of at least 2048 bits, as base64 of its DER SubjectPublicKeyInfo. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Read a secret, encrypted for the reader")
  .annotate(RequiredPermission, "Vault.read_secret_values")
  .annotate(Audited, entry("secret"))

/** The vault's RSA key: base64 of its DER SubjectPublicKeyInfo, as text. */
export const getPublicKey = HttpApiEndpoint.get("getVaultPublicKey", "/workspaces/:workspace_id/secrets/publicKey", {
  params: { workspace_id: WorkspaceId },
  success: Schema.String.pipe(HttpApiSchema.asText())
}).annotateMerge(summary("Get the key that encrypts written secrets"))

/** Creates the secret, or replaces its items and description. The name in the body must equal the one in the path. */
export const put: EndpointOf<typeof declared.put> = endpoint(declared.put, "Write a secret, encrypted for the vault")
  .annotate(RequiredPermission, "Vault.write_secrets")
  .annotate(Audited, entry("secret"))

/** `/secrets-v1/workspaces/{w}/secrets`. */
export const RobotSecrets: Group<
  "robotSecrets",
  typeof get | typeof getPublicKey | typeof put,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("robotSecrets").add(get, getPublicKey, put).middleware(WorkspaceAuthorization)
