/**
 * What the sandbox does not serve: it says so, and the README lists it.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import * as NotServed from "../src/internal/model/NotServed.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const site = "/sites/contoso.sharepoint.test:/sites/team:"

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })(
  "a part of the graph that is not served",
  (it) => {
    it.effect.each([
      "/education",
      "/me/events",
      "/me/drive/root/analytics",
      `${site}/contentTypes`,
      `${site}/lists/Documents/items/1/versions`
    ])("returns 501 with its name, such as %s", (path) =>
      Effect.gen(function* () {
        const ask = yield* Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox))
        const { body, status } = yield* ask(path)
        const name = path.split("/").at(-1) ?? ""
        assert.deepStrictEqual([status, body.error.code], [501, "notSupported"])
        assert.include(body.error.message, `does not serve '${name}'`)
      })
    )

    it.effect("differs from a word that the graph does not know", () =>
      Effect.gen(function* () {
        const ask = yield* Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox))
        assert.strictEqual((yield* ask("/me/nonsense")).status, 400)
        const converted = yield* ask("/me/drive/root:/Docs/a%20%231%25.txt:/content?format=pdf")
        assert.deepStrictEqual([converted.status, converted.body.error.code], [501, "notSupported"])
      })
    )
  }
)

describe("the README", () => {
  it("lists all that is not served", () => {
    const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8")
    const listed = readme.split("501 `notSupported`")[1]?.split("\n\n")[1] ?? ""
    assert.sameMembers(
      [...listed.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
      [...new Set(NotServed.names)]
    )
  })
})
