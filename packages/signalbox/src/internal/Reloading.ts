/** Loads a module of the user again, with all that it imports by path, and says when one of these files has changed. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
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
  readonly changed: Effect.Effect<void, never, FileSystem.FileSystem>
}

const stateOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(path))
  if (Option.isNone(info)) return `${path} is missing`
  const changed = Option.map(info.value.mtime, (time) => time.getTime())
  return `${path} ${Option.getOrElse(changed, () => 0)} ${info.value.size}`
})

/** While it lasts, modules that are loaded with a suffix from `next` pass it on to what they import by path. */
export const make = Effect.gen(function* () {
  let version = 0
  let files = new Set<string>()
  const read = (url: string) => {
    if (url.startsWith("file:") && versionOf(url) === String(version)) files.add(fileURLToPath(url))
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
  const states = Effect.suspend(() => Effect.forEach([...files].sort(), stateOf))
  const reloading: Reloading = {
    next: Effect.sync(() => {
      version += 1
      files = new Set()
      return `?${parameter}=${version}`
    }),
    changed: Effect.gen(function* () {
      const before = yield* states
      yield* Effect.repeat(states, {
        schedule: Schedule.spaced("300 millis"),
        while: (now) => now.join("\n") === before.join("\n")
      })
    })
  }
  return reloading
})
