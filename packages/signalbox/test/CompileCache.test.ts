import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const compiled = join(import.meta.dirname, "../src/internal/process/CompileCache.ts")

/** A folder with a script, and how to run it with a cache there; `stored` is the file with its compiled code. */
const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "signalbox-compiled-"))
    const script = join(path, "script.cjs")
    const program = join(path, "program.mjs")
    writeFileSync(
      program,
      `import { enableCompileCache } from "node:module"
enableCompileCache(${JSON.stringify(join(path, "cache"))})
const { run } = await import(${JSON.stringify(compiled)})
run(${JSON.stringify(script)}, process.argv[2], "script")
`
    )
    const stored = () => {
      const name = readdirSync(path, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith("script.bin"))
      assert.isDefined(name)
      return join(path, name ?? "")
    }
    return {
      path,
      stored,
      write: (text: string) => writeFileSync(script, text),
      run: (digest: string) => execFileSync(process.execPath, [program, digest], { encoding: "utf8", env: {} }).trim()
    }
  }),
  ({ path }) => Effect.sync(() => rmSync(path, { recursive: true }))
)

it.effect("a script runs from its compiled code, until its content is another", () =>
  Effect.gen(function* () {
    const { run, stored, write } = yield* folder
    write(`const { basename } = require("node:path"); console.log(basename(__filename), 1)`)
    assert.strictEqual(run("a".repeat(64)), "script.cjs 1")
    const first = statSync(stored()).ino
    assert.strictEqual(run("a".repeat(64)), "script.cjs 1")
    assert.strictEqual(statSync(stored()).ino, first)
    // Of the same length, which is all that V8 compares.
    write(`const { basename } = require("node:path"); console.log(basename(__filename), 2)`)
    assert.strictEqual(run("b".repeat(64)), "script.cjs 2")
    assert.strictEqual(readFileSync(stored(), "latin1").slice(0, 64), "b".repeat(64))
  }).pipe(Effect.scoped)
)

it.effect("compiled code that is damaged is compiled again", () =>
  Effect.gen(function* () {
    const { run, stored, write } = yield* folder
    write("console.log('ran')")
    run("a".repeat(64))
    writeFileSync(stored(), "a".repeat(64) + "not code")
    assert.strictEqual(run("a".repeat(64)), "ran")
    assert.isAbove(statSync(stored()).size, 100)
  }).pipe(Effect.scoped)
)

it.effect("modules that a script loads can require it", () =>
  Effect.gen(function* () {
    const { path, run, write } = yield* folder
    writeFileSync(join(path, "other.cjs"), "exports.name = require('./script.cjs').name")
    write("console.log('once'); exports.name = 'script'; console.log(require('./other.cjs').name)")
    assert.strictEqual(run("a".repeat(64)), "once\nscript")
  }).pipe(Effect.scoped)
)

it.effect("a promise of what a script exports is no circular import to Node", () =>
  Effect.gen(function* () {
    const { path, run, write } = yield* folder
    writeFileSync(join(path, "warned.cjs"), "process.on('warning', ({ message }) => console.log(message))")
    write("require('./warned.cjs'); exports.name = 'script'; Promise.resolve().then(() => require('./script.cjs'))")
    assert.strictEqual(run("a".repeat(64)), "")
  }).pipe(Effect.scoped)
)
