/**
 * Tools of this machine: which there are, and what they say of themselves.
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { delimiter, isAbsolute, join } from "node:path"
import type { Variables } from "./Variables.ts"
import { programSuffixes } from "../process/Windows.ts"

const suffixes = programSuffixes(process.platform)

export interface Tools {
  /** The programs of that name along `PATH`: the first may be a shim that runs nothing, in front of one that works. */
  readonly find: (name: string) => Effect.Effect<ReadonlyArray<string>>
  /** The first of `programs` that says its version in this form, and what it says; null where none does. */
  readonly versioned: (
    programs: ReadonlyArray<string>,
    form: RegExp
  ) => Effect.Effect<{ readonly program: string; readonly version: string } | null>
  /** What a program writes, null when it cannot be run or writes nothing. Remembered for ten minutes. */
  readonly output: (command: readonly [string, ...ReadonlyArray<string>]) => Effect.Effect<string | null>
}

/** `machine` is what programs see of the worker's environment: nothing of `PIP_*`, `UV_*` and `CONDA_*` is in it. */
export const make = Effect.fnUntraced(function* (machine: Variables) {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner
  const services = Context.pick(ChildProcessSpawner)(yield* Effect.context<ChildProcessSpawner>())
  const folders = (machine["PATH"] ?? "").split(delimiter).filter(isAbsolute)

  const isProgram = (path: string) =>
    fs.stat(path).pipe(
      Effect.map(({ mode, type }) => type === "File" && (process.platform === "win32" || (mode & 0o111) !== 0)),
      Effect.orElseSucceed(() => false)
    )
  const run = Effect.fnUntraced(
    function* (key: string) {
      const [program = "", ...args] = key.split("\0")
      const options = { env: machine, stdin: "ignore", stderr: "ignore", forceKillAfter: "1 second" } as const
      const text = yield* spawner.string(ChildProcess.make(program, args, options))
      return text.trim() === "" ? null : text.trim()
    },
    Effect.timeout("20 seconds"),
    Effect.orElseSucceed(() => null),
    Effect.provideContext(services)
  )
  const outputs = yield* Cache.make({ capacity: 256, timeToLive: "10 minutes", lookup: run })

  const output: Tools["output"] = (command) => Cache.get(outputs, command.join("\0"))

  const tools: Tools = {
    find: (name) =>
      Effect.filter(
        folders.flatMap((folder) => suffixes.map((suffix) => join(folder, `${name}${suffix}`))),
        isProgram
      ),
    versioned: Effect.fnUntraced(function* (programs, form) {
      for (const program of programs) {
        const version = form.exec((yield* output([program, "--version"])) ?? "")?.[0]
        if (version !== undefined) return { program, version }
      }
      return null
    }),
    output
  }
  return tools
})
