/**
 * Sites by what people copy out of their browsers, against the sandbox.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Drive from "../src/Drive.ts"
import * as Sharing from "../src/Sharing.ts"
import * as Sites from "../src/Sites.ts"
import { asked, faults, inSandbox } from "./support/Sandbox.ts"

const host = "contoso.sharepoint.example"
const files = { "Berichte/Mai #1.docx": "Mai" }
const seed = {
  users: [{ userPrincipalName: "ann@contoso.test", displayName: "Ann Lee", drive: { "own.txt": "own" } }],
  sites: [
    { path: "", host, displayName: "Root", drives: { Dokumente: files } },
    { path: "/sites/team", host, displayName: "Team", drives: { "Freigegebene Dokumente": files, Archiv: files } },
    { path: "/sites/team/sub", host, displayName: "Sub", drives: { Dokumente: files } }
  ]
}

/** Through a German library, whose name is no name of the service. */
const addresses: ReadonlyArray<readonly [string, string, string]> = [
  ["a library", "/sites/team/Freigegebene%20Dokumente", "Team"],
  ["the page of a library", "/sites/team/Freigegebene%20Dokumente/Forms/AllItems.aspx?viewid=1", "Team"],
  ["a folder of a library", "/sites/team/Archiv/Berichte", "Team"],
  ["a file", "/sites/team/Archiv/Berichte/Mai%20%231.docx?web=1", "Team"],
  ["a file of a site below", "/sites/team/sub/Dokumente/Berichte/Mai%20%231.docx", "Sub"],
  ["a site below", "/sites/team/sub", "Sub"],
  ["a library of the root site", "/Dokumente/Forms/AllItems.aspx", "Root"]
]

describe("a site", () => {
  for (const [what, address, expected] of addresses) {
    it.live(`is found by the address of ${what}`, () =>
      inSandbox(
        Effect.gen(function* () {
          assert.strictEqual((yield* Sites.get(`https://${host}${address}`)).displayName, expected)
        }),
        { seed }
      )
    )
  }

  it.live("is found by a link to share something in it, with the fields that are asked for", () =>
    inSandbox(
      Effect.gen(function* () {
        const team = yield* Sites.get([host, "/sites/team"])
        const [library] = yield* Stream.runCollect(Sites.drives(team.id))
        const drive = Drive.of({ id: library?.id ?? "" })
        const { link } = yield* Sharing.createLink(drive, { path: "/Berichte" })
        const found = yield* Sites.get(` ${link?.webUrl} `, { select: ["displayName"] })
        assert.deepInclude(found, { id: team.id, displayName: "Team" })
        assert.isUndefined(found.webUrl)
      }),
      { seed }
    )
  )

  it.live("by a link into the drive of a person is NotFound, and the link shows nowhere", () =>
    inSandbox(
      Effect.gen(function* () {
        const { link } = yield* Sharing.createLink(Drive.me, { path: "/own.txt" })
        const error = yield* Effect.flip(Sites.get(link?.webUrl ?? ""))
        assert.strictEqual(error.reason._tag, "NotFound")
        assert.include(error.message, "in no site")
        assert.notInclude(`${error.message}${JSON.stringify(error)}`, Drive.shareToken(link?.webUrl ?? ""))
      }),
      { seed }
    )
  )

  for (const address of ["/sites/tema", "/sites/team/sbu", "/tema"]) {
    it.live(`that is not there is NotFound, and not the one above it: ${address}`, () =>
      inSandbox(
        Effect.gen(function* () {
          const error = yield* Effect.flip(Sites.get(`https://${host}${address}`))
          assert.strictEqual(error.reason._tag, "NotFound")
          assert.include(error.request.path, address.split("/").at(-1) ?? "")
        }),
        { seed }
      )
    )
  }

  it.live("costs one request by its own address", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* faults()
        yield* Sites.get(`https://${host}/sites/team`)
        assert.lengthOf(yield* asked, 1)
      }),
      { seed }
    )
  )
})
