/**
 * The packages as they would be published, packed into one folder.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

export const root = resolve(import.meta.dirname, "../..")

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

export interface Tarball {
  readonly folder: string
  readonly manifest: Manifest
  readonly file: string
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** Packs every package that is not private. Builds first, as `prepack` does. */
export const pack = (destination: string): ReadonlyArray<Tarball> => {
  rmSync(destination, { recursive: true, force: true })
  mkdirSync(destination, { recursive: true })
  const packages = readdirSync(join(root, "packages"))
    .map((name) => join(root, "packages", name))
    // Folders of packages that are gone may still have what was built.
    .filter((folder) => existsSync(join(folder, "package.json")))
    .map((folder) => ({ folder, manifest: manifestOf(folder) }))
    .filter(({ manifest }) => manifest.private !== true)
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`)
  execFileSync("pnpm", ["--recursive", ...filters, "pack", "--pack-destination", destination], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return packages.map(({ folder, manifest }) => ({
    folder,
    manifest,
    file: join(destination, `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`)
  }))
}
