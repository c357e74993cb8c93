/**
 * Assembles what is published from what `tsc` has built: the public modules with what they import, and the command, bundled with
 * all that it needs, Effect and the driver of Postgres too. What only some commands need is a file of its own beside it.
 */
import { createHash } from "node:crypto"
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { dirname, join, relative } from "node:path"
import { build, type BuildOptions, type OutputOptions, type Plugin } from "rolldown"
import { parseAst } from "rolldown/parseAst"
import { Visitor } from "rolldown/utils"

const here = import.meta.dirname
const built = join(here, ".tsbuildinfo/out")
const dist = join(here, "dist")

const { exports }: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(here, "package.json"), "utf8")
)

const copied = new Set<string>()

/** Copies a module, its types, and what it imports from this package. */
const copy = (module: string) => {
  if (copied.has(module)) return
  copied.add(module)
  for (const file of [`${module}.js`, `${module}.d.ts`]) {
    const target = join(dist, relative(built, file))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(file, target)
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g)) {
      copy(join(dirname(file), path))
    }
  }
}

rmSync(dist, { recursive: true, force: true })
for (const source of Object.values(exports)) {
  if (source.endsWith(".ts")) copy(join(built, source.replace("./src/", "").replace(/\.ts$/, "")))
}
for (const file of ["bin.js", "bin.d.ts"]) copyFileSync(join(built, file), join(dist, file))

/** Rolldown leaves out what `export *` of a CommonJS module exports, which is how `@effect/platform-node` hands undici on. */
const undici: Plugin = {
  name: "undici",
  resolveId(source, importer) {
    return source === "./Undici.js" ? this.resolve("undici", importer) : null
  }
}

/**
 * Takes Node's own modules as objects. An `import` of one reads everything that it exports, which for `node:http` loads Node's
 * whole `fetch`, a tenth of the start of `up`.
 */
const builtins: Plugin = {
  name: "builtins",
  renderChunk(code) {
    const rest: Array<string> = []
    const objects: Array<string> = []
    let end = 0
    for (const node of parseAst(code).body) {
      if (node.type !== "ImportDeclaration" || !isBuiltin(node.source.value)) continue
      const named = node.specifiers.flatMap(({ local, ...specifier }) =>
        specifier.type === "ImportSpecifier"
          ? [`${"name" in specifier.imported ? specifier.imported.name : specifier.imported.value}: ${local.name}`]
          : []
      )
      const whole = node.specifiers.flatMap(({ local, type }) => (type === "ImportSpecifier" ? [] : [local.name]))
      const module = `process.getBuiltinModule(${JSON.stringify(node.source.value)})`
      if (named.length > 0) whole.push(`{ ${named.join(", ")} }`)
      objects.push(...whole.map((target) => `const ${target} = ${module}\n`))
      rest.push(code.slice(end, node.start))
      end = node.end
    }
    return objects.length === 0 ? null : objects.join("") + rest.join("") + code.slice(end)
  }
}

/** The command's lines measure text with tables that take 20 ms to load; most commands print no table. */
const segmenter: Plugin = {
  name: "segmenter",
  transform(code, id) {
    if (!id.endsWith("/effect/dist/cli/CliOutput.js")) return null
    const made = /new Intl\.Segmenter\([^)]*\)/
    if (!made.test(code)) throw new Error("effect/cli/CliOutput makes no Intl.Segmenter any more: remove this plugin")
    return code.replace(made, (made) => `{ segment: (text) => ${made}.segment(text) }`)
  }
}

/** The console finds its files beside itself; in a bundle it is told where its package is, so that none of it is loaded from there. */
const consoleIn = (resolve: string): Plugin => ({
  name: "console",
  transform(code, id) {
    if (!/\/console\/(src|dist)\/Files\.[jt]s$/.test(id)) return null
    const own = 'join(import.meta.dirname, "..")'
    if (!code.includes(own)) throw new Error("console/Files does not look for its files beside itself any more")
    return code.replace(own, `join(${resolve}("@signalbox/console/package.json"), "..")`)
  }
})

const common: BuildOptions = {
  platform: "node",
  logLevel: "warn",
  // The page of the documentation, 3 MB that are installed with Effect anyway; it is loaded when somebody looks at it.
  external: ["effect/http-api/HttpApiScalar"]
}

const output: OutputOptions = {
  comments: { legal: true, annotation: false, jsdoc: false },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } }
}

await build({
  ...common,
  input: { Main: join(here, "src/internal/Main.ts") },
  plugins: [
    builtins,
    consoleIn('process.getBuiltinModule("module").createRequire(import.meta.url).resolve'),
    segmenter,
    undici
  ],
  output: { ...output, dir: join(dist, "internal/command"), format: "esm", chunkFileNames: "[name].js" }
})
// What `bin.js` imports.
writeFileSync(join(dist, "internal/Main.js"), 'import "./command/Main.js"\n')

// `up` once more by itself: one script with all that it needs before it listens, for `Compiled`.
const up = join(dist, "internal/up")
await build({
  ...common,
  input: { Up: join(here, "src/internal/UpMain.ts") },
  // Of the environment of browsers, where configuration may come from.
  transform: { define: { "import.meta": "{}" } },
  plugins: [consoleIn("require.resolve"), segmenter, undici],
  output: {
    ...output,
    dir: up,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name].cjs",
    codeSplitting: { groups: [{ name: "Up", test: /\/UpMain\.ts$/ }] }
  }
})
// A script that is not loaded as a module has no `import`: one beside it does that. In ASCII alone, which is read and scanned in
// half the time.
writeFileSync(join(up, "import.cjs"), "module.exports = (specifier) => import(specifier)\n")
const module = readFileSync(join(up, "Up.cjs"), "utf8")
const imports: Array<number> = []
new Visitor({ ImportExpression: ({ start }) => void imports.push(start) }).visit(parseAst(module))
const script = [0, ...imports.toSorted((a, b) => a - b)]
  .map((start, index, starts) => module.slice(start, starts[index + 1]))
  .map((part, index) => (index === 0 ? part : part.replace(/^import/, 'require("./import.cjs")')))
  .join("")
  .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
writeFileSync(join(up, "Up.cjs"), script)
copy(join(built, "internal/Compiled"))
const digest = createHash("sha256").update(script).digest("hex")
writeFileSync(
  join(dist, "internal/UpMain.js"),
  `import { join } from "node:path"
import { run } from "./Compiled.js"
run(join(import.meta.dirname, "up/Up.cjs"), "${digest}")
`
)
