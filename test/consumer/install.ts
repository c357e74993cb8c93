/**
 * Runs `npm install ...` of a page, in the folder of the page: by npm, or by pnpm as `pnpm add ...`. The same line in a folder with the same
 * `package.json` is run once; what it installed is copied to the others.
 *
 * `node install.ts MANAGER REGISTRY STORE [argument ...]`: the program of the manager, the address of the registry, a folder.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const [manager = "", registry = "", store = "", ...args] = process.argv.slice(2)

/** Where a manager installs: the next folder above that is a project, or this one. */
const projectOf = (folder: string): string => {
  if (existsSync(join(folder, "package.json")) || existsSync(join(folder, "node_modules"))) return folder
  const above = dirname(folder)
  return above === folder ? process.cwd() : projectOf(above)
}

const project = projectOf(process.cwd())
const manifest = join(project, "package.json")
const before = existsSync(manifest) ? readFileSync(manifest, "utf8") : ""
const key = createHash("sha256")
  .update(JSON.stringify([basename(manager), before, args]))
  .digest("hex")
const kept = join(store, key)

/** What managers write again in place, below a project. */
const rewritten = [
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "node_modules/.package-lock.json",
  "node_modules/.modules.yaml",
  "node_modules/.pnpm-workspace-state-v1.json",
  "node_modules/.pnpm/lock.yaml"
]

/** Copies what an installation made from one folder into another; the files of packages, which nobody changes, as links. */
const copy = (from: string, to: string) => {
  rmSync(join(to, "node_modules"), { recursive: true, force: true })
  execFileSync("cp", ["-al", join(from, "node_modules"), to])
  for (const name of rewritten.filter((name) => existsSync(join(from, name)))) {
    rmSync(join(to, name), { force: true })
    copyFileSync(join(from, name), join(to, name))
  }
}

if (existsSync(kept)) copy(kept, project)
else {
  const isPnpm = basename(manager) === "pnpm"
  const words = isPnpm && args.some((arg) => !arg.startsWith("-")) ? ["add", ...args] : ["install", ...args]
  // Without this, pnpm lets packages find what they do not declare, if another one brings it.
  const isolated = isPnpm ? ["--config.hoist=false"] : []
  execFileSync(manager, [...words, ...isolated, `--registry=${registry}`, "--prefer-offline"], { stdio: "inherit" })
  mkdirSync(store, { recursive: true })
  const made = mkdtempSync(join(store, "new-"))
  copy(project, made)
  // Another page may have run the same line meanwhile.
  if (existsSync(kept)) rmSync(made, { recursive: true })
  else renameSync(made, kept)
}
