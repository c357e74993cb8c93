/**
 * One task of a package that is unpacked: read, set up and run.
 */
import * as RobotYaml from "@signalbox/task-package/RobotYaml"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { join } from "node:path"
import type { Reports } from "../agent/Reports.ts"
import { failed } from "../outcome/StepRunError.ts"
import * as Child from "../process/Child.ts"
import { machine, PackageFailure } from "../outcome/SetupFailure.ts"

const notStarted =
  (code: "START_FAILURE" | "SETUP_FAILURE", [program]: RobotYaml.Command) =>
  ({ reason }: PlatformError): PackageFailure => {
    const why = reason._tag === "NotFound" ? "the program does not exist on this machine" : reason.message
    return new PackageFailure({ code, message: `cannot start ${JSON.stringify(program)}: ${why}` })
  }

/** Reads a task of the package in a folder, and creates its folder of artifacts. Null: the only task. */
export const read = Effect.fnUntraced(function* (root: string, task: string | null) {
  const fs = yield* FileSystem.FileSystem
  const hasRobotYaml = yield* Effect.orElseSucceed(fs.exists(join(root, "robot.yaml")), () => false)
  const file = hasRobotYaml ? "robot.yaml" : "package.yaml"
  const text = yield* Effect.mapError(
    fs.readFileString(join(root, file)),
    () => new PackageFailure({ code: "START_FAILURE", message: "the task package has no robot.yaml at its root" })
  )
  const robot = yield* Effect.gen(function* () {
    if (task !== null) return yield* RobotYaml.read(text, task)
    const [only = "", ...others] = yield* RobotYaml.tasksOf(text)
    return yield* RobotYaml.read(text, others.length === 0 ? only : "")
  }).pipe(
    Effect.mapError(RobotYaml.inFile(file)),
    Effect.mapError(
      ({ field, message }) =>
        new PackageFailure({ code: field === "preRunScripts" ? "SETUP_FAILURE" : "START_FAILURE", message })
    )
  )
  yield* Effect.mapError(
    fs.makeDirectory(join(root, robot.artifactsFolder), { recursive: true }),
    machine("the working copy cannot be created")
  )
  return robot
})

/** Runs the scripts of a robot and then its task; resolves to null when it ended well. */
export const run = Effect.fnUntraced(function* (
  robot: RobotYaml.Robot,
  options: Child.Options,
  reports: Pick<Reports, "event">
) {
  if (robot.preRunScripts.length > 0) yield* reports.event("SETUP")
  for (const script of robot.preRunScripts) {
    const ended = yield* Effect.mapError(Child.run(script, options), notStarted("SETUP_FAILURE", script))
    if ("exitCode" in ended && ended.exitCode === 0) continue
    return yield* new PackageFailure({
      code: "SETUP_FAILURE",
      message: `the script ${script.join(" ")} ${Child.describe(ended)}`
    })
  }
  const ended = yield* Effect.mapError(Child.run(robot.command, options), notStarted("START_FAILURE", robot.command))
  if ("exitCode" in ended && ended.exitCode === 0) return null
  return failed("ROBOT_FAILURE", `the task ${Child.describe(ended)}`)
})
