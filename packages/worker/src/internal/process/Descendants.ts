/**
 * All processes that a program of a task package has started, even if they left its process group: they are recognised
 * by control group, by an environment variable unique to the run, by parent and by session.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Cgroup from "./Cgroup.ts"
import * as Procfs from "./Procfs.ts"
import { endTreeCommand } from "./Windows.ts"

/** Its value is the folder of the run, unique to it. */
export const variable = "SIGNALBOX_RUN_FOLDER"

/** The processes of a run, including those in these sessions, with their children. */
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

/** Ends the group that a process leads; on Windows all that it has started, if it still runs. */
const endTree = Effect.fnUntraced(function* (leader: number) {
  const command = endTreeCommand(leader, process.platform)
  if (command === null) return yield* kill(-leader)
  const spawner = yield* ChildProcessSpawner
  const [program, ...args] = command
  yield* Effect.ignore(spawner.exitCode(ChildProcess.make(program, args)))
})

const kill = (pid: number) => Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL")))

/**
 * How many passes must find no process before a run with descendants counts as ended: a pass may miss one that forks at
 * the same time.
 */
const quietPasses = 3
/** Passes before the remaining processes are given up, such as one in an uninterruptible system call: about 5 s. */
const passes = 500

export interface Descendants {
  /** Registers the first process, which leads a group and a session. */
  readonly add: (leader: number) => Effect.Effect<void, never, FileSystem.FileSystem>
  /** Records the sessions of all current processes, while their parents exist by which children are recognised. */
  readonly look: Effect.Effect<void, never, FileSystem.FileSystem>
  /** Kills every process of the run, repeatedly, since they may start others. */
  readonly end: Effect.Effect<void, never, FileSystem.FileSystem | ChildProcessSpawner>
}

/** For the run in this folder. */
export const make = (folder: string): Descendants => {
  const setting = `${variable}=${folder}`
  const sessions = new Set<number>()
  let first: number | null = null

  /** Finds every process of the run, and records its session. */
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
      if (first !== null) yield* endTree(first)
      let quiet = quietPasses - 1
      for (let n = 0; n < passes; n++) {
        const all = yield* found
        for (const { group, pid } of all) {
          // The group in one step: a process that constantly forks ends with it.
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
