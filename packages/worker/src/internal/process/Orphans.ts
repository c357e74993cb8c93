/** Processes that may outlive their worker: a file records the number of each, and when it started. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Procfs from "./Procfs.ts"
import { startedCommand } from "./Windows.ts"

/** A process, distinguished from a later one with the same number by its start. */
export const ProcessMark = Schema.Struct({ pid: Schema.Int, started: Schema.String })
export interface ProcessMark extends Schema.Schema.Type<typeof ProcessMark> {}

const encode = Schema.encodeSync(Schema.fromJsonString(ProcessMark))
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(ProcessMark))

/** When a process started, in the form of the system; null when it does not exist. */
const startOf = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const stat = yield* Procfs.stat(pid)
  if (Option.isSome(stat)) {
    const boot = yield* Effect.orElseSucceed(fs.readFileString("/proc/sys/kernel/random/boot_id"), () => "")
    return `${stat.value.started} ${boot.trim()}`
  }
  const spawner = yield* ChildProcessSpawner
  const [program, ...args] = startedCommand(pid, process.platform)
  const text = yield* Effect.orElseSucceed(spawner.string(ChildProcess.make(program, args)), () => "")
  return text.trim() === "" ? null : text.trim()
})

/** Records that this process runs. */
export const write = Effect.fnUntraced(function* (file: string, pid: number) {
  const fs = yield* FileSystem.FileSystem
  const started = yield* startOf(pid)
  if (started !== null) yield* fs.writeFileString(file, encode({ pid, started }), { mode: 0o600 })
})

const runningOf = Effect.fnUntraced(function* (text: string) {
  const mark = decode(text)
  if (Option.isNone(mark)) return null
  return (yield* startOf(mark.value.pid)) === mark.value.started ? mark.value : null
})

/** The recorded process, if it is still running. */
export const running = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.option(fs.readFileString(file))
  return Option.isNone(text) ? null : yield* runningOf(text.value)
})

/** Whether a process is recorded that is not running any more. */
export const hasEnded = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.option(fs.readFileString(file))
  return Option.isSome(text) && (yield* runningOf(text.value)) === null
})
