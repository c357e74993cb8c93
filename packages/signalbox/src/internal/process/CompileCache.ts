/**
 * Runs a script with its compiled code from an earlier run. Node's own cache holds what it compiled before a module ran, without
 * the functions that it compiled when they were called: half of the start of `up`.
 */
import { randomUUID } from "node:crypto"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import * as nodeModule from "node:module"
import { dirname, join } from "node:path"
import { Script } from "node:vm"

/** How long after the start the compiled code is stored, in milliseconds: once for each version. */
const storeAfter = 10_000

/** The stored code, if it is of this version of the script. */
const stored = (file: string, digest: string) => {
  try {
    const found = readFileSync(file)
    return found.toString("latin1", 0, digest.length) === digest ? found.subarray(digest.length) : undefined
  } catch {
    // Nothing is stored yet.
    return undefined
  }
}

/** Under another name first: another process may read it. Without space or permission the next start compiles again. */
const store = (file: string, digest: string, code: Buffer) => {
  const temporary = `${file}.${randomUUID()}`
  try {
    writeFileSync(temporary, Buffer.concat([Buffer.from(digest, "latin1"), code]), { mode: 0o600 })
    renameSync(temporary, file)
  } catch {
    rmSync(temporary, { force: true })
  }
}

/**
 * Runs a CommonJS script in ASCII, whose `digest` identifies its content, as `require` does. The modules that it requires can require it.
 * Other runtimes, and Node without a folder for its cache, only require it. The code is stored for each `use` of the script: it holds
 * the functions that were called.
 */
export const run = (filename: string, digest: string, use: string) => {
  const require = nodeModule.createRequire(filename)
  const folder = nodeModule.getCompileCacheDir?.()
  if (folder === undefined) return void require(filename)
  const file = join(folder, `${use}.bin`)
  const code = stored(file, digest)
  const script = new Script(
    `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, "latin1")}\n})`,
    {
      filename,
      cachedData: code
    }
  )
  const module = new nodeModule.Module(filename)
  require.cache[filename] = module
  script.runInThisContext().call(module.exports, module.exports, require, module, filename, dirname(filename))
  // Otherwise Node warns of a circular import when a promise resolves to its exports.
  module.loaded = true
  if (code !== undefined && script.cachedDataRejected !== true) return
  let isStored = false
  const once = () => {
    if (isStored) return
    isStored = true
    store(file, digest, script.createCachedData())
  }
  setTimeout(once, storeAfter).unref()
  process.once("exit", once)
}
