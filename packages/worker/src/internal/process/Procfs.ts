/** Processes according to /proc of Linux; none on other systems. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"

export interface Stat {
  readonly pid: number
  /** Whether it has ended, but its parent has not read its exit code. */
  readonly ended: boolean
  readonly parent: number
  readonly group: number
  readonly session: number
  /** When it started, in ticks since the system started. */
  readonly started: string
}

/** None when the process does not exist. */
export const stat = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.option(fs.readFileString(`/proc/${pid}/stat`))
  return Option.map(text, (text): Stat => {
    // The second field, in parentheses, may contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const [state = "", parent, group, session] = fields
    const numbers = { parent: Number(parent), group: Number(group), session: Number(session) }
    return { pid, ended: "ZX".includes(state), ...numbers, started: fields[19] ?? "" }
  })
})

/** Whether the environment that it was started with has this setting; false where it may not be read. */
export const hasSetting = Effect.fnUntraced(function* (pid: number, setting: string) {
  const fs = yield* FileSystem.FileSystem
  const environment = yield* Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/environ`), () => "")
  return environment.split("\0").includes(setting)
})

/** Every process, usually the newest first: short-lived ones are the most likely to disappear. */
export const pids = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(fs.readDirectory("/proc"), () => [])
  const numbers = names.map(Number).filter(Number.isInteger)
  return numbers.toSorted((a, b) => b - a)
})
