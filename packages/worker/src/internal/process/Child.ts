/**
 * Runs one program of a task package, with its output as the console of the step run. All processes that it starts end
 * with it.
 */
import type { Command } from "@signalbox/task-package/RobotYaml"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { join } from "node:path"
import type { Mask } from "../agent/Mask.ts"
import type { Reports } from "../agent/Reports.ts"
import * as Cgroup from "./Cgroup.ts"
import * as Descendants from "./Descendants.ts"
import type { Enforced } from "./Enforced.ts"
import { exceeded, limited, saysOf } from "./Exceeded.ts"
import * as Orphans from "./Orphans.ts"
import * as Lines from "./Lines.ts"
import * as Programs from "./Programs.ts"

/** The time between SIGTERM and SIGKILL, each sent to the whole group. */
const forceKillAfter = "3 seconds"
/**
 * Without output for this time, the output counts as ended, even if a process that could not be killed keeps it open.
 */
const stillness = "1 second"
/** How many times to wait for the output in that case while it still progresses. */
const patience = 10

/** How a program ended: with an exit code, or by a signal; and the limit that it has exceeded, if it failed for that. */
export type Ended = ({ readonly exitCode: number } | { readonly signal: string }) & { readonly exceeded?: string }

export interface Options {
  /** The folder of the run, unique to it. */
  readonly folder: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly write: Reports["write"]
  /** Hides values of secrets in what is written. */
  readonly mask?: Mask
  /** What it may use; default: what this process may. */
  readonly limits?: Enforced
}

/** The file that records the process while it runs. */
export const fileOf = (folder: string) => join(folder, "process.json")

/** Machines have one name or the other. */
const otherNames: Readonly<Record<string, string>> = { python: "python3", python3: "python" }

/** The command within its limits and its control group. A program that does not exist is started as it is, and fails as such. */
const prepared = Effect.fnUntraced(function* ([program, ...args]: Command, env: Options["env"], options: Options) {
  const { cwd, folder, limits } = options
  const command: Command = [program, ...args]
  const path = yield* Programs.find(program, env["PATH"] ?? "", cwd)
  if (path === null) return command
  const within = limits === undefined ? command : limited(limits, path, args)
  return (yield* Cgroup.joining(folder, within, env)) ?? within
})

const spawn = Effect.fnUntraced(function* ([program, ...args]: Command, options: Options) {
  const { cwd, folder } = options
  const spawner = yield* ChildProcessSpawner
  const env = { ...options.env, [Descendants.variable]: folder }
  const start = Effect.fnUntraced(function* (name: string) {
    const [first, ...rest] = yield* prepared([name, ...args], env, options)
    return yield* spawner.spawn(ChildProcess.make(first, rest, { cwd, env, stdin: "ignore", forceKillAfter }))
  })
  const other = otherNames[program]
  return yield* start(program).pipe(
    Effect.catchIf(
      (error) => other !== undefined && error.reason._tag === "NotFound",
      () => start(other ?? program)
    )
  )
})

/** Waits for the end of the output, unless it makes no progress although the service is not the cause. */
const awaitOutput = Effect.fnUntraced(function* (
  reading: Fiber.Fiber<unknown>,
  state: { lines: number; busy: boolean }
) {
  for (let waits = 0; waits < patience;) {
    const before = state.lines
    if ((yield* Effect.timeoutOption(Fiber.await(reading), stillness))._tag === "Some") return
    if (state.busy) continue
    if (state.lines === before) break
    waits++
  }
  yield* Fiber.interrupt(reading)
})

/**
 * Runs the program to its end. When it ends, or is interrupted, its group gets SIGTERM, and SIGKILL 3 s later; then all
 * other processes that it has started are killed, and the rest of the output is read. Fails when it cannot be started.
 */
export const run = Effect.fnUntraced(function* (command: Command, options: Options) {
  const { folder } = options
  const { limits = null } = options
  const state = { lines: 0, busy: false }
  const says = new Set<ReturnType<typeof saysOf>>()
  const write = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
    state.busy = true
    if (limits !== null) for (const line of lines) says.add(saysOf(line))
    yield* options.write(lines)
    state.lines += lines.length
    state.busy = false
  })
  const read = Effect.fnUntraced(function* (stream: Stream.Stream<Uint8Array, PlatformError>) {
    const lines = Lines.make(options.mask?.stream())
    yield* Effect.ignore(Stream.runForEach(stream, (bytes) => write(lines.push(bytes))))
    yield* write(lines.end())
  })
  const scope = yield* Effect.scope
  let reading: Fiber.Fiber<unknown> | undefined
  const output = Effect.suspend(() => (reading === undefined ? Effect.void : awaitOutput(reading, state)))
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const descendants = Descendants.make(folder)
      yield* Cgroup.make(folder, limits?.memory === true ? (limits.limits.memoryBytes ?? null) : null)
      // Around the finalizer of the handle, which ends the group: descendants are recorded before it and killed after
      // it.
      yield* Effect.addFinalizer(() => descendants.end)
      const handle = yield* spawn(command, options)
      yield* descendants.add(handle.pid)
      yield* Effect.addFinalizer(() => descendants.look)
      // In the outer scope, so that output during termination is read too.
      reading = yield* Effect.forkIn(
        Effect.all([read(handle.stdout), read(handle.stderr)], { concurrency: 2, discard: true }),
        scope
      )
      yield* Effect.ignore(Orphans.write(fileOf(folder), handle.pid))
      const ended: Ended = yield* handle.exitCode.pipe(
        Effect.map((exitCode): Ended => ({ exitCode })),
        Effect.catch((error) =>
          Effect.succeed<Ended>({ signal: /'(SIG\w+)'/.exec(String(error.cause))?.[1] ?? "unknown" })
        )
      )
      return { ended, outOfMemory: limits?.memory === true && (yield* Cgroup.outOfMemory(folder)) }
    })
  ).pipe(
    Effect.onInterrupt(() => Effect.timeoutOption(output, "2 seconds")),
    Effect.tap(output),
    Effect.map(({ ended, outOfMemory }): Ended => {
      if (limits === null || ("exitCode" in ended && ended.exitCode === 0)) return ended
      const limit = exceeded(limits.limits, { ...ended, outOfMemory, says })
      return limit === null ? ended : { ...ended, exceeded: limit }
    })
  )
})

/** How a program ended, for a message. */
export const describe = (ended: Ended): string => {
  const how = "exitCode" in ended ? `ended with exit code ${ended.exitCode}` : `was ended by the signal ${ended.signal}`
  return ended.exceeded === undefined ? how : `exceeded its limit of ${ended.exceeded}, and ${how}`
}
