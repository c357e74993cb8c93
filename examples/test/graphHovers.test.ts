/**
 * What an editor shows of the functions of the graph: ten lines at most, made of the names of what comes and goes.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { API } from "typescript/unstable/sync"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as graph from "@signalbox/graph"
import { connectGraph } from "@signalbox/graph/promise"

/** Nothing is shortened, and each member of an object has a line, as editors show it. */
const asShown = 1 | 1024
const mostLines = 10
/** Of a text without line breaks, which an editor wraps. */
const mostCharacters = 800

const functionsOf = (modules: object, prefix = "") =>
  Object.entries(modules).flatMap(([module, members]) =>
    Object.entries(Object(members)).flatMap(([name, value]) =>
      typeof value === "function" && !/^[A-Z]/.test(name) ? [`${prefix}${module}.${name}`] : []
    )
  )

/** Each function, as `module.name`, and `client.module.name` of the client with promises. */
const functions = [...functionsOf(graph), ...functionsOf(connectGraph({ token: "T" }), "client.")]

const folder = mkdtempSync(join(import.meta.dirname, ".graph-hovers-"))
const texts = new Map<string, string>()

beforeAll(() => {
  const modules = Object.keys(graph)
  const lines = functions.map((name, index) => `export const shown${index} = ${name}`)
  const imports = [
    `import { ${modules.join(", ")} } from "@signalbox/graph"`,
    `import type { GraphClient } from "@signalbox/graph/promise"`,
    "declare const client: GraphClient"
  ]
  const source = [...imports, ...lines].join("\n")
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
  it("all functions", () => assert.isAbove(functions.length, 140))
  for (const name of functions) {
    it(name, () => {
      const text = texts.get(name) ?? ""
      assert.isNotEmpty(text)
      assert.isAtMost(text.split("\n").length, mostLines, text)
      assert.isAtMost(text.length, mostCharacters, text)
    })
  }
})
