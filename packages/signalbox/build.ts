/**
 * Assembles what is published from what `tsc` has built: the public modules with what they import, and the command, bundled with
 * all that it needs, Effect and the driver of Postgres too. What only some commands need is a file of its own beside it, so that
 * `up` does not read it.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { dirname, join, relative } from "node:path"
import { build, type Plugin } from "rolldown"
import { parseAst } from "rolldown/parseAst"

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

await build({
  input: { Main: join(here, "src/internal/Main.ts") },
  platform: "node",
  logLevel: "warn",
  plugins: [builtins, undici],
  // The page of the documentation, 3 MB that are installed with Effect anyway; it is loaded when somebody looks at it.
  // The console finds its files beside itself.
  external: ["effect/http-api/HttpApiScalar", /^@signalbox\/console\//],
  output: {
    dir: join(dist, "internal/command"),
    format: "esm",
    chunkFileNames: "[name].js",
    comments: { legal: true, annotation: false, jsdoc: false },
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } }
  }
})
// What `bin.js` imports.
writeFileSync(join(dist, "internal/Main.js"), 'import "./command/Main.js"\n')
