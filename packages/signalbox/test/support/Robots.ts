/** Runs of task packages against the control room that the client is connected to. */
import { assert } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as nodeProcess from "node:process"

const python = readFileSync(join(import.meta.dirname, "robot.py"), "utf8")

const robotYaml = `
tasks:
${["produce", "consume", "environment", "nothing", "crash", "tree"]
  .map((task) => `  ${task}:\n    shell: python3 robot.py ${task}\n`)
  .join("")}
  by command:
    command: [node, -e, "console.log('node says', process.argv[1])", "two words"]
  no program:
    shell: surely-no-such-program
artifactsDir: output
PATH: [bin]
PYTHONPATH: [lib]
condaConfigFile: conda.yaml
`

/** The package of robot.py. */
export const robot = zipOf({ "robot.yaml": robotYaml, "robot.py": python, "lib/empty.py": "", "conda.yaml": "" })

export const upload = Effect.fnUntraced(function* (name: string, bytes: Uint8Array) {
  const { id } = yield* TaskPackages.create(name)
  yield* TaskPackages.upload(id, { name: `${name}.zip`, bytes })
  return id
})

export type Steps = Parameters<typeof Processes.put>[0]["steps"]

export const process = (name: string, steps: Steps) => Effect.map(Processes.put({ name, steps }), ({ id }) => id)

export const start = Effect.fnUntraced(function* (
  processId: Effect.Success<ReturnType<typeof process>>,
  payload: Schema.Json = null
) {
  const run = yield* ProcessRuns.start(processId, { payloads: [payload] })
  if (!run.started) return yield* Effect.die(new Error("not started"))
  return run.id
})

/** The step runs of a run with all their reports, oldest first. */
export const stepRuns = Effect.fnUntraced(function* (run: Effect.Success<ReturnType<typeof start>>) {
  const found = yield* Stream.runCollect(StepRuns.stream(run))
  return yield* Effect.forEach(found.toReversed(), (stepRun) =>
    Effect.gen(function* () {
      const events = yield* Stream.runCollect(StepRuns.events(stepRun.id))
      const messages = yield* Stream.runCollect(StepRuns.consoleMessages(stepRun.id))
      const artifacts = yield* Stream.runCollect(StepRuns.artifacts(stepRun.id))
      return {
        ...stepRun,
        events: events.map(({ event_type }) => String(event_type)),
        console: messages.map(({ message }) => message),
        artifacts: artifacts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      }
    })
  )
})

/** Runs one task of the package to the end; returns the run and its only step run. */
export const runTask = Effect.fnUntraced(function* (
  packageId: Effect.Success<ReturnType<typeof upload>>,
  task: string,
  rest: Partial<Steps[number]> = {}
) {
  const id = yield* process(`${task} ${crypto.randomUUID()}`, [
    { name: task, task: { package_id: packageId, name: task }, ...rest }
  ])
  const run = yield* start(id)
  const ended = yield* ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })
  const [stepRun] = yield* stepRuns(run)
  assert.isDefined(stepRun)
  return { run: ended, stepRun: stepRun ?? (yield* Effect.die("no step run")) }
})

/** An ended process that the system has not yet removed is not running. */
export const isAlive = (pid: number) => {
  try {
    nodeProcess.kill(pid, 0)
    return !existsSync("/proc/self") || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")
  } catch {
    return false
  }
}
