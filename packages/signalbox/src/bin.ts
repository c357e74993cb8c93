#!/usr/bin/env node
/**
 * Starts the `signalbox` command. Old versions of Node can parse this file and get a sentence; what they cannot parse, and
 * everything that `--version` does not need, is loaded after that.
 */
import { existsSync, readFileSync, statfsSync } from "node:fs"
import * as nodeModule from "node:module"
import { join } from "node:path"

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
}

const manifest: Manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const numbers = (version: string) =>
  version
    .replace(/[^\d.]/g, "")
    .split(".")
    .map(Number)

/** Whether this Node is older than `engines` requires. */
const isOld = () => {
  const [major = 0, minor = 0] = numbers(process.versions.node)
  const [neededMajor = 0, neededMinor = 0] = numbers(manifest.engines.node)
  return major < neededMajor || (major === neededMajor && minor < neededMinor)
}

/**
 * Caches compiled code for the next start, which saves up to half of it; in a folder of the user, since write access to
 * it decides what runs. Deno has no such cache.
 */
const cacheCompiled = () => {
  const given = process.env["XDG_CACHE_HOME"]
  const home = process.env["HOME"] ?? ""
  const parent = given ?? home
  // Without a home folder, as in some containers, and in `/proc` Node may retry endlessly to create the cache.
  if (existsSync(parent) && statfsSync(parent).type !== 0x9fa0)
    nodeModule.enableCompileCache?.(join(given ?? join(home, ".cache"), "signalbox"))
}

/** Node 22 calls its SQLite experimental at each start, whatever the command is; what is used of it is tested there. */
const quietSqlite = () => {
  const { emitWarning } = process
  process.emitWarning = (...warning: ReadonlyArray<unknown>) => {
    if (!String(warning[0]).startsWith("SQLite is an experimental feature"))
      Reflect.apply(emitWarning, process, warning)
  }
}

const [first, ...others] = process.argv.slice(2)
if (isOld()) {
  console.error(`signalbox: needs Node ${manifest.engines.node}, this is ${process.versions.node}; update Node`)
  process.exitCode = 1
} else if (first === "--version" && others.length === 0) {
  console.log(`signalbox v${manifest.version}`)
} else {
  cacheCompiled()
  quietSqlite()
  // One file with what `up` needs, and all the others.
  await (first === "up" ? import("./internal/UpMain.ts") : import("./internal/Main.ts"))
}
