#!/usr/bin/env node
/**
 * The `signalbox` command. Compiled code is cached for the next start, which saves a third of it; in a folder of the
 * user, since whoever can write there decides what runs.
 */
import { existsSync } from "node:fs"
import { enableCompileCache } from "node:module"
import { join } from "node:path"

const given = process.env["XDG_CACHE_HOME"]
const home = process.env["HOME"] ?? ""
// Without a home folder, as in some containers, Node may retry endlessly to create the cache.
if (existsSync(given ?? home)) enableCompileCache(join(given ?? join(home, ".cache"), "signalbox"))

await import("./internal/Main.ts")
