/**
 * The declarations of each module: what an editor reads of it is small.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const most = 20 * 1024
const own = resolve(import.meta.dirname, "../..")
const root = resolve(own, "../..")
const tsc = join(dirname(createRequire(join(root, "package.json")).resolve("typescript/package.json")), "lib/tsc.js")
const folder = mkdtempSync(join(own, ".declarations-"))
const out = join(folder, "out")

const modules = readdirSync(join(own, "src"), { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".ts") && !path.startsWith("internal")
)

beforeAll(() => {
  const config = join(folder, "tsconfig.json")
  const compilerOptions = {
    composite: false,
    incremental: false,
    declaration: true,
    declarationMap: false,
    emitDeclarationOnly: true,
    sourceMap: false,
    rootDir: join(root, "packages"),
    outDir: out
  }
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, "tsconfig.base.json"), compilerOptions, include: [join(own, "src")] })
  )
  execFileSync(process.execPath, [tsc, "-p", config], { cwd: own })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("the declarations have at most 20 KB", () => {
  for (const path of modules) {
    it(path, () => {
      const { size } = statSync(join(out, "graph/src", path.replace(/\.ts$/, ".d.ts")))
      assert.isAtMost(size, most)
    })
  }
})
