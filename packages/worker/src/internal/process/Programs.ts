/** Programs, found as the system would. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { delimiter, isAbsolute, join, resolve } from "node:path"

const isProgram = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.stat(path)).pipe(
    Effect.map(({ mode, type }) => type === "File" && (mode & 0o111) !== 0),
    Effect.orElseSucceed(() => false)
  )

/** The path of a program, which may be one already, relative to `cwd`; null where there is none. */
export const find = Effect.fnUntraced(function* (program: string, path: string, cwd: string) {
  const paths = program.includes("/")
    ? [resolve(cwd, program)]
    : path
        .split(delimiter)
        .map((folder) => (isAbsolute(folder) ? join(folder, program) : resolve(cwd, folder, program)))
  for (const path of paths) if (yield* isProgram(path)) return path
  return null
})

/** The path of prlimit, which limits processes; null: there is none. */
export const prlimit = Effect.suspend(() =>
  process.platform === "linux" ? find("prlimit", process.env["PATH"] ?? "", "/") : Effect.succeed(null)
)

export const noPrlimit = "prlimit (util-linux) not found on PATH"
