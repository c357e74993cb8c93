/** The files of the console, as a browser asks for them. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ConsoleFiles } from "../src/Options.ts"
import { layer as serviceLayer, layerIn, Service, temporaryFolder } from "./support/Service.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const files: ConsoleFiles = {
  "index.html": {
    bytes: bytes("<!doctype html><title>Console</title>"),
    contentType: "text/html; charset=utf-8",
    immutable: false
  },
  "main-1a2b.js": { bytes: bytes("export {}"), contentType: "text/javascript; charset=utf-8", immutable: true },
  "icon.png": { bytes: new Uint8Array([0x89, 0x50, 0xff, 0]), contentType: "image/png", immutable: false }
}

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(Service, ({ raw }) => raw("GET", path, { key: null, headers }))

const served = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, console: files }))
)

withLayer(served, { excludeTestServices: true, timeout: "4 minutes" })("the console", (it) => {
  it.effect("is a page that runs its own scripts alone", () =>
    Effect.gen(function* () {
      const page = yield* get("/console/")
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "<title>Console</title>")
      assert.strictEqual(page.headers["content-type"], "text/html; charset=utf-8")
      const policy = page.headers["content-security-policy"] ?? ""
      for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
        assert.include(policy, part)
      }
      assert.strictEqual(page.headers["cache-control"], "public, no-cache")
      const again = yield* get("/console/", { "if-none-match": page.headers["etag"] ?? "" })
      assert.strictEqual(again.status, 304)
    })
  )

  it.effect("is where the address of the service leads, and that of its folder without a slash", () =>
    Effect.gen(function* () {
      for (const path of ["/", "/console"]) {
        const answer = yield* get(path)
        assert.deepStrictEqual([answer.status, answer.headers["location"]], [302, "/console/"], path)
      }
    })
  )

  it.effect("has files that browsers keep where their names change with them, byte for byte", () =>
    Effect.gen(function* () {
      const script = yield* get("/console/main-1a2b.js")
      assert.strictEqual(script.headers["cache-control"], "public, max-age=31536000, immutable")
      assert.strictEqual(script.headers["x-content-type-options"], "nosniff")
      const icon = yield* get("/console/icon.png")
      assert.deepStrictEqual([...icon.bytes], [0x89, 0x50, 0xff, 0])
      assert.strictEqual((yield* get("/console/main-0000.js")).status, 404)
    })
  )
})

withLayer(serviceLayer, { excludeTestServices: true, timeout: "4 minutes" })("a service without the console", (it) => {
  it.effect("has no page", () =>
    Effect.gen(function* () {
      for (const path of ["/", "/console/"]) assert.strictEqual((yield* get(path)).status, 404, path)
    })
  )
})
