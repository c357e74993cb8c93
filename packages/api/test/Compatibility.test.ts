/**
 * `docs/compatibility.md` lists what the contract has: all operations of `/api/v1`, those of the hosted service and the others, and
 * the members that the former have besides those of the interface.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { Api } from "../src/contract/Api.ts"
import { isExtension } from "../src/contract/Documentation.ts"
import { type Document, type Members, membersOf, type Place, places } from "./support/Members.ts"
import { specifiedMembers } from "./support/SpecifiedMembers.ts"

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

// It is plain JSON, and has these members by the specification of OpenAPI.
const document = JSON.parse(JSON.stringify(OpenApi.fromApi(Api))) as Document

const membersServed = new Map(
  [...membersOf(document)].map(([key, members]): [string, Members] => {
    const [method = "", path = ""] = key.split(" ")
    return [`${method} ${path.replace("/api/v1", "").replace("/workspaces/{workspace_id}/", "/")}`, members]
  })
)

const namesOf = (operation: string, place: Place) => {
  const names = specifiedMembers[operation]?.[place] ?? ""
  return names === "" ? [] : names.split(" ")
}

/** What an operation has besides the members of the interface; of what is more, not its members too. */
const moreIn = (operation: string, place: Place) => {
  const known = new Set(namesOf(operation, place))
  const more = [...(membersServed.get(operation)?.[place] ?? [])].filter((name) => !known.has(name))
  return more.filter((name) => !more.some((other) => name.startsWith(`${other}.`)))
}

const code = (text: string) => `\`${text}\``

/** The rows of the table: operations with the same members are one. */
const rows = () => {
  const found = new Map<string, { readonly operations: Array<string>; readonly rest: string }>()
  for (const operation of served.same.toSorted()) {
    for (const place of places) {
      const more = moreIn(operation, place).map((name) => code(name.replace(/^data\./, "")))
      if (more.length === 0) continue
      const rest = `${place} | ${more.join(", ")}`
      const row = found.get(rest) ?? { operations: [], rest }
      row.operations.push(code(operation))
      found.set(rest, row)
    }
  }
  return [...found.values()].map(({ operations, rest }) => `| ${operations.join(", ")} | ${rest} |`)
}

const withoutPadding = (text: string) => text.replaceAll(/ +/g, " ")

describe("the page about compatibility", () => {
  it("names every operation of the hosted service that is served", () => {
    assert.deepStrictEqual(named(section("Served operations")), served.same.sort())
  })

  it("names every operation that is more", () => {
    assert.deepStrictEqual(named(section("Extensions")), served.more.sort())
  })

  it("names every member that operations of the hosted service have besides those of the interface, word for word", () => {
    const table = withoutPadding(section("Additional members"))
      .split("\n")
      .filter((line) => line.startsWith("| `"))
    assert.deepStrictEqual(table, rows())
  })
})

describe("every operation of the hosted service", () => {
  it("has all members of the interface, and the interface is written down for all", () => {
    assert.deepStrictEqual(Object.keys(specifiedMembers).sort(), [...served.same].sort())
    for (const operation of served.same) {
      for (const place of places) {
        const missing = namesOf(operation, place).filter(
          (name) => membersServed.get(operation)?.[place].has(name) !== true
        )
        assert.deepStrictEqual(missing, [], `${operation} ${place}`)
      }
    }
  })
})
