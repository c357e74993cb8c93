#!/usr/bin/env node
/**
 * The `signalbox` command. What was compiled once is kept for the next start, which saves a third of it; in a folder of
 * the user's own, since whoever writes there decides what runs.
 */
import { existsSync } from "node:fs"
import { enableCompileCache } from "node:module"
import { join } from "node:path"

const given = process.env["XDG_CACHE_HOME"]
const home = process.env["HOME"] ?? ""
// Where there is no such place, as in some containers, Node may try without end to make it.
if (existsSync(given ?? home)) enableCompileCache(join(given ?? join(home, ".cache"), "signalbox"))

await import("./internal/Main.ts")
