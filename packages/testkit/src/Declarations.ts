/** The declarations of a package, which an editor reads of each module that a program imports. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, join } from "node:path"

const root = join(import.meta.dirname, "../../..")
const tsc = join(createRequire(join(root, "package.json")).resolve("typescript/package.json"), "../lib/tsc.js")

/** Compiles a package, and returns how many bytes the declarations of each module have, by its path in `src` without its ending. */
export const declarationSizes = (folder: string): Readonly<Record<string, number>> => {
  // Within the package, so that its imports are found. The leading dot hides it from other tools.
  const own = mkdtempSync(join(folder, ".declarations-"))
  try {
    const config = join(own, "tsconfig.json")
    const compilerOptions = {
      composite: false,
      incremental: false,
      declaration: true,
      declarationMap: false,
      emitDeclarationOnly: true,
      sourceMap: false,
      rootDir: join(root, "packages"),
      outDir: join(own, "out")
    }
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, "tsconfig.base.json"), compilerOptions, include: [join(folder, "src")] })
    )
    execFileSync(process.execPath, [tsc, "-p", config], { cwd: folder })
    const out = join(own, "out", basename(folder), "src")
    const paths = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".d.ts"))
    return Object.fromEntries(paths.map((path) => [path.slice(0, -".d.ts".length), statSync(join(out, path)).size]))
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

/** The most that the declarations of one module have, in bytes. */
export const mostDeclared = 20 * 1024

/** The modules whose declarations are larger, with their sizes in bytes. */
export const tooLarge = (sizes: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(sizes).filter(([, size]) => size > mostDeclared))
