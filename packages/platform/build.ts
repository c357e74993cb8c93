/**
 * Copies what is published: the compiled modules of `@effect/platform-node` that the sources name, with what those import, and its
 * licence. `@effect/platform-node` itself would bring Redis, a peer that npm installs without being asked.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

const here = import.meta.dirname
const dist = join(here, "dist")

/** Where each package lies, and where its files go. */
const packages = [
  { name: "@effect/platform-node", to: dist },
  { name: "@effect/platform-node-shared", to: join(dist, "shared") }
].map((copied) => ({ ...copied, from: join(here, "node_modules", copied.name, "dist") }))

/** `import ... from "x"` and `export ... from "x"` on one line, `import "x"`, and `import("x")`. */
const specifiers = /^((?:import|export) [^"\n]*\bfrom |import |[^"\n]*\bimport\()"([^"]+)"/gm
const relativeSpecifier = (from: string, to: string) => {
  const path = relative(dirname(from), to)
  return path.startsWith(".") ? path : `./${path}`
}

/** The file that an import of a file means: another of the same package, or one of the other package. */
const resolve = (file: string, specifier: string, extension: string): string | undefined => {
  if (specifier.startsWith(".")) return join(dirname(file), specifier).replace(/(\.js|\.ts)$/, extension)
  const owner = packages.find(({ name }) => specifier.startsWith(`${name}/`))
  return owner === undefined ? undefined : join(owner.from, specifier.slice(owner.name.length) + extension)
}

const targetOf = (file: string): string => {
  const owner = packages.find(({ from }) => file.startsWith(`${from}/`))
  if (owner === undefined) throw new Error(`${file} is in neither package`)
  return join(owner.to, file.slice(owner.from.length))
}

/** Imports `Buffer` where types name the global, which a program without the globals of Node does not have. */
const withBuffer = (types: string) =>
  /: Buffer\b/.test(types) && !/^import .*\bBuffer\b/m.test(types)
    ? `import type { Buffer } from "node:buffer";\n${types}`
    : types

const copy = (file: string, extension: ".js" | ".d.ts", done: Set<string>) => {
  if (done.has(file)) return
  done.add(file)
  const target = targetOf(file)
  const text = readFileSync(file, "utf8")
    .replace(/^\/\/# sourceMappingURL=.*\n?/m, "")
    // By its file: Bun replaces `undici` by a part of it.
    .replaceAll('from "undici"', 'from "undici/index.js"')
    .replace(specifiers, (whole, before: string, specifier: string) => {
      const imported = resolve(file, specifier, extension)
      if (imported === undefined) return whole
      copy(imported, extension, done)
      return `${before}"${relativeSpecifier(target, targetOf(imported).replace(/\.d\.ts$/, ".js"))}"`
    })
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, extension === ".d.ts" ? withBuffer(text) : text)
}

rmSync(dist, { recursive: true, force: true })
for (const extension of [".js", ".d.ts"] as const) {
  const done = new Set<string>()
  for (const source of readdirSync(join(here, "src"))) {
    copy(join(here, "node_modules/@effect/platform-node/dist", source.replace(/\.ts$/, extension)), extension, done)
  }
}
copyFileSync(join(here, "node_modules/@effect/platform-node/LICENSE"), join(dist, "LICENSE-EFFECT"))

// The types of `ws` as a dependency would bring those of Node, 3 MB in a version of their own; who compiles has them.
const ws = join(here, "node_modules/@types/ws")
copyFileSync(join(ws, "index.d.mts"), join(dist, "shared/ws.d.mts"))
copyFileSync(join(ws, "LICENSE"), join(dist, "LICENSE-TYPES-WS"))
const exporting = join(dist, "shared/NodeWS.d.ts")
const types = readFileSync(exporting, "utf8").replace('export * from "ws"', 'export * from "./ws.mjs"')
if (!types.includes("./ws.mjs")) throw new Error("@effect/platform-node-shared/NodeWS does not export `ws` any more")
writeFileSync(exporting, types)
