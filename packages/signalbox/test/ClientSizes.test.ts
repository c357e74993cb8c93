/** What programs bundle and load that use one function of the clients: sizes minified and gzipped, and numbers of modules. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { bundling } from "./support/Bundled.ts"
import { loadedFile } from "./support/Cli.ts"

const programs: Readonly<Record<string, { readonly code: string; readonly mostKilobytes: number }>> = {
  "a receiver of webhooks": {
    code: `export { verifyWebhook } from "@signalbox/api/webhook"`,
    mostKilobytes: 2
  },
  // A request whose JSON a schema decodes is 39 KB of this, without any of the client.
  "one call with Effect": {
    code: `import type { WorkItemId } from "@signalbox/api/contract/Ids"
import { ControlRoom, type Options } from "@signalbox/api/ControlRoom"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"

export const main = (options: Options, item: WorkItemId) =>
  WorkItems.get(item).pipe(Effect.provide(ControlRoom.layer(options)), Effect.runPromise)`,
    mostKilobytes: 63
  },
  "one call with promises of the modules that it names": {
    code: `import { connectOnly, type Options } from "@signalbox/api/promise"
import { workItems } from "@signalbox/api/resources"

export const main = (options: Options, item: string) => connectOnly({ workItems }, options).workItems.get(item)`,
    mostKilobytes: 75
  },
  // All modules are members of the client.
  "one call with promises": {
    code: `import { connect, type Options } from "@signalbox/api/promise"

export const main = (options: Options, item: string) => connect(options).workItems.get(item)`,
    mostKilobytes: 113
  },
  "one call of the graph with Effect": {
    code: `import { AccessTokens } from "../../graph/src/AccessTokens.ts"
import { Graph } from "../../graph/src/Graph.ts"
import * as Users from "../../graph/src/Users.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"

export const main = (token: Redacted.Redacted) =>
  Users.me().pipe(Effect.provide(Layer.provide(Graph.layer(), AccessTokens.layerFixed(token))), Effect.runPromise)`,
    mostKilobytes: 59
  }
}

/** How many modules are loaded with one, of effect and of ours; `effect/Effect` alone is 65. */
const loads: Readonly<Record<string, number>> = {
  "@signalbox/api/webhook": 4,
  "@signalbox/api/WorkItems": 234,
  "@signalbox/api/promise": 333,
  "../../graph/src/Users.ts": 218,
  "../../graph/src/Promise.ts": 351
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

describe("the import of", () => {
  for (const [module, most] of Object.entries(loads)) {
    it(`${module} loads at most ${most} modules`, async () => {
      const args = ["--import", loadedFile, "--input-type=module", "--eval", `await import("${module}")`]
      const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname })
      assert.isAtMost(stderr.match(/^loaded file:/gm)?.length ?? 0, most)
    })
  }
})
