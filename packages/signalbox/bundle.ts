/**
 * Bundles the command with all that it needs, Effect and the driver of Postgres too. What only some commands need is a file of its
 * own beside it.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { build, type BuildOptions, type Plugin, type RolldownOutput } from "rolldown"
import { parseAst } from "rolldown/parseAst"
import { Visitor } from "rolldown/utils"

const here = import.meta.dirname

/** Rolldown leaves out what `export *` of a CommonJS module exports, which is how `@effect/platform-node` hands undici on. */
const undici: Plugin = {
  name: "undici",
  resolveId(source, importer) {
    return source === "./Undici.js" ? this.resolve("undici", importer) : null
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
const consoleFiles: Plugin = {
  name: "console",
  transform(code, id) {
    if (!/\/console\/(src|dist)\/Files\.[jt]s$/.test(id)) return null
    const own = 'join(import.meta.dirname, "..")'
    if (!code.includes(own)) throw new Error("console/Files does not look for its files beside itself any more")
    return code.replace(own, 'join(require.resolve("@signalbox/console/package.json"), "..")')
  }
}

/** The files of the package are below the folder of the package in a bundle too, which is as deep as `src/internal`, so one folder is added. */
const packageFiles: Plugin = {
  name: "packageFiles",
  transform(code, id) {
    if (!id.endsWith("/src/internal/files/PackageFiles.ts")) return null
    const own = "import.meta.dirname"
    if (!code.includes(own)) throw new Error("PackageFiles does not look for its files beside itself any more")
    return code.replace(own, `join(__dirname, "files")`)
  }
}

const modulesOf = (output: RolldownOutput["output"]) =>
  output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []))

const options = {
  platform: "node",
  logLevel: "warn",
  // The page of the documentation, 3 MB that are installed with Effect anyway, the sender of e-mails, and sign-in with providers: each is
  // loaded when used.
  external: ["effect/http-api/HttpApiScalar", "nodemailer", "openid-client"],
  plugins: [consoleFiles, packageFiles, segmenter, undici]
} satisfies BuildOptions

/**
 * One script has what `up` needs before it listens: Effect, the room and its workers. All commands share it, so that nothing is
 * installed twice; what only some of them need is a file beside it. `bin` of the same extension starts them. Returns what was bundled.
 */
export const bundleCommand = async (folder: string, extension: "js" | "ts") => {
  const command = join(folder, "internal/command")
  const { output } = await build({
    ...options,
    // Of the environment of browsers, where configuration may come from.
    transform: { define: { "import.meta": "{}" } },
    input: { Main: join(here, "src/internal/main/Main.ts"), UpMain: join(here, "src/internal/main/UpMain.ts") },
    output: {
      dir: command,
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name].cjs",
      comments: { legal: true, annotation: false, jsdoc: false },
      minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } },
      codeSplitting: {
        groups: [
          {
            name: "Room",
            test: /\/internal\/(commands\/host\/Up|main\/CommandLine|process\/ParentEnded|output\/Logs)\.ts$|\/NodeRuntime\.[jt]s$/
          }
        ]
      }
    }
  })
  // A script that is not loaded as a module has no `import`: one beside it does that. In ASCII alone, which is read and scanned in
  // half the time.
  writeFileSync(join(command, "dynamicImport.cjs"), "module.exports = (specifier) => import(specifier)\n")
  const room = join(command, "Room.cjs")
  const module = readFileSync(room, "utf8")
  const imports: Array<number> = []
  new Visitor({ ImportExpression: ({ start }) => void imports.push(start) }).visit(parseAst(module))
  const script = [0, ...imports.toSorted((a, b) => a - b)]
    .map((start, index, starts) => module.slice(start, starts[index + 1]))
    .map((part, index) => (index === 0 ? part : part.replace(/^import/, 'require("./dynamicImport.cjs")')))
    .join("")
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  writeFileSync(room, script)
  const digest = createHash("sha256").update(script).digest("hex")
  // What `bin` imports.
  mkdirSync(join(folder, "internal/main"), { recursive: true })
  for (const entry of ["Main", "UpMain"]) {
    writeFileSync(
      join(folder, `internal/main/${entry}.${extension}`),
      `import { createRequire } from "node:module"
import { join } from "node:path"
import { run } from "../process/CompileCache.${extension}"
run(join(import.meta.dirname, "../command/Room.cjs"), "${digest}", "${entry}")
createRequire(import.meta.url)("../command/${entry}.cjs")
`
    )
  }
  return modulesOf(output)
}

/** Bundles a program of the tests, which is then `program.mjs` in the folder. Returns what was bundled. */
export const bundleProgram = async (program: string, folder: string) => {
  const { output } = await build({
    ...options,
    input: { program },
    output: { dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs", minify: true }
  })
  return modulesOf(output)
}
