/**
 * Office files in document libraries, which SharePoint rewrites.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking, fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const ann = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))

const library = "/sites/contoso.sharepoint.test:/sites/team:/drive"

/** An archive without entries, which is all that a zip archive needs to be one. */
const archive = Buffer.concat([Buffer.from("504b0506", "hex"), Buffer.alloc(18)])

layer(GraphSandbox.layer({ seed: contoso, rewriteOffice: true }), { excludeTestServices: true })(
  "a sandbox that rewrites Office files",
  (it) => {
    it.effect("keeps another size and hash than those of what was uploaded, and serves what it keeps", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const plain = yield* ask(`${library}/root:/a.zip:/content`, { method: "PUT", body: archive })
        const office = yield* ask(`${library}/root:/a.xlsx:/content`, { method: "PUT", body: archive })
        assert.strictEqual(plain.body.size, archive.length)
        assert.isAbove(office.body.size, archive.length)
        assert.notStrictEqual(office.body.file.hashes.quickXorHash, plain.body.file.hashes.quickXorHash)
        const { bytes } = yield* fetched(office.body["@microsoft.graph.downloadUrl"])
        assert.strictEqual(bytes.length, office.body.size)
        // Where the properties are the comment of the archive, readers still open it.
        assert.strictEqual(Buffer.from(bytes).readUInt16LE(20), bytes.length - archive.length)
      })
    )

    it.effect("rewrites what comes in fragments, and is larger than what stays in memory", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const contents = Buffer.alloc(327_680 + 10, "x")
        const { body } = yield* ask(`${library}/root:/big.docx:/createUploadSession`, { method: "POST", json: {} })
        const put = yield* fetched(body.uploadUrl, {
          method: "PUT",
          headers: { "content-range": `bytes 0-${contents.length - 1}/${contents.length}` },
          body: contents
        })
        assert.isAbove(put.body.size, contents.length)
        const { bytes } = yield* fetched(put.body["@microsoft.graph.downloadUrl"])
        assert.strictEqual(bytes.length, put.body.size)
        assert.isTrue(Buffer.from(bytes).subarray(0, contents.length).equals(contents))
      })
    )

    it.effect("leaves those in a person's drive as they are", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const put = yield* ask("/me/drive/root:/a.xlsx:/content", { method: "PUT", body: archive })
        assert.strictEqual(put.body.size, archive.length)
      })
    )
  }
)

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("a sandbox by default", (it) => {
  it.effect("keeps Office files as they were uploaded", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const put = yield* ask(`${library}/root:/a.xlsx:/content`, { method: "PUT", body: archive })
      assert.strictEqual(put.body.size, archive.length)
    })
  )
})
