/** Runs of tasks of packages: each in a separate working copy, by separate processes. */
import { type SizedBytes, UploadSourceError } from "@signalbox/api/Upload"
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import { ArtifactName } from "@signalbox/api/contract/WorkerProtocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { join } from "node:path"
import type { Environments } from "../environments/Builder.ts"
import * as OfPackage from "../environments/OfPackage.ts"
import { isLeaseLost } from "../outcome/Failures.ts"
import type { Reports } from "../agent/Reports.ts"
import type { StepRunError } from "../outcome/StepRunError.ts"
import type { CollectError, Execution } from "../agent/StepRun.ts"
import type { BuildTime } from "../agent/TimeLimit.ts"
import type { Cache, PackageRef } from "./Cache.ts"
import * as Enforced from "../process/Enforced.ts"
import * as Variables from "../environments/Variables.ts"
import * as Forwarding from "./Forwarding.ts"
import { machine } from "../outcome/SetupFailure.ts"
import * as RunFolders from "../process/RunFolders.ts"
import * as TaskCommand from "./TaskCommand.ts"

export interface Job {
  readonly ref: PackageRef
  readonly task: string
  /** What the step says of its environment; null: what the package describes. */
  readonly environment: Lease["environment"]
  /** The environment from the step and from the service. */
  readonly env: { readonly step: Variables.Variables; readonly service: Variables.Variables }
  readonly reports: Pick<Reports, "write" | "event" | "mask"> & {
    readonly saveArtifact: (file: SizedBytes) => Effect.Effect<void, CollectError>
  }
  /** Where the time of a build is not part of the time that the task has. */
  readonly buildTime: BuildTime
}

/** Executes tasks of packages; their folders exist as long as the scope. */
export interface Packages {
  readonly execution: (job: Job) => Effect.Effect<Execution<never>, never, Scope.Scope>
}

/** The limits of an artifact in bytes, and of its name in characters. */
const maxArtifact = 1024 * 1024 * 1024
const maxArtifactName = 255

/** The rules of the service; on disk a name may be nearly anything. */
const isArtifactName = Schema.is(ArtifactName)

/** A name in the form for one line of console. */
const shown = (name: string) => (/^[^\p{Cc}\p{Cs}]*$/u.test(name) ? name : JSON.stringify(name.toWellFormed()))

const rootOf = (folder: string) => join(folder, "package")

/** The files below a folder by their relative paths, without links and special files. */
const filesBelow = (
  folder: string,
  prefix = ""
): Effect.Effect<ReadonlyArray<string>, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const entries = yield* fs.readDirectoryEntries(join(folder, prefix))
    const found = yield* Effect.forEach(entries, ({ name, type }) => {
      const path = prefix === "" ? name : `${prefix}/${name}`
      return type === "Directory" ? filesBelow(folder, path) : Effect.succeed(type === "File" ? [path] : [])
    })
    return found.flat().toSorted()
  })

/** Uploads the files in the folder of artifacts. All are tried; fails with the first failure. */
const uploadAll = Effect.fnUntraced(function* (
  folder: string,
  reports: Job["reports"]
): Effect.fn.Return<void, CollectError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const unreadable = (name: string) => (error: PlatformError) =>
    new UploadSourceError({ name, message: `cannot read the artifact: ${error.message}` })
  const upload = Effect.fnUntraced(function* (name: string) {
    const path = join(folder, name)
    const size = Number((yield* fs.stat(path)).size)
    const why =
      size > maxArtifact
        ? `has more than ${maxArtifact} bytes`
        : name.length > maxArtifactName
          ? "has a name that is too long"
          : isArtifactName(name)
            ? null
            : "has a name with a backslash or control characters"
    if (why !== null) return yield* reports.write([`The artifact ${shown(name)} is not uploaded: it ${why}.`])
    yield* reports.saveArtifact({ name, size, stream: Stream.mapError(fs.stream(path), unreadable(name)) })
  })
  const names = yield* Effect.orElseSucceed(filesBelow(folder), () => [])
  let first: CollectError | undefined
  for (const name of names) {
    yield* upload(name).pipe(
      Effect.catchTag("PlatformError", (error) =>
        reports.write([`The artifact ${shown(name)} is not uploaded: ${error.message}`])
      ),
      Effect.catch((error) => {
        first ??= error
        if (isLeaseLost(error)) return Effect.fail(error)
        return reports.write([`The artifact ${shown(name)} could not be uploaded.`])
      })
    )
  }
  if (first !== undefined) return yield* first
})

/** `runs` is the folder of the working copies; `limits`: what tasks may use. */
export const make = Effect.fnUntraced(function* (
  cache: Cache,
  runs: string,
  environments: Environments,
  limits: Enforced.Enforced = Enforced.none
) {
  const fs = yield* FileSystem.FileSystem
  const services = Context.pick(
    FileSystem.FileSystem,
    HttpClient.HttpClient,
    ChildProcessSpawner
  )(yield* Effect.context<FileSystem.FileSystem | HttpClient.HttpClient | ChildProcessSpawner>())
  const inherited = Variables.inheritedFrom(process.env)
  const onDisk = machine("the working copy cannot be created")

  const prepare = Effect.fnUntraced(function* ({ ref, reports, task }: Job, root: string) {
    yield* cache.checkOut(ref, root, reports.event("DOWNLOAD"))
    return yield* TaskCommand.read(root, task)
  })

  const packages: Packages = {
    execution: Effect.fnUntraced(function* (job) {
      const { reports } = job
      let folder: string | undefined
      let artifacts: string | undefined
      yield* Effect.addFinalizer(() =>
        folder === undefined ? Effect.void : Effect.provideContext(RunFolders.remove(folder), services)
      )
      const scope = yield* Effect.scope
      const work = Effect.gen(function* () {
        folder = yield* Effect.mapError(fs.makeTempDirectory({ directory: runs, prefix: "run-" }), onDisk)
        const root = rootOf(folder)
        const robot = yield* prepare(job, root)
        artifacts = join(root, robot.artifactsFolder)
        const built = yield* OfPackage.provide(environments, root, job)
        const { mask, write } = reports
        const service = { ...job.env.service, ...(yield* Forwarding.make(job.env.service, mask)) }
        const env = Variables.make({ step: job.env.step, service, root, robot, machine: inherited, built })
        return yield* TaskCommand.run(robot, { folder, cwd: root, env, write, mask, limits }, reports)
      }).pipe(
        Effect.catchTag("PackageFailure", ({ code, message }) => Effect.succeed<StepRunError>({ code, message })),
        Effect.tap((error) => (error === null ? Effect.void : reports.write([`${error.code}: ${error.message}`])))
      )
      return {
        work: Effect.provideService(Effect.provideContext(work, services), Scope.Scope, scope),
        collect: Effect.suspend(() => (artifacts === undefined ? Effect.void : uploadAll(artifacts, reports))).pipe(
          Effect.provideContext(services)
        ),
        counts: Effect.succeed({})
      }
    })
  }
  return packages
})
