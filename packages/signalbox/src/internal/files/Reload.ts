/** Loads a module of the user again, with all that it imports by path, and says when one of these files has changed. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { statSync } from "node:fs"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"

/** Node keeps what it has loaded by its address, so each load has addresses of its own. */
const parameter = "reload"

const versionOf = (url: string | undefined) =>
  url === undefined || !URL.canParse(url) ? null : new URL(url).searchParams.get(parameter)

/** What a module imports by a path, rather than a package by its name. */
const isPath = (specifier: string) => /^(\.{0,2}\/|#|file:)/.test(specifier)

const withVersion = (url: string, version: string) => {
  const versioned = new URL(url)
  versioned.searchParams.set(parameter, version)
  return versioned.href
}

export interface Reloading {
  /** A new suffix for the address of the module, with which it is loaded again. */
  readonly next: Effect.Effect<string>
  /** Waits until a file changes that the last load read, or looked for in vain. */
  readonly changed: Effect.Effect<void>
}

/** What changes with a file, in a text. Hooks of modules cannot wait, hence the synchronous call. */
const stateOf = (path: string) => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? "missing" : `${found.mtimeMs} ${found.size}`
}

/** While it lasts, modules that are loaded with a suffix from `next` pass it on to what they import by path. */
export const make = Effect.gen(function* () {
  let version = 0
  // As each file was before it was read: what is written while the others load is noticed too.
  let files = new Map<string, string>()
  const read = (url: string) => {
    if (!url.startsWith("file:") || versionOf(url) !== String(version)) return
    const path = fileURLToPath(url)
    if (!files.has(path)) files.set(path, stateOf(path))
  }
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      registerHooks({
        resolve: (specifier, context, nextResolve) => {
          const inherited = versionOf(context.parentURL)
          if (inherited === null || !isPath(specifier)) {
            // The module itself.
            read(specifier)
            return nextResolve(specifier, context)
          }
          // Before it is looked for: a file that is missing may come.
          if (!specifier.startsWith("#")) read(withVersion(new URL(specifier, context.parentURL).href, inherited))
          const found = nextResolve(specifier, context)
          if (!found.url.startsWith("file:") || found.url.includes("/node_modules/")) return found
          const url = withVersion(found.url, inherited)
          read(url)
          return { ...found, url }
        }
      })
    ),
    (hooks) => Effect.sync(() => hooks.deregister())
  )
  const isUnchanged = Effect.sync(() => [...files].every(([path, state]) => stateOf(path) === state))
  const reloading: Reloading = {
    next: Effect.sync(() => {
      version += 1
      files = new Map()
      return `?${parameter}=${version}`
    }),
    changed: Effect.asVoid(
      Effect.repeat(isUnchanged, { schedule: Schedule.spaced("300 millis"), while: (unchanged) => unchanged })
    )
  }
  return reloading
})
