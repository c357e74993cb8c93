import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const inRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** What oxlint says of a file: the line, and the message of the rule. */
const lint = async (source: string): Promise<ReadonlyArray<readonly [line: number, message: string]>> => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-lint-"))
  try {
    const config = join(folder, "oxlintrc.json")
    const file = join(folder, "flow.ts")
    writeFileSync(file, source)
    writeFileSync(
      config,
      JSON.stringify({
        jsPlugins: [inRoot("packages/flows/src/LintRules.ts")],
        categories: { correctness: "off" },
        rules: { "signalbox-flows/pure-body": "error" }
      })
    )
    const output = await new Promise<string>((resolve) => {
      const args = [inRoot("node_modules/oxlint/bin/oxlint"), "-c", config, "--format", "json", file]
      // It exits with 1 when it finds something.
      execFile(inRoot("node_modules/.bin/node"), args, { cwd: folder }, (_error, stdout, stderr) =>
        resolve(stdout + stderr)
      )
    })
    const { diagnostics } = JSON.parse(output) as {
      diagnostics: ReadonlyArray<{ message: string; labels: ReadonlyArray<{ span: { line: number } }> }>
    }
    return diagnostics
      .map(({ labels, message }) => [labels[0]?.span.line ?? 0, message] as const)
      .toSorted(([one], [other]) => one - other)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const effectForm = (body: string) => `import * as Effect from "effect/Effect"
import * as Flow from "@signalbox/flows/Flow"
export const flow = Flow.make("flow", {
  version: 1, idempotencyKey: () => crypto.randomUUID(),
  run: Effect.fnUntraced(function* (input) {
    ${body}
  })
})
`
const promiseForm = (body: string) => `import { defineFlow as flow } from "@signalbox/flows/Promises"
export const one = flow({
  name: "one",
  key: () => String(Date.now()),
  run: async (ctx, input) => {
    ${body}
  }
})
`
const found = async (source: string) => (await lint(source)).map(([, message]) => message)

describe("the rule for bodies of flows", () => {
  it("finds the clock, chance, requests and foreign concurrency, and names the remedy", async () => {
    const lines: ReadonlyArray<readonly [code: string, remedy: RegExp]> = [
      ["const a = Date.now()", /^Date\.now .*use Flow\.now$/],
      ["const b = new Date()", /^new Date\(\) .*use Flow\.now$/],
      ["const c = Math.random()", /^Math\.random .*the run of a step/],
      ["const d = crypto.randomUUID()", /^crypto\.randomUUID .*the run of a step/],
      ["const e = globalThis.crypto.subtle.digest('SHA-256', input)", /^crypto\..*the run of a step/],
      ["yield* Effect.sleep('1 hour')", /^Effect\.sleep .*use Flow\.sleep$/],
      ["yield* Effect.all([])", /^Effect\.all .*use Flow\.all or Flow\.forEach$/],
      ["yield* step(input).pipe(Effect.timeout('1 hour'))", /^Effect\.timeout .*use Flow\.timeout/],
      ["yield* step(input).pipe(Effect.retry({ times: 3 }))", /^Effect\.retry .*the retry of a step/],
      ["yield* Effect.race(step(1), step(2))", /^Effect\.race .*use Flow\.race$/],
      ["yield* Effect.promise(() => fetch('/'))", /^Effect\.promise .*the run of a step/],
      ["yield* Effect.tryPromise(() => other())", /^Effect\.tryPromise .*the run of a step/],
      ["setTimeout(() => {}, 5)", /^setTimeout\(\) .*use Flow\.sleep$/]
    ]
    const all = await lint(effectForm(lines.map(([code]) => code).join("\n    ")))
    lines.forEach(([code, remedy], index) => {
      assert.isTrue(
        all.some(([line, message]) => line === index + 6 && remedy.test(message)),
        code
      )
    })
    // The `fetch` in the promise is one more.
    assert.strictEqual(all.length, lines.length + 1)
  })

  it("names what the context has in flows of promises", async () => {
    assert.deepStrictEqual(
      await found(
        promiseForm(`await Promise.all([])
    const at = new Date()
    await fetch("/")`)
      ),
      [
        "Promise.all in the body of a flow runs again in each replay: use ctx.all or ctx.forEach",
        "new Date() in the body of a flow runs again in each replay: use ctx.now",
        "fetch() in the body of a flow runs again in each replay: do it in the run of a step, whose result is recorded"
      ]
    )
  })

  it("leaves alone steps, keys, dates of something, and code outside of flows", async () => {
    const source = `import * as Effect from "effect/Effect"
import * as Flow from "@signalbox/flows/Flow"
const step = Flow.step("step", { run: () => Effect.promise(() => fetch("/" + Date.now())) })
const other = { make: (_name: string, _options: object) => null }
other.make("flow", { run: () => Date.now() })
export const now = () => new Date()
${effectForm("const a = new Date(input); yield* Effect.map(step(input), String)").replace(/^import.*\n/gm, "")}`
    assert.deepStrictEqual(await found(source), [])
  })
})
