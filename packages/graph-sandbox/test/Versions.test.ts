/**
 * Versions of files, and how long paths may be.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking, fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const ann = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("versions of a file", (it) => {
  const writeTwice = Effect.fnUntraced(function* (name: string) {
    const ask = yield* ann
    for (const body of ["first", "second", "third"]) {
      yield* ask(`/me/drive/root:/${name}:/content`, { method: "PUT", body })
    }
    return { ask, versions: `/me/drive/root:/${name}:/versions` }
  })
  const idsOf = ({ body }: { readonly body: { readonly value: ReadonlyArray<{ readonly id: string }> } }) =>
    body.value.map(({ id }) => id)

  it.effect("are deleted one by one, and a new one gets a number of its own", () =>
    Effect.gen(function* () {
      const { ask, versions } = yield* writeTwice("deleted.txt")
      assert.deepStrictEqual(idsOf(yield* ask(versions)), ["3.0", "2.0", "1.0"])
      assert.strictEqual((yield* ask(`${versions}/1.0`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* ask(`${versions}/1.0`)).status, 404)
      yield* ask("/me/drive/root:/deleted.txt:/content", { method: "PUT", body: "fourth" })
      assert.deepStrictEqual(idsOf(yield* ask(versions)), ["4.0", "3.0", "2.0"])
    })
  )

  it.effect("are read one by one, but for the contents of the current one", () =>
    Effect.gen(function* () {
      const { ask, versions } = yield* writeTwice("read.txt")
      assert.deepInclude((yield* ask(`${versions}/2.0`)).body, { id: "2.0", size: 6 })
      const content = yield* ask(`${versions}/2.0/content`)
      const { bytes } = yield* fetched(content.headers.get("location") ?? "")
      assert.strictEqual(Buffer.from(bytes).toString(), "second")
      const current = yield* ask(`${versions}/3.0/content`)
      assert.strictEqual(current.status, 400)
      assert.strictEqual(current.body.error.message, "You cannot get the content of the current version.")
    })
  )

  it.effect("keep the current one, whatever is deleted", () =>
    Effect.gen(function* () {
      const { ask, versions } = yield* writeTwice("kept.txt")
      const refused = yield* ask(`${versions}/3.0`, { method: "DELETE" })
      assert.deepStrictEqual([refused.status, refused.body.error.code], [400, "invalidRequest"])
    })
  )
})

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })(
  "a path of more than 400 characters",
  (it) => {
    const folder = "f".repeat(200)
    const site = "/sites/contoso.sharepoint.test:/sites/team:/drive"
    // `sites/team/Documents/`, then the folder and its slash.
    const left = 400 - 21 - 201
    const codeOf = ({
      body
    }: {
      readonly body: { readonly error: { readonly innerError: { readonly code: string } } }
    }) => body.error.innerError.code

    it.effect("is refused for an upload, the library and its folders included", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const longest = `${site}/root:/${folder}/${"n".repeat(left)}`
        assert.strictEqual((yield* ask(`${longest}:/content`, { method: "PUT", body: "fits" })).status, 201)
        const put = yield* ask(`${longest}n:/content`, { method: "PUT", body: "too long" })
        assert.deepStrictEqual([put.status, codeOf(put)], [400, "pathIsTooLong"])
        const session = yield* ask(`${longest}n:/createUploadSession`, { method: "POST", json: {} })
        assert.strictEqual(codeOf(session), "pathIsTooLong")
      })
    )

    it.effect("is refused for what lies in a folder that is moved or copied", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const made = yield* ask(`${site}/root:/a/${"n".repeat(left)}:/content`, { method: "PUT", body: "deep" })
        const parent = made.body.parentReference.id
        const name = "g".repeat(200)
        const there = (yield* ask(`${site}/root/children`, { method: "POST", json: { name, folder: {} } })).body.id
        const item = `${site}/items/${parent}`
        const moved = yield* ask(item, { method: "PATCH", json: { parentReference: { id: there } } })
        assert.strictEqual(codeOf(moved), "pathIsTooLong")
        const copied = yield* ask(`${item}/copy`, { method: "POST", json: { parentReference: { id: there } } })
        assert.strictEqual(codeOf(copied), "pathIsTooLong")
        assert.strictEqual((yield* ask(`${site}/root:/${name}/a`)).status, 404)
      })
    )
  }
)
