/**
 * The first program of the README as its reader has it: installed by its own line into an empty folder, with nothing else above it,
 * type-checked and run.
 */
import { deepStrictEqual } from "node:assert"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { root, type Tarball } from "../../tooling/src/tarballs.ts"
import { fences } from "./pages.ts"
import { startRegistry } from "./registry.ts"

/** The compilers that the README's readers have. */
const compilers = ["5.9.3", "7.0.2"]

/** How each manager runs, and its word for installing packages. */
const managers = {
  npm: { run: ["npm"], install: "install" },
  pnpm: { run: ["npx", "--yes", "pnpm@12"], install: "add" }
} as const

export type Manager = keyof typeof managers

/** What the README says, of which nothing is repeated here. */
const read = () => {
  const text = readFileSync(join(root, "README.md"), "utf8")
  const [, packages] = /^\$ npm install (.+)$/m.exec(text) ?? []
  const [, development] = /`npm install --save-dev ([^`]+)`/.exec(text) ?? []
  const program = fences(text).find(({ title }) => title === "hello.mts")
  const [, printed] = /^\$ node hello\.mts\n(.*)$/m.exec(text) ?? []
  if (packages === undefined || development === undefined || program === undefined || printed === undefined) {
    throw new Error("README.md has no install line, none for type checking, no hello.mts, or not what it prints")
  }
  return { packages: packages.split(" "), development: development.split(" "), program: program.body, printed }
}

export const firstProgram = async (
  tarballs: ReadonlyArray<Tarball>,
  manager: Manager,
  environment: Readonly<Record<string, string | undefined>>
) => {
  const { development, packages, printed, program } = read()
  const {
    install,
    run: [file, ...before]
  } = managers[manager]
  // Not below the folder of the other checks, whose packages would be found.
  const folder = mkdtempSync(join(tmpdir(), `signalbox-first-${manager}-`))
  const sh = async (file: string, args: ReadonlyArray<string>) => {
    const options = { cwd: folder, env: environment, timeout: 240_000, maxBuffer: 1 << 26 }
    const { stdout } = await promisify(execFile)(file, args, options).catch(
      (error: Error & { readonly stdout?: string; readonly stderr?: string }) => {
        throw new Error(`${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`)
      }
    )
    return stdout
  }
  const registry = await startRegistry(tarballs, (await sh("npm", ["config", "get", "registry"])).trim())
  const add = (...names: ReadonlyArray<string>) => sh(file, [...before, install, ...names])
  try {
    writeFileSync(join(folder, ".npmrc"), `registry=${registry.url}/\n`)
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "first", private: true }))
    writeFileSync(join(folder, "hello.mts"), program)
    await add(...packages)
    deepStrictEqual(await sh(process.execPath, ["hello.mts"]), `${printed}\n`)
    for (const version of compilers) {
      await add("--save-dev", ...development.map((name) => (name === "typescript" ? `${name}@${version}` : name)))
      const check = ["--noEmit", "--strict", "--target", "es2024", "--module", "nodenext", "hello.mts"]
      await sh(join(folder, "node_modules/.bin/tsc"), check)
    }
  } finally {
    await registry.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
