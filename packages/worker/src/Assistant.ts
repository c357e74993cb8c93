/**
 * Assistants: a person runs a task of a package on this machine and sees its output; the run is reported to the control
 * room.
 */
import type { AssistantId } from "@signalbox/api/contract/Ids"
import * as Assistants from "@signalbox/api/Assistants"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { UploadSourceError, type SizedBytes } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { dirname, join, resolve } from "node:path"
import { HomeError } from "./Home.ts"
import * as Builder from "./internal/environments/Builder.ts"
import type { Settings } from "./internal/environments/Settings.ts"
import { backoff, isUnavailable, messageOf, retryUntilAvailable } from "./internal/outcome/Failures.ts"
import * as Mask from "./internal/agent/Mask.ts"
import * as Cache from "./internal/packages/Cache.ts"
import * as Variables from "./internal/environments/Variables.ts"
import * as PackageRun from "./internal/packages/PackageRun.ts"
import type { StepRunError } from "./internal/outcome/StepRunError.ts"
import { unlimited } from "./internal/agent/TimeLimit.ts"

export interface Options {
  /** The folder of unpacked task packages, up to 5 GB; workers on this machine may share it. */
  readonly packagesFolder: string
  /** The folder of environments, up to 20 GB; workers of this machine may share it. */
  readonly environmentsFolder: string
  /** How they are built; default: by the first tool on `PATH` that can. */
  readonly environments?: Settings
  /** The folder for artifacts of the task. */
  readonly artifactsFolder: string
  /** Receives the output of the task, line by line. */
  readonly write: (lines: ReadonlyArray<string>) => Effect.Effect<void>
}

/** The end of an assistant run: `error` null when it succeeded. */
export interface Ended {
  readonly run: Assistants.AssistantRun
  readonly error: { readonly code: Assistants.AssistantRunErrorCode; readonly message: string } | null
}

const reported = new Set<string>(["START_FAILURE", "UNZIP_FAILURE", "SETUP_FAILURE", "ROBOT_FAILURE", "UPLOAD_FAILURE"])
const isReported = (code: string): code is Assistants.AssistantRunErrorCode => reported.has(code)

/** The error for the service, which knows fewer codes for assistants than for step runs. */
const errorOf = ({ code, message }: StepRunError) => ({ code: isReported(code) ? code : "UNKNOWN", message }) as const

/**
 * Runs an assistant on this machine and reports it: start, heartbeats, end. The task gets the secrets and assets of the
 * workspace, and local work items only. When interrupted, or when the service says that the run has ended, the
 * processes of the task are terminated and the run fails as `UNKNOWN`.
 *
 * Fails with `NotFound`, with `Conflict` when the package has no content, with `ControlRoomError`, and with `HomeError`
 * when a folder cannot be used. A failed task is a result, not a failure.
 *
 * ```ts
 * import type { AssistantId } from "@signalbox/api/contract/Ids"
 * import * as Assistant from "@signalbox/worker/Assistant"
 * import * as Console from "effect/Console"
 *
 * export const run = (assistant: AssistantId) =>
 *   Assistant.run(assistant, {
 *     packagesFolder: ".signalbox-worker/packages",
 *     environmentsFolder: ".signalbox-worker/environments",
 *     artifactsFolder: "output",
 *     write: (lines) => Console.log(lines.join("\n"))
 *   })
 * ```
 */
export const run = Effect.fn("Assistant.run")(function* (assistant: AssistantId, options: Options) {
  const { artifactsFolder, packagesFolder, write } = options
  const fs = yield* FileSystem.FileSystem
  const room = yield* ControlRoom
  const unusable = (error: { readonly message: string }) =>
    new HomeError({ message: `the folder ${packagesFolder} cannot be used: ${error.message}`, inUse: false })
  const cache = yield* Effect.mapError(Cache.make({ folder: packagesFolder, limit: 5 * 1024 * 1024 * 1024 }), unusable)
  const runs = yield* Effect.mapError(fs.makeTempDirectoryScoped({ prefix: "signalbox-assistant-" }), unusable)
  const environments = yield* Effect.mapError(
    Builder.make({ folder: resolve(options.environmentsFolder), settings: options.environments ?? {} }),
    ({ message }) =>
      new HomeError({ message: `the folder ${options.environmentsFolder} cannot be used: ${message}`, inUse: false })
  )
  const packages = yield* PackageRun.make(cache, runs, environments)

  const save = (file: SizedBytes) => {
    const path = join(artifactsFolder, file.name)
    return fs.makeDirectory(dirname(path), { recursive: true }).pipe(
      Effect.andThen(Stream.run(file.stream, fs.sink(path))),
      Effect.catchTag("PlatformError", (error) =>
        Effect.fail(new UploadSourceError({ name: file.name, message: `cannot write ${path}: ${error.message}` }))
      )
    )
  }

  const started = yield* Assistants.startRun(assistant)
  const { id } = started
  const complete = (code: Assistants.AssistantRunErrorCode | null) =>
    retryUntilAvailable(Assistants.completeRun(id, code))
  const execution = yield* packages.execution({
    ref: started.package,
    task: started.task.name,
    environment: null,
    env: {
      step: {},
      service: Variables.ofWorkspace(
        room.baseUrl.replace(/\/(api\/)?v1$/, ""),
        room.workspaceId,
        Redacted.value(started.run_token)
      )
    },
    // The output stays on this machine.
    reports: { write, event: () => Effect.void, saveArtifact: save, mask: Mask.make() },
    buildTime: unlimited
  })
  /** Ends when the service has ended the run. */
  const alive = Assistants.heartbeat(id).pipe(
    Effect.retry({ while: isUnavailable, schedule: backoff }),
    Effect.repeat(Schedule.spaced(`${started.heartbeat_seconds} seconds`)),
    Effect.matchEffect({
      onSuccess: () => Effect.never,
      onFailure: (error) =>
        Effect.succeed<StepRunError>({
          code: "TERMINATED",
          message: `the service has ended this run: ${error.message}`
        })
    })
  )
  const work = execution.work.pipe(
    Effect.catch((error) => Effect.succeed<StepRunError>({ code: "ROBOT_FAILURE", message: messageOf(error) }))
  )
  const ending = yield* Effect.raceFirst(work, alive).pipe(
    Effect.onInterrupt(() => Effect.ignore(Effect.timeout(complete("UNKNOWN"), "5 seconds")))
  )
  const collected = yield* execution.collect.pipe(
    Effect.as(ending),
    Effect.catch((error) => Effect.succeed(ending ?? { code: "UPLOAD_FAILURE" as const, message: messageOf(error) }))
  )
  const error = collected === null ? null : errorOf(collected)
  const ended: Ended = {
    // If the service has ended the run, its state there stays.
    run: yield* Effect.catchTag(complete(error?.code ?? null), "Conflict", () => Assistants.getRun(id)),
    error
  }
  return ended
}, Effect.scoped)
