/** What programs bundle that use one function of the clients, minified and gzipped. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { bundling } from "./support/Bundled.ts"

const programs: Readonly<Record<string, { readonly code: string; readonly mostKilobytes: number }>> = {
  "a receiver of webhooks": {
    code: `export { verifyWebhook } from "@signalbox/api/webhook"`,
    mostKilobytes: 2
  }
}

const fileOf = (name: string) => `${name.replaceAll(" ", "-")}.ts`

const { bundle, remove } = bundling(
  "sizes",
  Object.fromEntries(Object.entries(programs).map(([name, { code }]) => [fileOf(name), code]))
)
afterAll(remove)

describe("a bundle of", () => {
  for (const [name, { mostKilobytes }] of Object.entries(programs)) {
    it(`${name} has at most ${mostKilobytes} KB`, async () => {
      const { gzipped, imports, warnings } = await bundle(fileOf(name), { minify: true })
      assert.deepStrictEqual({ imports, warnings }, { imports: [], warnings: [] })
      assert.isAtMost(gzipped, mostKilobytes * 1_000)
    })
  }
})
