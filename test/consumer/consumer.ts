/** A user of the packed packages: an empty folder outside of the repository, where npm installs them, and programs run there. */
import { execFile } from "node:child_process"
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"
import { pack, root, type Tarball } from "../../tooling/src/tarballs.ts"

type Variables = Readonly<Record<string, string>>

export interface Consumer {
  readonly folder: string
  /** Nothing of the repository, of pnpm or of this machine's settings of Signalbox. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly tarballs: ReadonlyArray<Tarball>
  /** The installed command, a script for Node. */
  readonly binary: string
  /** Runs a program to its end, and returns what it printed; rejects with all of it when it fails. */
  readonly sh: (file: string, args: ReadonlyArray<string>, env?: Variables, cwd?: string) => Promise<string>
  readonly npm: (...packages: ReadonlyArray<string>) => Promise<string>
  /** The path of an installed command. */
  readonly bin: (name: string) => string
  /** Removes the folder, or prints its path where it is to be kept. */
  readonly close: () => void
}

const environmentOf = (home: string) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_(?!config_registry)|pnpm_|SIGNALBOX_|NODE_(OPTIONS|PATH|COMPILE_CACHE)|INIT_CWD)/i.test(name)
    )
  ),
  PATH: [
    dirname(process.execPath),
    ...(process.env["PATH"] ?? "").split(delimiter).filter((path) => !path.startsWith(root))
  ].join(delimiter),
  XDG_CACHE_HOME: home
})

export const startConsumer = (isKept: boolean): Consumer => {
  const tarballs = pack(join(root, "node_modules/.cache/packages"))
  const folder = mkdtempSync(join(tmpdir(), "signalbox-consumer-"))
  cpSync(join(import.meta.dirname, "project"), folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  const environment = environmentOf(join(folder, "home"))
  const sh: Consumer["sh"] = async (file, args, env = {}, cwd = folder) => {
    const options = { cwd, env: { ...environment, ...env }, timeout: 300_000, maxBuffer: 1 << 26 }
    const { stdout } = await promisify(execFile)(file, args, options).catch(
      (error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(`${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`)
      }
    )
    return stdout
  }
  return {
    folder,
    environment,
    tarballs,
    binary: join(folder, "node_modules/signalbox/dist/bin.js"),
    sh,
    npm: (...packages) => sh("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages]),
    bin: (name) => join(folder, "node_modules", ".bin", name),
    close: () => {
      if (isKept) console.log(folder)
      else rmSync(folder, { recursive: true, force: true })
    }
  }
}

export const expected = (what: string, actual: unknown, wanted: unknown) => {
  if (actual !== wanted) throw new Error(`${what} is ${String(actual)}, expected ${String(wanted)}`)
}

/** A package and those of ours that it needs. */
export const closure = (tarballs: ReadonlyArray<Tarball>, name: string): ReadonlyArray<Tarball> => {
  const found = new Map<string, Tarball>()
  const add = (name: string) => {
    const tarball = tarballs.find(({ manifest }) => manifest.name === name)
    if (tarball === undefined || found.has(name)) return
    found.set(name, tarball)
    for (const dependency of Object.keys(tarball.manifest.dependencies ?? {})) add(dependency)
  }
  add(name)
  return [...found.values()]
}
