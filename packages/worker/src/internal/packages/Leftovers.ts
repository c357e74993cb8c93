/**
 * Processes that outlived their worker: known by what was written down when they started, and by their environment.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as ChildProcess from "effect/process/ChildProcess"

/** A process, told from a later one of the same number by when it started. */
export const ProcessMark = Schema.Struct({ pid: Schema.Int, started: Schema.String })
export interface ProcessMark extends Schema.Schema.Type<typeof ProcessMark> {}

const encode = Schema.encodeSync(Schema.fromJsonString(ProcessMark))
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(ProcessMark))

/** When a process started, in the words of the system; null when there is none. */
const startOf = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const stat = yield* Effect.option(fs.readFileString(`/proc/${pid}/stat`))
  if (Option.isSome(stat)) {
    // The second field, in parentheses, may hold anything; the 22nd is the start in ticks since the system started.
    const ticks = stat.value.slice(stat.value.lastIndexOf(")") + 2).split(" ")[19]
    const boot = yield* Effect.orElseSucceed(fs.readFileString("/proc/sys/kernel/random/boot_id"), () => "")
    return `${ticks} ${boot.trim()}`
  }
  const spawner = yield* ChildProcessSpawner
  const text = yield* Effect.orElseSucceed(
    spawner.string(ChildProcess.make("ps", ["-o", "lstart=", "-p", String(pid)])),
    () => ""
  )
  return text.trim() === "" ? null : text.trim()
})

/** Writes down that this process runs. */
export const write = Effect.fnUntraced(function* (file: string, pid: number) {
  const fs = yield* FileSystem.FileSystem
  const started = yield* startOf(pid)
  if (started !== null) yield* fs.writeFileString(file, encode({ pid, started }), { mode: 0o600 })
})

/** The process that was written down, while it runs. */
export const running = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const mark = Option.flatMap(yield* Effect.option(fs.readFileString(file)), decode)
  if (Option.isNone(mark)) return null
  return (yield* startOf(mark.value.pid)) === mark.value.started ? mark.value : null
})

const kill = (pid: number) => Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL")))

/** Kills the group of the process that was written down, and whatever else has this setting in its environment. */
export const end = Effect.fnUntraced(function* (file: string, setting: string) {
  const fs = yield* FileSystem.FileSystem
  const mark = yield* running(file)
  if (mark !== null) yield* kill(-mark.pid)
  // Where there is no such folder the rest is not known.
  const all = yield* Effect.orElseSucceed(fs.readDirectory("/proc"), () => [])
  for (const name of all) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    const environment = yield* Effect.orElseSucceed(fs.readFileString(join("/proc", name, "environ")), () => "")
    if (environment.split("\0").includes(setting)) yield* kill(pid)
  }
})
