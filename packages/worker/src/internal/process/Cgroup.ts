/**
 * A control group (v2) of Linux for the processes of a run: the kernel adds their children to it, and kills all of them
 * in one step. Not every machine lets a worker create one: then none is used, and every function does nothing.
 */
import type { Command } from "@signalbox/task-package/RobotYaml"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import { rmdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

/** Has the path, so that the next worker finds the group of a killed one. */
const fileOf = (folder: string) => join(folder, "cgroup")
const nameOf = (folder: string) => `signalbox-${basename(folder)}`

const ignored = <R>(effect: Effect.Effect<void, PlatformError, R>) => Effect.ignore(effect)

/** The control group of this process; null without control groups v2. */
const own = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = /^0::(.*)$/m.exec(yield* fs.readFileString("/proc/self/cgroup"))?.[1]
  const mounts = (yield* fs.readFileString("/proc/self/mountinfo")).split("\n")
  const [, , , root, mount] = mounts.find((line) => line.includes(" - cgroup2 "))?.split(" ") ?? []
  if (path === undefined || root === undefined || mount === undefined) return null
  // A process outside the mounted part of the hierarchy sees a path upwards, or below another root.
  if (path.includes("..") || (root !== "/" && path !== root && !path.startsWith(`${root}/`))) return null
  return join(mount, root === "/" ? path : path.slice(root.length))
})

/** The group into which a worker moves below its own, so that this one may hand controllers down. */
export const ownName = "signalbox-self"

/** The group below which tasks get theirs; null without control groups v2. */
export const base = Effect.map(own, (group) => (group !== null && basename(group) === ownName ? dirname(group) : group))

const remove = (group: string) => Effect.ignore(Effect.tryPromise(() => rmdir(group)))

/** Creates the group of a run, if the machine allows it; `memoryBytes`: as much as all its processes may have. */
export const make = Effect.fnUntraced(function* (folder: string, memoryBytes: number | null = null) {
  const fs = yield* FileSystem.FileSystem
  const parent = yield* base
  if (parent === null) return
  const group = join(parent, nameOf(folder))
  yield* fs.writeFileString(fileOf(folder), group, { mode: 0o600 })
  yield* fs.makeDirectory(group)
  // Before Linux 5.14 a group could not be killed.
  if (!(yield* fs.exists(join(group, "cgroup.kill")))) return yield* remove(group)
  if (memoryBytes !== null) yield* limitMemory(group, memoryBytes)
}, ignored)

/** The whole task ends when it has too much, rather than any one of its processes, and it gets no swap in its place. */
export const limitMemory = Effect.fnUntraced(function* (group: string, bytes: number) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(join(group, "memory.max"), String(bytes))
  yield* Effect.ignore(fs.writeFileString(join(group, "memory.swap.max"), "0"))
  yield* Effect.ignore(fs.writeFileString(join(group, "memory.oom.group"), "1"))
})

/** Whether the kernel has killed a process of this group for its memory. */
export const outOfMemoryIn = Effect.fnUntraced(
  function* (group: string) {
    const fs = yield* FileSystem.FileSystem
    return /^oom_kill [1-9]/m.test(yield* fs.readFileString(join(group, "memory.events")))
  },
  Effect.orElseSucceed(() => false)
)

const procsOf = (group: string) => join(group, "cgroup.procs")

const groupOf = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const group = yield* Effect.option(fs.readFileString(fileOf(folder)))
  // The task may write to this file too, so only the group of this run is accepted.
  return Option.filter(group, (path) => basename(path) === nameOf(folder))
})

/** Adds a process to the group of a run; processes that it starts later belong to it too. */
export const add = Effect.fnUntraced(function* (folder: string, pid: number) {
  const fs = yield* FileSystem.FileSystem
  const group = yield* groupOf(folder)
  if (Option.isSome(group)) yield* fs.writeFileString(procsOf(group.value), String(pid))
}, ignored)

const shell = "/bin/sh"

/**
 * The command that adds itself to the group of a run before it becomes the program, so that everything the program starts
 * is in the group; null without a group. A shell does not pass on variables with unusual names: a program with such
 * variables has to be added once it runs.
 */
export const joining = Effect.fnUntraced(function* (
  folder: string,
  command: Command,
  env: Readonly<Record<string, string>>
) {
  const fs = yield* FileSystem.FileSystem
  const group = yield* groupOf(folder)
  if (Option.isNone(group) || !Object.keys(env).every((name) => /^[A-Za-z_]\w*$/.test(name))) return null
  if (!(yield* Effect.orElseSucceed(fs.exists(shell), () => false))) return null
  const joining: Command = [shell, "-c", 'echo 0 2>/dev/null >"$0"; exec "$@"', procsOf(group.value), ...command]
  return joining
})

/** Whether the kernel has killed a process of a run for its memory. */
export const outOfMemory = Effect.fnUntraced(function* (folder: string) {
  const group = yield* groupOf(folder)
  return Option.isSome(group) && (yield* outOfMemoryIn(group.value))
})

/** 5 ms each, until a killed group is empty. */
const waits = 1000

/** Kills all processes in the group of a run, and removes the group. */
export const kill = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const group = yield* groupOf(folder)
  if (Option.isNone(group)) return
  yield* fs.writeFileString(join(group.value, "cgroup.kill"), "1")
  for (let n = 0; n < waits; n++) {
    if (!(yield* fs.readFileString(join(group.value, "cgroup.events"))).includes("populated 1")) break
    yield* Effect.sleep("5 millis")
  }
  yield* remove(group.value)
}, ignored)
