/** A worker with a scripted service, which runs one task of one package. */
import { StepRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import type * as RawZip from "@signalbox/testkit/RawZip"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { serve } from "../../src/internal/agent/Agent.ts"
import * as Builder from "../../src/internal/environments/Builder.ts"
import type { Settings } from "../../src/internal/environments/Settings.ts"
import * as Cache from "../../src/internal/packages/Cache.ts"
import * as Enforced from "../../src/internal/process/Enforced.ts"
import * as Variables from "../../src/internal/environments/Variables.ts"
import * as PackageRun from "../../src/internal/packages/PackageRun.ts"
import type { Limits } from "../../src/Limits.ts"
import * as Protocol from "./Protocol.ts"
import * as Zips from "./Zips.ts"

export const until = <A>(look: () => A | undefined | false) =>
  Effect.suspend(() => {
    const found = look()
    return found === undefined || found === false ? Effect.fail("not yet") : Effect.succeed(found)
  }).pipe(Effect.retry(Schedule.spaced("20 millis")), Effect.timeout("2 minutes"))

/** Starts the task `t` of a package with these files. Its step run is `s1`; the working copies are in `runs`. */
export const begin = Effect.fnUntraced(function* (
  files: ReadonlyArray<RawZip.Entry>,
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly settings?: Settings
    /** What tools of environments see of this process; default: all that is inherited. */
    readonly machine?: Readonly<Record<string, string>>
    readonly environments?: string
    readonly timeoutSeconds?: number
    readonly environment?: Lease["environment"]
    readonly limits?: Limits
  } = {}
) {
  const { env = {}, settings = { provider: "none" } } = options
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const { bytes, digest } = Zips.write(join(folder, "z"), files)
  const server = yield* Zips.serve(bytes)
  const { protocol, script } = yield* Protocol.make
  const cache = yield* Cache.make({ folder: join(folder, "cache"), limit: 1024 ** 3 })
  const runs = join(folder, "runs")
  yield* fs.makeDirectory(runs)
  const environments = yield* Builder.make({
    folder: options.environments ?? join(folder, "environments"),
    settings,
    ...(options.machine === undefined ? {} : { machine: options.machine })
  })
  const packages = yield* PackageRun.make(cache, runs, environments, yield* Enforced.prepare(options.limits ?? {}))
  const fiber = yield* Effect.forkScoped(
    Effect.scoped(
      serve({
        protocol,
        tasks: [],
        packages: true,
        execute: (lease, reports, _mayReserve, buildTime) =>
          packages.execution({
            ref: { digest, url: server.url },
            task: lease.task.name,
            environment: lease.environment,
            env: {
              step: lease.env,
              service: Variables.ofStepRun(lease, "http://127.0.0.1:1/", WorkspaceId.make("w"))
            },
            reports,
            buildTime
          }),
        capacity: 1,
        heartbeat: "100 millis",
        drain: 0,
        labels: [],
        once: false,
        hurry: Effect.never
      })
    )
  )
  yield* Queue.offer(
    script.leases,
    Protocol.lease("s1", "t", {
      package: { digest, url: server.url },
      env,
      environment: options.environment ?? null,
      timeout_seconds: options.timeoutSeconds ?? null
    })
  )
  const stop = Effect.sync(() => {
    script.stop = [StepRunId.make("s1")]
  })
  return { script, fiber, runs, stop }
})

/** An ended process that the system has not yet removed is not running. */
export const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return !existsSync("/proc/self") || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")
  } catch {
    return false
  }
}
