/** The files of the console: what a control room serves at `/console/`. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { extname, join } from "node:path"

/** One file: its bytes, its content type, and whether other bytes would have another name. */
export interface ConsoleFile {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly immutable: boolean
}

/** Files by their path below `/console/`; `index.html` is the page. */
export type ConsoleFiles = Readonly<Record<string, ConsoleFile>>

/** The page cannot be built from its sources. Only in a checkout: packages have it built. */
export class ConsoleBuildError extends Schema.TaggedError<ConsoleBuildError>()("ConsoleBuildError", {
  message: Schema.String
}) {}

const root = join(import.meta.dirname, "..")
const site = join(root, "site")
const page = "index.html"

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml"
}

/** When the newest of these files and folders was changed, in milliseconds since 1970; 0 where there are none. */
const changedAt = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const times = yield* Effect.forEach(paths, (path) =>
    fs.stat(path).pipe(
      Effect.map(({ mtime }) => (mtime._tag === "Some" ? mtime.value.getTime() : 0)),
      Effect.orElseSucceed(() => 0)
    )
  )
  return Math.max(0, ...times)
})

/** In a checkout, the page is built where there is none, or an older one. */
const ensureBuilt = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const script = join(root, "build.ts")
  if (!(yield* fs.exists(script))) return
  const sources = join(root, "src")
  const names = yield* fs.readDirectory(sources, { recursive: true })
  const newest = yield* changedAt([script, ...names.map((name) => join(sources, name))])
  if ((yield* changedAt([join(site, page)])) > newest) return
  const spawner = yield* ChildProcessSpawner
  const built = yield* spawner.exitCode(
    ChildProcess.make(process.execPath, [script], { cwd: root, stdin: "ignore", stdout: "ignore", stderr: "inherit" })
  )
  if (built !== 0) return yield* new ConsoleBuildError({ message: "the console cannot be built; see the lines above" })
})

/**
 * Reads the files of the console into memory. In a checkout it is built first where its sources are newer.
 *
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import * as Files from "@signalbox/console/Files"
 * import * as Effect from "effect/Effect"
 *
 * export const names = Effect.map(Files.read, Object.keys).pipe(
 *   Effect.provide(NodeServices.layer)
 * )
 * ```
 */
export const read: Effect.Effect<
  ConsoleFiles,
  ConsoleBuildError | PlatformError,
  FileSystem.FileSystem | ChildProcessSpawner
> = Effect.gen(function* () {
  yield* ensureBuilt
  const fs = yield* FileSystem.FileSystem
  const files: Record<string, ConsoleFile> = {}
  for (const name of yield* fs.readDirectory(site)) {
    files[name] = {
      bytes: yield* fs.readFile(join(site, name)),
      contentType: contentTypes[extname(name)] ?? "application/octet-stream",
      immutable: name !== page
    }
  }
  return files
})
