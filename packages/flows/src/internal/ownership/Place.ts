/**
 * Where a process of the operating system runs, so that the next one on the same host can tell that it has ended. Only on Linux, by
 * `/proc`; elsewhere a process that was killed keeps its claims until its lease expires.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import type { Place } from "../model/Execution.ts"

const read = (path: string) => Effect.option(Effect.try(() => readFileSync(path, "utf8").trim()))
const link = (path: string) => Effect.option(Effect.try(() => readlinkSync(path)))

/** The state of a process, and when it started, in ticks since the boot. */
const statOf = (pid: number | "self") =>
  Effect.map(
    read(`/proc/${pid}/stat`),
    Option.flatMap((stat) => {
      // The name before them may contain anything, also parentheses and spaces.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const [state] = fields
      const startedAt = fields[19]
      return state === undefined || startedAt === undefined ? Option.none() : Option.some({ state, startedAt })
    })
  )

/** Returns the place of this process; null when it is not known. */
export const placeOfSelf: Effect.Effect<Place | null> = Effect.gen(function* () {
  const boot = yield* read("/proc/sys/kernel/random/boot_id")
  const pids = yield* link("/proc/self/ns/pid")
  const self = yield* link("/proc/self")
  const stat = yield* statOf("self")
  if (Option.isNone(boot) || Option.isNone(pids) || Option.isNone(stat)) return null
  // Otherwise `/proc` shows the processes of another namespace.
  if (Option.getOrNull(self) !== `${process.pid}`) return null
  // Start times are those of the namespace of time.
  const times = Option.getOrElse(yield* link("/proc/self/ns/time"), () => "")
  return {
    host: hostname(),
    boot: boot.value,
    namespace: `${pids.value} ${times}`.trim(),
    pid: process.pid,
    startedAt: stat.value.startedAt
  }
})

/** Whether two processes see the same pids. */
export const isBeside = (one: Place, other: Place): boolean =>
  one.host === other.host && one.boot === other.boot && one.namespace === other.namespace

/** Whether the system knows the process; also true when it belongs to another user. */
const isKnown = (pid: number): Effect.Effect<boolean> =>
  Effect.match(
    // The signal 0 is not sent.
    Effect.try({
      try: () => process.kill(pid, 0),
      catch: (error) => (error instanceof Error && "code" in error ? { code: error.code } : { code: null })
    }),
    {
      onFailure: ({ code }) => code !== "ESRCH",
      onSuccess: () => true
    }
  )

/** Zombies, and processes that are being removed, run no more. */
const ended: ReadonlySet<string> = new Set(["Z", "X"])

/** Whether a process beside this one has ended. False in doubt: its claims then last as long as its lease. */
export const hasEnded = Effect.fnUntraced(function* ({ pid, startedAt }: Place) {
  if (!(yield* isKnown(pid))) return true
  const stat = yield* statOf(pid)
  return Option.isSome(stat) && (stat.value.startedAt !== startedAt || ended.has(stat.value.state))
})
