/** Runs of tasks of packages: each in a separate working copy, by separate processes. */
import { type SizedBytes, UploadSourceError } from "@signalbox/api/Upload"
import { ArtifactName } from "@signalbox/api/contract/WorkerProtocol"
import * as RobotYaml from "@signalbox/task-package/RobotYaml"
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
import { isLeaseLost } from "../Failures.ts"
import type { Reports } from "../Reports.ts"
import { type CollectError, type Execution, failed, type StepRunError } from "../StepRun.ts"
import type { Cache, PackageRef } from "./Cache.ts"
import * as Child from "./Child.ts"
import * as Descendants from "./Descendants.ts"
import * as Environment from "./Environment.ts"
import * as Leftovers from "./Leftovers.ts"
import { machine, PackageFailure } from "./PackageFailure.ts"

export interface Job {
  readonly ref: PackageRef
  readonly task: string
  /** The environment from the step and from the service. */
  readonly env: { readonly step: Environment.Variables; readonly service: Environment.Variables }
  readonly reports: Pick<Reports, "write" | "event"> & {
    readonly saveArtifact: (file: SizedBytes) => Effect.Effect<void, CollectError>
  }
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

/** Terminates the processes and deletes the folders of a killed worker. */
export const clearLeftovers = Effect.fnUntraced(function* (runs: string) {
  const fs = yield* FileSystem.FileSystem
  for (const name of yield* Effect.orElseSucceed(fs.readDirectory(runs), () => [])) {
    const folder = join(runs, name)
    const leader = yield* Leftovers.running(Child.fileOf(folder))
    const descendants = Descendants.make(folder)
    if (leader !== null) yield* descendants.add(leader.pid)
    yield* descendants.end
    yield* Effect.ignore(fs.remove(folder, { recursive: true, force: true }))
    yield* Effect.annotateLogs(Effect.logInfo("removed processes and folders of a killed worker"), { folder })
  }
})

const describe = (ended: Child.Ended): string =>
  "exitCode" in ended ? `ended with exit code ${ended.exitCode}` : `was ended by the signal ${ended.signal}`

const notStarted =
  (code: "START_FAILURE" | "SETUP_FAILURE", [program]: RobotYaml.Command) =>
  ({ reason }: PlatformError): PackageFailure => {
    const why = reason._tag === "NotFound" ? "this machine has no such program" : reason.message
    return new PackageFailure({ code, message: `cannot start ${JSON.stringify(program)}: ${why}` })
  }

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
          ? "has too long a name"
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

/** `runs` is the folder of the working copies. */
export const make = Effect.fnUntraced(function* (cache: Cache, runs: string) {
  const fs = yield* FileSystem.FileSystem
  const services = Context.pick(
    FileSystem.FileSystem,
    HttpClient.HttpClient,
    ChildProcessSpawner
  )(yield* Effect.context<FileSystem.FileSystem | HttpClient.HttpClient | ChildProcessSpawner>())
  const inherited = Environment.inheritedFrom(process.env)
  const onDisk = machine("the working copy cannot be created")

  const prepare = Effect.fnUntraced(function* ({ ref, reports, task }: Job, root: string) {
    yield* cache.checkOut(ref, root, reports.event("DOWNLOAD"))
    const text = yield* Effect.mapError(
      fs.readFileString(join(root, "robot.yaml")),
      () => new PackageFailure({ code: "START_FAILURE", message: "the task package has no robot.yaml at its root" })
    )
    const robot = yield* Effect.mapError(
      RobotYaml.read(text, task),
      ({ field, message }) =>
        new PackageFailure({ code: field === "preRunScripts" ? "SETUP_FAILURE" : "START_FAILURE", message })
    )
    yield* Effect.mapError(fs.makeDirectory(join(root, robot.artifactsFolder), { recursive: true }), onDisk)
    return robot
  })

  const setUp = Effect.fnUntraced(function* (robot: RobotYaml.Robot, reports: Job["reports"], options: Child.Options) {
    if (robot.environments.length > 0) {
      yield* reports.write([
        `The environment of ${robot.environments.join(", ")} is not built: the task runs with the programs of this machine.`
      ])
    }
    if (robot.preRunScripts.length > 0) yield* reports.event("SETUP")
    for (const script of robot.preRunScripts) {
      const ended = yield* Effect.mapError(Child.run(script, options), (error) =>
        notStarted("SETUP_FAILURE", script)(error)
      )
      if ("exitCode" in ended && ended.exitCode === 0) continue
      return yield* new PackageFailure({
        code: "SETUP_FAILURE",
        message: `the script ${script.join(" ")} ${describe(ended)}`
      })
    }
  })

  const packages: Packages = {
    execution: Effect.fnUntraced(function* (job) {
      const { reports } = job
      let folder: string | undefined
      let artifacts: string | undefined
      yield* Effect.addFinalizer(() =>
        folder === undefined ? Effect.void : Effect.ignore(fs.remove(folder, { recursive: true, force: true }))
      )
      const scope = yield* Effect.scope
      const work = Effect.gen(function* () {
        folder = yield* Effect.mapError(fs.makeTempDirectory({ directory: runs, prefix: "run-" }), onDisk)
        const root = rootOf(folder)
        const robot = yield* prepare(job, root)
        artifacts = join(root, robot.artifactsFolder)
        const env = Environment.make({ ...job.env, root, robot, machine: inherited })
        const options = { folder, cwd: root, env, write: reports.write }
        yield* setUp(robot, reports, options)
        const ended = yield* Effect.mapError(
          Child.run(robot.command, options),
          notStarted("START_FAILURE", robot.command)
        )
        if ("exitCode" in ended && ended.exitCode === 0) return null
        return failed("ROBOT_FAILURE", `the task ${describe(ended)}`)
      }).pipe(
        Effect.catchTag("PackageFailure", ({ code, message }) => Effect.succeed<StepRunError>({ code, message })),
        Effect.tap((error) => (error === null ? Effect.void : reports.write([`${error.code}: ${error.message}`])))
      )
      return {
        work: Effect.provideService(Effect.provideContext(work, services), Scope.Scope, scope),
        collect: Effect.suspend(() => (artifacts === undefined ? Effect.void : uploadAll(artifacts, reports))).pipe(
          Effect.provideContext(services)
        )
      }
    })
  }
  return packages
})
