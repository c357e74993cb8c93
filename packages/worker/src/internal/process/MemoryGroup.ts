/**
 * Limits of memory by control groups (v2): groups of tasks can have one only if the group above them hands the memory
 * controller down, and the kernel allows that only to a group without processes of its own. So a worker that is alone in
 * its group moves into a group below it first.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { join } from "node:path"
import * as Cgroup from "./Cgroup.ts"
import * as Procfs from "./Procfs.ts"

const noGroups = "control groups v2 are not available to this process"
const noController = "the control group of the worker has no memory controller"
const notWritable = (group: string) =>
  `the worker may not change its control group ${group}; start it as a service of systemd with Delegate=yes, or in a container whose control groups are writable`
const notAlone = (group: string) =>
  `other processes are in the control group of the worker, ${group}; start it as a service of systemd with Delegate=yes`

const has = (words: string, word: string) => words.split(/\s+/).includes(word)

const read = (group: string, file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(join(group, file)))
const write = (group: string, file: string, text: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(join(group, file), text))

/** This process and those above it, such as the init of a container. */
const ancestors = Effect.gen(function* () {
  const found = new Set<number>()
  for (let pid = process.pid; pid > 0 && !found.has(pid);) {
    found.add(pid)
    const stat = yield* Procfs.stat(pid)
    pid = stat._tag === "Some" ? stat.value.parent : 0
  }
  return found
})

const pidsIn = (group: string) =>
  Effect.map(read(group, "cgroup.procs"), (text) => text.split("\n").filter(Boolean).map(Number))

/** Why groups below this one cannot limit memory; null: they can, or `prepareIn` can make it so. */
export const inspectIn = Effect.fnUntraced(
  function* (group: string): Effect.fn.Return<string | null, PlatformError, FileSystem.FileSystem> {
    const fs = yield* FileSystem.FileSystem
    if (!has(yield* read(group, "cgroup.controllers"), "memory")) return noController
    const writable = yield* Effect.as(fs.access(join(group, "cgroup.subtree_control"), { writable: true }), true).pipe(
      Effect.orElseSucceed(() => false)
    )
    if (!writable) return notWritable(group)
    if (has(yield* read(group, "cgroup.subtree_control"), "memory")) return null
    const own = yield* ancestors
    return (yield* pidsIn(group)).every((pid) => own.has(pid)) ? null : notAlone(group)
  },
  (effect, group) => Effect.orElseSucceed(effect, () => notWritable(group))
)

/** Hands the memory controller down from this group; returns why that is not possible, null when it is done. */
export const prepareIn = Effect.fnUntraced(
  function* (group: string): Effect.fn.Return<string | null, PlatformError, FileSystem.FileSystem> {
    const why = yield* inspectIn(group)
    if (why !== null) return why
    if (has(yield* read(group, "cgroup.subtree_control"), "memory")) return null
    const fs = yield* FileSystem.FileSystem
    const leaf = join(group, Cgroup.ownName)
    yield* fs.makeDirectory(leaf, { recursive: true })
    for (const pid of yield* pidsIn(group)) yield* write(leaf, "cgroup.procs", String(pid))
    yield* write(group, "cgroup.subtree_control", "+memory")
    return null
  },
  (effect, group) => Effect.orElseSucceed(effect, () => notWritable(group))
)

const ofWorker = (look: (group: string) => Effect.Effect<string | null, never, FileSystem.FileSystem>) =>
  Effect.gen(function* () {
    const group = yield* Effect.orElseSucceed(Cgroup.base, () => null)
    return group === null ? noGroups : yield* look(group)
  })

/** Why this machine cannot limit the memory of tasks; null: it can. */
export const inspect = ofWorker(inspectIn)
/** Like `inspect`, and prepares it. */
export const prepare = ofWorker(prepareIn)
