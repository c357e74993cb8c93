/**
 * A Chromium for the tests: the one that `CHROMIUM` names; on Linux x64 the one of the development dependencies; else a Chrome or
 * Edge that is installed. None of them is a failure.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { homedir } from "node:os"
import { join } from "node:path"
import { type Browser, chromium } from "playwright-core"

export class NoBrowser extends Data.TaggedError("NoBrowser")<{ readonly message: string }> {}

const installed = [
  "/usr/bin/google-chrome",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/microsoft-edge",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe"
]

/** The version is that of package.json. */
const version = "153.0.0"

interface Found {
  readonly path: string
  readonly environment: Readonly<Record<string, string>>
}

const exitCode = Effect.fnUntraced(function* (
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>
) {
  const spawner = yield* ChildProcessSpawner
  return yield* spawner.exitCode(
    ChildProcess.make(command, args, {
      env: environment,
      extendEnv: true,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore"
    })
  )
})

/** The fonts of the package alone, so that texts are as wide on each machine. */
const fontsIn = (folder: string) => `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`

/** Unpacked once for each user; under another name first, so that no other process starts half of it. */
const ofPackage = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const cache = join(homedir(), ".cache", "signalbox-tests")
  const folder = join(cache, `chromium-${version}`)
  const path = join(folder, "chromium")
  if (!(yield* fs.exists(path))) {
    yield* fs.makeDirectory(cache, { recursive: true, mode: 0o700 })
    const partial = yield* fs.makeTempDirectoryScoped({ directory: cache })
    yield* exitCode(process.execPath, [join(import.meta.dirname, "unpack.ts")], { TMPDIR: partial })
    yield* fs.makeDirectory(`${partial}/whole`)
    for (const name of yield* fs.readDirectory(partial)) {
      if (name !== "whole") yield* fs.rename(join(partial, name), join(partial, "whole", name))
    }
    yield* fs.writeFileString(`${partial}/whole/fonts.conf`, fontsIn(folder))
    yield* Effect.ignore(fs.rename(`${partial}/whole`, folder))
  }
  const environment = { FONTCONFIG_FILE: join(folder, "fonts.conf") }
  const withLibraries = { ...environment, LD_LIBRARY_PATH: join(folder, "al2023", "lib") }
  for (const variables of [environment, withLibraries]) {
    if ((yield* exitCode(path, ["--version"], variables)) === 0) return { path, environment: variables }
  }
  return yield* new NoBrowser({ message: `${path} does not start; name another Chromium in CHROMIUM` })
}).pipe(Effect.scoped)

const find: Effect.Effect<Found, NoBrowser, FileSystem.FileSystem | ChildProcessSpawner> = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const named = yield* Config.String("CHROMIUM").pipe(Config.withDefault(""))
  if (named !== "") return { path: named, environment: {} }
  if (process.platform === "linux" && process.arch === "x64") return yield* ofPackage
  for (const path of installed) if (yield* fs.exists(path)) return { path, environment: {} }
  return yield* new NoBrowser({ message: "install Chrome or Edge, or name a Chromium in CHROMIUM" })
}).pipe(
  Effect.catchTags({
    ConfigError: (error) => new NoBrowser({ message: error.message }),
    PlatformError: (error) => new NoBrowser({ message: error.message })
  })
)

/** One browser for the tests of a file. */
export class Chromium extends Context.Service<Chromium, Browser>()("test/Chromium") {
  static readonly layer = Layer.effect(
    Chromium,
    Effect.gen(function* () {
      const { environment, path } = yield* find
      return yield* Effect.acquireRelease(
        Effect.tryPromise({
          try: () =>
            chromium.launch({
              executablePath: path,
              // Its sandbox needs another user than root; its zygote needs the sandbox.
              args: [
                // A name that is no secure context, as that of a room on a local network.
                "--host-resolver-rules=MAP room.test 127.0.0.1",
                ...(process.getuid?.() === 0 ? ["--no-sandbox", "--no-zygote"] : [])
              ],
              chromiumSandbox: process.getuid?.() !== 0,
              env: { ...process.env, ...environment }
            }),
          catch: (error) => new NoBrowser({ message: `${path} does not start: ${String(error)}` })
        }),
        (browser) => Effect.promise(() => browser.close())
      )
    })
  )
}
