/**
 * All that a program of a task package has started, whatever it did to leave its process group: it is known by its control
 * group, by a variable that each run has for itself, by its parent and by its session.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Cgroup from "./Cgroup.ts"
import * as Procfs from "./Procfs.ts"

/** Its value is the folder of the run, and differs from run to run. */
export const variable = "SIGNALBOX_RUN_FOLDER"

/** The processes of a run, among them those in these sessions, with their children. */
const find = Effect.fnUntraced(function* (setting: string, sessions: ReadonlySet<number>) {
  const all = (yield* Effect.forEach(yield* Procfs.pids, Procfs.stat, { concurrency: 8 })).flatMap((stat) =>
    Option.isSome(stat) && !stat.value.ended && stat.value.pid !== process.pid ? [stat.value] : []
  )
  const found = new Set<number>()
  const inspect = Effect.fnUntraced(function* ({ pid, session }: Procfs.Stat) {
    if (sessions.has(session) || (yield* Procfs.hasSetting(pid, setting))) found.add(pid)
  })
  yield* Effect.forEach(all, inspect, { concurrency: 8, discard: true })
  for (let before = 0; before < found.size;) {
    before = found.size
    for (const { parent, pid } of all) if (found.has(parent)) found.add(pid)
  }
  return all.filter(({ pid }) => found.has(pid))
})

const kill = (pid: number) => Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL")))

/** So many passes find none before a run that had descendants is taken for ended: one that forks meanwhile may be missed. */
const quietPasses = 3
/** Passes before what is still there is left to the machine, such as a process in an uninterruptible call: some 5 s. */
const passes = 500

export interface Descendants {
  /** The first process, which leads a group and a session, has been started. */
  readonly add: (leader: number) => Effect.Effect<void, never, FileSystem.FileSystem>
  /** Notes the sessions of all that runs now, while parents are there by which to know their children. */
  readonly look: Effect.Effect<void, never, FileSystem.FileSystem>
  /** Kills every process of the run, until there is none, since they may start others meanwhile. */
  readonly end: Effect.Effect<void, never, FileSystem.FileSystem>
}

/** Of the run in this folder. */
export const make = (folder: string): Descendants => {
  const setting = `${variable}=${folder}`
  const sessions = new Set<number>()
  let first: number | null = null

  /** Every process of the run, its session noted. */
  const found = Effect.gen(function* () {
    const own = yield* Procfs.stat(process.pid)
    if (Option.isNone(own)) return []
    const all = yield* find(setting, sessions)
    for (const { session } of all) if (session !== own.value.session) sessions.add(session)
    return all.map(({ group, pid }) => ({ pid, group: group === own.value.group ? null : group }))
  })

  return {
    add: Effect.fnUntraced(function* (leader) {
      first = leader
      sessions.add(leader)
      yield* Cgroup.add(folder, leader)
    }),
    look: Effect.asVoid(found),
    end: Effect.gen(function* () {
      yield* Cgroup.kill(folder)
      if (first !== null) yield* kill(-first)
      let quiet = quietPasses - 1
      for (let n = 0; n < passes; n++) {
        const all = yield* found
        for (const { group, pid } of all) {
          // The group in one step: one that starts others all the time ends with them.
          if (group !== null && group > 1) yield* kill(-group)
          yield* kill(pid)
        }
        quiet = all.length === 0 ? quiet + 1 : 0
        if (quiet === quietPasses) return
        yield* Effect.sleep("10 millis")
      }
      yield* Effect.annotateLogs(Effect.logWarning("processes of a task could not be ended"), { folder })
    })
  }
}
