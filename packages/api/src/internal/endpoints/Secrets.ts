/**
 * Secrets of the vault: named sets of items. Items can only be written here; robots read them elsewhere
 * (`RobotSecrets`).
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { namedCursorQuery, Page, Text } from "../../contract/Common.ts"
import { SecretName, WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  InvalidRequestResponse,
  NotFoundResponse,
  PayloadTooLargeResponse
} from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/**
 * The name of a new secret: 1 to 255 letters, digits and underscores, unique in the workspace. `publicKey` is refused:
 * robots could never read it, since that is the address of the vault's own key.
 */
export const NewSecretName = SecretName.check(
  Schema.isPattern(/^(?!publicKey$)[A-Za-z0-9_]{1,255}$/, {
    message: "Expected 1 to 255 letters, digits and underscores, and not publicKey"
  })
)

/** The items of a secret: any JSON under each name, at most 64 KB in all. Never in an error or a log. */
export const SecretItems = Schema.RedactedFromValue(Schema.Record(Schema.String, Schema.Json))
export type SecretItems = typeof SecretItems.Type

/** A name or address of a server, in lower case and without a port. */
const SecretHost = Schema.String.check(
  Schema.isMaxLength(253),
  Schema.isPattern(/^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/, {
    message: "Expected the name or address of a server in lower case, without scheme and port, such as git.example.com"
  })
)

/** The servers to which the room itself sends a secret: those of repositories and mail servers that name it. */
export const SecretHosts = Schema.Array(SecretHost).check(Schema.isMaxLength(20), Schema.isUnique())

/** A secret without its items. */
export class Secret extends Struct<Secret>("Secret")({
  name: SecretName,
  description: Schema.NullOr(Schema.String),
  /** Extension: the servers to which the room itself sends it. Step runs that read it are not concerned. */
  hosts: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}) {}

/** A secret with the names of its items, in the order in which they were written. Never with their values. */
export class SecretWithItemNames extends Struct<SecretWithItemNames>("SecretWithItemNames")({
  ...Secret.fields,
  item_names: Schema.Array(Schema.String)
}) {}

const Description = Text.check(Schema.isMaxLength(1000))
const params = { workspace_id: WorkspaceId, secret_name: SecretName }

export const list = /* @__PURE__ */ Endpoint.get("listSecrets", "/workspaces/:workspace_id/secrets", () => ({
  params: { workspace_id: WorkspaceId },
  query: namedCursorQuery,
  success: Page(Secret),
  error: InvalidRequestResponse
}))

export const get = /* @__PURE__ */ Endpoint.get("getSecret", "/workspaces/:workspace_id/secrets/:secret_name", () => ({
  extension: true,
  params,
  success: SecretWithItemNames,
  error: NotFoundResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createSecret", "/workspaces/:workspace_id/secrets", () => ({
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    name: NewSecretName,
    items: SecretItems,
    description: Schema.optionalKey(Schema.NullOr(Description)),
    /** Extension; default: none. */
    hosts: Schema.optionalKey(SecretHosts)
  }),
  success: Secret,
  error: [InvalidRequestResponse, ConflictResponse, PayloadTooLargeResponse]
}))

export const update = /* @__PURE__ */ Endpoint.post(
  "updateSecret",
  "/workspaces/:workspace_id/secrets/:secret_name",
  () => ({
    params,
    payload: Schema.Struct({
      items: SecretItems,
      description: Schema.optionalKey(Schema.NullOr(Description)),
      /** Extension. */
      hosts: Schema.optionalKey(SecretHosts)
    }),
    success: Secret,
    error: [InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse]
  })
)

export const setItems = /* @__PURE__ */ Endpoint.post(
  "setSecretItems",
  "/workspaces/:workspace_id/secrets/:secret_name/items",
  () => ({
    extension: true,
    params,
    payload: Schema.Struct({
      items: SecretItems,
      /** Names of items to delete; those that the secret does not have are ignored. */
      remove: Schema.optionalKey(Schema.Array(Schema.String)),
      description: Schema.optionalKey(Schema.NullOr(Description)),
      hosts: Schema.optionalKey(SecretHosts)
    }),
    success: Secret,
    error: [InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse]
  })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteSecret",
  "/workspaces/:workspace_id/secrets/:secret_name",
  () => ({
    params,
    success: Schema.Struct({ name: SecretName, deleted: Schema.Literal(true) }),
    error: NotFoundResponse
  })
)
