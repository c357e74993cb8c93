#!/usr/bin/env node
/**
 * Starts the `signalbox` command. Old versions of Node can parse this file and get a sentence; what they cannot parse, and
 * everything that `--version` does not need, is loaded after that.
 */
import { existsSync, readFileSync } from "node:fs"
import * as nodeModule from "node:module"
import { join, resolve } from "node:path"

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

/** Kinds of file systems that ask another machine or program, and wait for it without end when it is gone. */
const remote = /^(9p|afs|autofs|ceph|cifs|fuse|glusterfs|gpfs|lustre|ncpfs|nfs|smb|virtiofs)/

/**
 * Whether nothing can be stored in a folder without waiting for others: on Linux, by the mount that it is on, which the kernel knows
 * without looking into the folder. `/proc` takes no files.
 */
const isElsewhere = (folder: string) => {
  if (process.platform !== "linux" || !existsSync("/proc/self/mounts")) return false
  let longest = ""
  let kind = ""
  for (const line of readFileSync("/proc/self/mounts", "utf8").split("\n")) {
    const [, escaped = "", type = ""] = line.split(" ")
    const point = escaped.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)))
    const isOnIt = folder === point || folder.startsWith(point.endsWith("/") ? point : `${point}/`)
    // Of several mounts at one point the last one is seen.
    if (point !== "" && isOnIt && point.length >= longest.length) {
      longest = point
      kind = type
    }
  }
  return kind === "proc" || remote.test(kind)
}

/**
 * Caches compiled code for the next start, which saves up to half of it; in a folder of the user, since write access to
 * it decides what runs. Deno has no such cache.
 */
const cacheCompiled = () => {
  const given = process.env["XDG_CACHE_HOME"]
  const home = process.env["HOME"] ?? ""
  const parent = given ?? home
  // Without a home folder, as in some containers, and in `/proc` Node may retry endlessly to create the cache; and no command hangs
  // because of a server that does not answer.
  if (parent !== "" && !isElsewhere(resolve(parent)) && existsSync(parent))
    nodeModule.enableCompileCache?.(join(given ?? join(home, ".cache"), "signalbox"))
}

/** What WebSockets would use if it were installed, Node looks for in the home folder too, where that may hang. */
const withoutModulesOfHome = () => {
  if (!isElsewhere(resolve(process.env["HOME"] ?? ""))) return
  process.env["WS_NO_BUFFER_UTIL"] = "1"
  process.env["WS_NO_UTF_8_VALIDATE"] = "1"
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
  withoutModulesOfHome()
  quietSqlite()
  // One file with what `up` needs, and all the others.
  await (first === "up" ? import("./internal/main/UpMain.ts") : import("./internal/main/Main.ts"))
}
