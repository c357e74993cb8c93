/** The OpenAPI document, from the contract. */
import * as OpenApi from "effect/http-api/OpenApi"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Api } from "../../../packages/api/src/contract/Api.ts"
import { root } from "../pages.ts"

export const document = join(root, "site", ".generated", "openapi.json")

/** Writes the document where the site builder reads it. */
export const contract = (): void => {
  mkdirSync(dirname(document), { recursive: true })
  writeFileSync(document, JSON.stringify(OpenApi.fromApi(Api)))
}
