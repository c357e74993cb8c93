/** Types of programs and of all modules, in the folder of the consumer, as both resolutions of modules find them. */
import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root, type Tarball } from "../../tooling/src/tarballs.ts"
import type { Consumer } from "./consumer.ts"
import { fences } from "./pages.ts"

/** Of the programs that the pages about coming from elsewhere show beside ours. */
const peers = [
  "@dbos-inc/dbos-sdk@5.3.0",
  "@restatedev/restate-sdk@1.17.2",
  "@temporalio/workflow@1.24.0",
  "@types/pg@8.23.1"
]

const tsconfig = (module: "nodenext" | "bundler", files: ReadonlyArray<string>, skipLibCheck: boolean) =>
  JSON.stringify({
    files,
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck,
      noEmit: true,
      target: "es2024",
      lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
      types: ["node"],
      allowImportingTsExtensions: true,
      module: module === "nodenext" ? "nodenext" : "preserve",
      moduleResolution: module
    }
  })

export const compile = async (
  { bin, folder, sh }: Consumer,
  name: string,
  files: ReadonlyArray<string>,
  skipLibCheck = false
) => {
  await Promise.all(
    (["nodenext", "bundler"] as const).map((module) => {
      const config = `tsconfig.${name}.${module}.json`
      writeFileSync(join(folder, config), tsconfig(module, files, skipLibCheck))
      return sh(bin("tsc"), ["-p", config])
    })
  )
}

/** Every module that a package exports, with patterns resolved by the files that are there. */
const modulesOf =
  (folder: string) =>
  ({ manifest: { name } }: Tarball): ReadonlyArray<string> => {
    const installed = join(folder, "node_modules", name)
    const { exports }: { exports: Readonly<Record<string, unknown>> } = JSON.parse(
      readFileSync(join(installed, "package.json"), "utf8")
    )
    const files = execFileSync("find", ["dist", "-name", "*.d.ts", "-not", "-path", "dist/internal/*"], {
      cwd: installed,
      encoding: "utf8"
    }).split("\n")
    return Object.entries(exports).flatMap(([path, target]) => {
      if (typeof target !== "object" || target === null || !("types" in target)) return []
      const [before = "", after] = String(target.types).slice(2).split("*")
      if (after === undefined) return [name + path.slice(1)]
      return files
        .filter((file) => file.startsWith(before) && !file.slice(before.length, -after.length).includes("/"))
        .map((file) => name + path.slice(1).replace("*", file.slice(before.length, -after.length)))
    })
  }

/** Compiles and loads every module of every package, and compiles these programs, which need several of them. */
export const allModules = async (consumer: Consumer, programs: ReadonlyArray<string>) => {
  const modules = consumer.tarballs.flatMap(modulesOf(consumer.folder))
  writeFileSync(
    join(consumer.folder, "modules.ts"),
    modules.map((name, index) => `export * as m${index} from "${name}"`).join("\n")
  )
  await compile(consumer, "modules", ["modules.ts", ...programs])
  await consumer.sh(process.execPath, ["-e", modules.map((name) => `await import("${name}")`).join("\n")])
}

/**
 * The programs of the documentation, each in a file of its own, as a user of the packages saves them. Those in `typescript` fences
 * are of other libraries, whose own types need not compile.
 */
export const documentation = async (consumer: Consumer) => {
  const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], {
    cwd: root,
    exclude: ["docs/decisions/**"]
  })
  const programs = (of: string) =>
    pages.flatMap((page) =>
      fences(readFileSync(join(root, page), "utf8")).flatMap(({ body, language, title }, index) => {
        if (language !== of) return []
        const file = join("documentation", page, title ?? `${index}.ts`)
        mkdirSync(dirname(join(consumer.folder, file)), { recursive: true })
        writeFileSync(join(consumer.folder, file), body)
        return [file]
      })
    )
  const [ours, others] = [programs("ts"), programs("typescript")]
  console.log(`  ${ours.length} programs, and ${others.length} of other libraries`)
  await compile(consumer, "documentation", ours)
  await consumer.npm("--save-dev", ...peers)
  await compile(consumer, "others", others, true)
}
