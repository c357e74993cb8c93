/** Assets and secrets: values that robots read. */
import type { Assets } from "../../contract/Assets.ts"
import type { RobotSecrets, SealedSecret } from "../../contract/RobotSecrets.ts"
import type { Secrets } from "../../contract/Secrets.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badBodyOr, badPage, nameExists } from "./Phrases.ts"

const noAsset = "The workspace has no asset with this id or name. Ids of other workspaces count as unknown."
const largeSecret = "The items are larger than 64 KiB. Nothing was stored; store large data as an asset."
const noSecret = "The workspace has no secret with this name."

export const assets: Documented<typeof Assets> = {
  getAsset: {
    description:
      "Returns an asset and where its content is downloaded. The path takes the id, or `name:` and the name, such as `name:config/eu.json`. The address in `payload.url` needs no key and is valid for one hour; an asset without content has the payload type `empty`.",
    parameters: { asset_id: "name:config/eu.json" },
    response: {
      id: ids.asset,
      name: "config/eu.json",
      payload: {
        type: "url",
        content_type: "application/json",
        url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000fe/eu.json?expires=1795166130&signature=tx7vapMqK"
      }
    },
    errors: { 404: noAsset }
  },
  listAssets: {
    description: "Returns the assets of the workspace, newest first, without their content.",
    response: { data: [{ id: ids.asset, name: "config/eu.json" }], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createAsset: {
    description:
      "Creates an asset without content; send the content with `createAssetUpload`. Its name may have slashes, up to 255 characters, and is unique in the workspace.",
    request: { name: "config/eu.json" },
    response: { id: ids.asset, name: "config/eu.json", payload: { type: "empty" } },
    errors: { 400: badBody, 409: nameExists("asset") }
  },
  createAssetUpload: {
    description:
      "Replaces the content of an asset. Content below 5,000,000 bytes may be in `data`, in base64; the upload is `completed` immediately. Without `data` the upload is `pending`: send the bytes to `upload_url` as a raw `PUT` without authorization, within one hour; it may be repeated. Readers get the old content until the new one is complete.",
    parameters: { asset_id: ids.asset },
    request: { content_type: "application/json", data: "eyJjdXJyZW5jeSI6IkVVUiJ9" },
    response: { id: ids.assetUpload, content_type: "application/json", status: "completed" },
    errors: {
      400: "The content type is missing or invalid, or `data` is not base64. Nothing was changed.",
      404: noAsset,
      413: "`data` has 5,000,000 bytes or more. Leave it out, and send the bytes to `upload_url`."
    }
  },
  getAssetUpload: {
    description:
      "Returns the state of an upload: `pending` until its bytes are complete, then `completed`, or `failed` with a reason when it expired or was too large.",
    parameters: { asset_id: ids.asset },
    response: { id: ids.assetUpload, content_type: "application/json", status: "completed" },
    errors: { 404: "The workspace has no such asset, or the asset has no such upload." }
  },
  deleteAsset: {
    description: "Deletes an asset with its content. Irreversible. Its download addresses stop working.",
    parameters: { asset_id: ids.asset },
    response: { id: ids.asset, deleted: true },
    errors: { 404: noAsset }
  }
}

export const secrets: Documented<typeof Secrets> = {
  listSecrets: {
    description:
      "Returns the names and descriptions of the secrets, newest first, never their items. A page has up to 1,000.",
    response: { data: [{ name: "erp", description: "the ERP", hosts: [] }], has_more: false, next: null },
    errors: {
      400: "`cursor` is not from this list with the same filters, or `name` is invalid. Begin again without `cursor`."
    }
  },
  getSecret: {
    description:
      "Returns a secret with the names of its items, in the order in which they were written, never with their values.",
    response: { name: "erp", description: "the ERP", hosts: [], item_names: ["username", "password"] },
    errors: { 404: noSecret }
  },
  createSecret: {
    description:
      "Creates a secret. Its items are stored encrypted and are not returned here: robots read them while they run. A name has 1 to 255 letters, digits and underscores, and is unique in the workspace.",
    request: { name: "erp", items: { username: "robot", password: "correct horse" }, description: "the ERP" },
    response: { name: "erp", description: "the ERP", hosts: [] },
    errors: { 400: badBody, 409: nameExists("secret"), 413: largeSecret }
  },
  updateSecret: {
    description:
      "Replaces all items of a secret; those that are left out are gone. The description is unchanged when it is absent. Runs that have read the secret keep the old value until they read it again.",
    request: { items: { username: "robot", password: "battery staple" } },
    response: { name: "erp", description: "the ERP", hosts: [] },
    errors: { 400: badBody, 404: noSecret, 413: largeSecret }
  },
  setSecretItems: {
    description:
      "Adds items to a secret or replaces the values of those that it has, and keeps all others with their values; names in `remove` are deleted. All in one step: of two requests at one time none is lost. Runs that have read the secret keep the old values until they read it again.",
    request: { items: { password: "battery staple" }, remove: ["pin"] },
    response: { name: "erp", description: "the ERP", hosts: [] },
    errors: { 400: badBodyOr("an item is both in `items` and in `remove`"), 404: noSecret, 413: largeSecret }
  },
  deleteSecret: {
    description: "Deletes a secret with its items. Irreversible. Whatever reads it by name fails from then on.",
    response: { name: "erp", deleted: true },
    errors: { 404: noSecret }
  }
}

const sealed: (typeof SealedSecret)["Encoded"] = {
  name: "erp",
  description: "the ERP",
  value: "o3Bq0lqS3mWb6Wc5Yw==",
  encryption: {
    encryptionScheme: "robocloud-vault-transit-v2",
    encryptedAES: "m0sVx1rT2k8=",
    authTag: "5Vh2b1m1o9v7sQhZB1tE4Q==",
    iv: "q83vEjRWeJCrze8SNFZ4kA=="
  }
}

export const robotSecrets: Documented<typeof RobotSecrets> = {
  getSealedSecret: {
    description:
      "Returns the items of a secret, encrypted for the reader: AES-256-GCM under a new key, which is encrypted by RSA-OAEP (SHA-256) for the `publicKey` of the query. Robots call it with the token of their run; a workspace key needs `Vault.read_secret_values`, which no key has unless it was granted by name.",
    response: sealed,
    errors: {
      400: "`encryptionScheme` is not the one that is known, or `publicKey` is not the base64 of an RSA key of at least 2048 bits.",
      404: noSecret
    }
  },
  getVaultPublicKey: {
    description:
      "Returns the RSA key of the vault, as the base64 text of its DER SubjectPublicKeyInfo. Writers of secrets encrypt for it. It stays the same.",
    response: "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7bq0vVhOiqGYs3p1",
    errors: {}
  },
  putSealedSecret: {
    description:
      "Creates a secret, or replaces its items and description, from a value that is encrypted for the vault's key. The nonce of AES-GCM is the `iv` itself. Repeating it stores the same value again.",
    request: sealed,
    response: { name: "erp", description: "the ERP" },
    errors: {
      400: "The name is not the one in the path, the value does not decrypt with the vault's key, or it is not a JSON object. Nothing was changed; read the vault's key again.",
      413: largeSecret
    }
  }
}
