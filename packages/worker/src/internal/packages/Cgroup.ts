/**
 * A control group (v2) of Linux for the processes of a run: the kernel adds their children to it, and kills all of them
 * in one step. Not every machine lets a worker create one: then none is used, and every function does nothing.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import { rmdir } from "node:fs/promises"
import { basename, join } from "node:path"

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

const remove = (group: string) => Effect.ignore(Effect.tryPromise(() => rmdir(group)))

/** Creates the group of a run, if the machine allows it. */
export const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const parent = yield* own
  if (parent === null) return
  const group = join(parent, nameOf(folder))
  yield* fs.writeFileString(fileOf(folder), group, { mode: 0o600 })
  yield* fs.makeDirectory(group)
  // Before Linux 5.14 a group could not be killed.
  if (!(yield* fs.exists(join(group, "cgroup.kill")))) yield* remove(group)
}, ignored)

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
  if (Option.isSome(group)) yield* fs.writeFileString(join(group.value, "cgroup.procs"), String(pid))
}, ignored)

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
