/** `docs/compatibility.md` lists what the contract has: all operations of `/api/v1`, those of the hosted service and the others. */
import * as HttpApi from "effect/http-api/HttpApi"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { Api } from "../src/contract/Api.ts"
import { isExtension } from "../src/contract/Documentation.ts"

const page = readFileSync(new URL("../../../docs/compatibility.md", import.meta.url), "utf8")

/** The part of the page below a heading. */
const section = (heading: string) => page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ""

/** The operations that a part of the page names, as `GET /assets/{asset_id}`. */
const named = (text: string) =>
  [...text.matchAll(/`((?:GET|POST|PUT|DELETE) [^`]+)`/g)].map(([, operation = ""]) => operation).sort()

/** Described on a page of their own, or for workers and robots alone. */
const elsewhere = new Set(["legacy", "workerProtocol", "robotProcess", "robotData", "robotSecrets"])

const served: { readonly same: Array<string>; readonly more: Array<string> } = { same: [], more: [] }
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    if (elsewhere.has(group.identifier)) return
    const path = endpoint.path
      .replace("/api/v1", "")
      .replace("/workspaces/:workspace_id/", "/")
      .replace(/:(\w+)/g, "{$1}")
    served[isExtension(endpoint) ? "more" : "same"].push(`${endpoint.method} ${path}`)
  }
})

describe("the page about compatibility", () => {
  it("names every operation of the hosted service that is served", () => {
    assert.deepStrictEqual(named(section("What is served")), served.same.sort())
  })

  it("names every operation that is more", () => {
    assert.deepStrictEqual(named(section("What is more")), served.more.sort())
  })
})
