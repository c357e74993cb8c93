/**
 * What an editor shows of the functions of the graph: ten lines at most, made of the names of what comes and goes.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { API } from "typescript/unstable/sync"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as graph from "@signalbox/graph"

/** Nothing is shortened, and each member of an object has a line, as editors show it. */
const asShown = 1 | 1024
const mostLines = 10
/** Of a text without line breaks, which an editor wraps. */
const mostCharacters = 800

/** Each function, as `module.name`. */
const functions = Object.entries(graph).flatMap(([module, members]) =>
  Object.entries(members).flatMap(([name, value]) =>
    typeof value === "function" && !/^[A-Z]/.test(name) ? [`${module}.${name}`] : []
  )
)

const folder = mkdtempSync(join(import.meta.dirname, ".graph-hovers-"))
const texts = new Map<string, string>()

beforeAll(() => {
  const modules = Object.keys(graph)
  const lines = functions.map((name, index) => `export const shown${index} = ${name}`)
  const source = [`import { ${modules.join(", ")} } from "@signalbox/graph"`, ...lines].join("\n")
  const file = join(folder, "shown.ts")
  writeFileSync(file, source)
  const config = join(folder, "tsconfig.json")
  const compilerOptions = { noEmit: true, composite: false, declarationMap: false, sourceMap: false }
  writeFileSync(config, JSON.stringify({ extends: "../../../tsconfig.base.json", compilerOptions, include: ["*.ts"] }))
  const api = new API()
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
  if (project === undefined) throw new Error("the compiler has opened no project")
  for (const [index, name] of functions.entries()) {
    const symbol = project.checker.getSymbolAtPosition(file, source.indexOf(`shown${index} `))
    const type = symbol === undefined ? undefined : project.checker.getTypeOfSymbol(symbol)
    texts.set(name, type === undefined ? "" : project.checker.typeToString(type, undefined, asShown))
  }
  api.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("an editor shows in ten lines", () => {
  it("all functions", () => assert.isAbove(functions.length, 80))
  for (const name of functions) {
    it(name, () => {
      const text = texts.get(name) ?? ""
      assert.isNotEmpty(text)
      assert.isAtMost(text.split("\n").length, mostLines, text)
      assert.isAtMost(text.length, mostCharacters, text)
    })
  }
})
