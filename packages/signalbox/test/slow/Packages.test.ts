/**
 * Task packages from upload to outputs: a real service, a real worker, real processes.
 */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Outputs from "@signalbox/api/Outputs"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { existsSync, readdirSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import * as Embedded from "../../src/Embedded.ts"
import * as Robots from "../support/Robots.ts"
import { temporaryFolder } from "../support/Cli.ts"

const { folder, remove } = temporaryFolder("packages")
/** The working copies of the worker. */
const runs = join(folder, "data", "workers", "local-1", "runs")

const talks = Task.make("talks", {
  input: Schema.Json,
  output: Schema.Json,
  run: Effect.fnUntraced(function* () {
    yield* Effect.logWarning("half way")
    yield* Effect.annotateLogs(Effect.logInfo("all done"), { rows: 7 })
  })
})

const layer = Layer.unwrap(
  Effect.gen(function* () {
    yield* Effect.addFinalizer(() => Effect.sync(remove))
    // A secret of the worker, which no task may see.
    process.env["SIGNALBOX_MASTER_SECRET"] = "of the worker alone"
    return Embedded.layer({ data: join(folder, "data"), port: 0, workers: 1, tasks: [talks] })
  })
).pipe(Layer.provideMerge(NodeServices.layer), Layer.provide(Logger.layer([])))

let uploaded: Effect.Success<ReturnType<typeof Robots.upload>> | undefined
const robot = Effect.gen(function* () {
  uploaded ??= yield* Robots.upload("robot", yield* Robots.robot)
  return uploaded
})

const Pids = Schema.fromJsonString(Schema.Array(Schema.Int))

/** The processes of the task `tree`, once all of them run. */
const treeOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.retry(fs.readFileString(file), Schedule.spaced("50 millis")).pipe(
    Effect.timeout("20 seconds")
  )
  return yield* Schema.decodeEffect(Pids)(text)
})

const awaitGone = (pids: ReadonlyArray<number>) =>
  Effect.suspend(() => (pids.some(Robots.isAlive) ? Effect.fail("alive") : Effect.void)).pipe(
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout("20 seconds")
  )

// The worker downloads the package in the first one.
describe("in this order", { shuffle: false }, () => {
  withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("task packages", (it) => {
    it.effect(
      "two steps in Python: outputs, console, events and artifacts; a failed item has its reason and is retried",
      () =>
        Effect.gen(function* () {
          const packageId = yield* robot
          const id = yield* Robots.process("numbers", [
            { name: "produce", task: { package_id: packageId, name: "produce" } },
            { name: "consume", task: { package_id: packageId, name: "consume" }, env: { ONCE: folder } }
          ])
          const run = yield* Robots.start(id, { count: 3 })
          const first = yield* ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })
          assert.strictEqual(first.state, "unresolved")
          const failed = yield* Stream.runCollect(WorkItems.stream({ processRun: run, state: "failed" }))
          assert.deepStrictEqual(
            failed.map(({ exception }) => [exception?.type, exception?.code, exception?.message]),
            [["business", "NO_TWOS", "two is not wanted at first"]]
          )
          yield* WorkItems.retry(failed.map((item) => item.id))
          assert.strictEqual((yield* ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })).state, "completed")

          const outputs = yield* Stream.runCollect(Outputs.stream(run))
          assert.deepStrictEqual(outputs.map(({ payload }) => JSON.stringify(payload)).toSorted(), [
            '{"square":1}',
            '{"square":4}',
            '{"square":9}'
          ])
          const [produce, consume, again] = yield* Robots.stepRuns(run)
          assert.deepStrictEqual(
            [produce?.state, consume?.state, again?.state],
            ["completed", "completed", "completed"]
          )
          assert.match(produce?.console[0] ?? "", /^made 1 as [0-9a-f-]{36}$/)
          assert.include(produce?.events ?? [], "DOWNLOAD")
          assert.notInclude(consume?.events ?? ["DOWNLOAD"], "DOWNLOAD")
          assert.includeMembers([...(consume?.console ?? [])], ["working on 1", "a warning about 1", "working on 2"])
          assert.deepStrictEqual(
            consume?.artifacts.map(({ name }) => name),
            ["numbers/1.txt", "numbers/3.txt"]
          )
          const artifact = consume?.artifacts[0]
          if (consume === undefined || artifact === undefined) return assert.fail("no artifact")
          const bytes = yield* Stream.mkUint8Array(StepRuns.downloadArtifact(consume.id, artifact.id))
          assert.strictEqual(new TextDecoder().decode(bytes), "number 1\n")
          assert.include(consume.events, "ARTIFACT_ADDED")
        })
    )

    it.effect("a robot that never touches work items completes its run", () =>
      Effect.gen(function* () {
        const { run, stepRun } = yield* Robots.runTask(yield* robot, "nothing")
        assert.strictEqual(run.state, "completed")
        assert.strictEqual(stepRun.console.at(-1), "nothing to do")
      })
    )

    it.effect("a command is run as it stands, without a shell", () =>
      Effect.gen(function* () {
        const { run, stepRun } = yield* Robots.runTask(yield* robot, "by command")
        assert.strictEqual(run.state, "completed")
        assert.strictEqual(stepRun.console.at(-1), "node says two words")
      })
    )

    it.effect("the task sees what the field's libraries read and the step's own, and no secret of the worker", () =>
      Effect.gen(function* () {
        const { run, stepRun } = yield* Robots.runTask(yield* robot, "environment", { env: { REGION: "north" } })
        assert.strictEqual(run.state, "completed")
        const artifact = stepRun.artifacts[0]
        if (artifact === undefined) return assert.fail("no artifact")
        const text = yield* Stream.mkString(Stream.decodeText(StepRuns.downloadArtifact(stepRun.id, artifact.id)))
        const { cwd, env, files } = JSON.parse(text)
        const { origin, credentials } = yield* Embedded.Embedded
        assert.strictEqual(env.RC_WORKSPACE_ID, credentials.workspace_id)
        assert.strictEqual(env.RC_ACTIVITY_RUN_ID, stepRun.id)
        assert.strictEqual(env.RC_ACTIVITY_ID, (yield* StepRuns.get(stepRun.id)).step.id)
        assert.strictEqual(env.RC_PROCESS_RUN_ID, run.id)
        assert.strictEqual(env.RC_API_WORKITEM_HOST, origin)
        assert.strictEqual(env.RC_API_URL_V1, `${origin}/api/v1/`)
        assert.match(env.RC_API_SECRET_TOKEN, /^sbr_/)
        assert.strictEqual(env.ROBOT_ROOT, cwd)
        assert.strictEqual(env.ROBOT_ARTIFACTS, join(cwd, "output"))
        assert.strictEqual(env.SIGNALBOX_RUN_FOLDER, dirname(cwd))
        assert.strictEqual(env.PYTHONPATH, join(cwd, "lib"))
        assert.include(env.PATH.split(delimiter), join(cwd, "bin"))
        assert.strictEqual(env.REGION, "north")
        assert.includeMembers(files, ["robot.yaml", "output"])
        assert.deepStrictEqual(
          Object.keys(env).filter((name) => name.startsWith("SIGNALBOX") || name.startsWith("VITEST")),
          ["SIGNALBOX_RUN_FOLDER"]
        )
        // The working copy is removed after the step run has ended.
        yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => !existsSync(cwd) })
      })
    )

    it.effect("a task that fails is a ROBOT_FAILURE with what it left behind", () =>
      Effect.gen(function* () {
        const { run, stepRun } = yield* Robots.runTask(yield* robot, "crash")
        assert.strictEqual(run.state, "unresolved")
        assert.strictEqual(stepRun.error?.code, "ROBOT_FAILURE")
        assert.deepStrictEqual(stepRun.console.slice(-2), [
          "about to fail",
          "ROBOT_FAILURE: the task ended with exit code 3"
        ])
        assert.deepStrictEqual(
          stepRun.artifacts.map(({ name }) => name),
          ["log.txt"]
        )
      })
    )

    it.effect("a program that is not there is a START_FAILURE that names it", () =>
      Effect.gen(function* () {
        const { stepRun } = yield* Robots.runTask(yield* robot, "no program")
        assert.strictEqual(stepRun.error?.code, "START_FAILURE")
        assert.match(stepRun.console.at(-1) ?? "", /"surely-no-such-program": the program does not exist/)
      })
    )

    it.effect(
      "a run that is stopped ends the task with its children and grandchildren, and removes the working copy",
      () =>
        Effect.gen(function* () {
          const pids = join(folder, "stopped.json")
          const id = yield* Robots.process("stopped", [
            { name: "tree", task: { package_id: yield* robot, name: "tree" }, env: { PIDS: pids } }
          ])
          const run = yield* Robots.start(id)
          const tree = yield* treeOf(pids)
          assert.isTrue(tree.every(Robots.isAlive))
          yield* ProcessRuns.stop(run, { terminate: true })
          yield* awaitGone(tree)
          yield* ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })
          const [stepRun] = yield* Robots.stepRuns(run)
          assert.strictEqual(stepRun?.error?.code, "TERMINATED")
          assert.deepStrictEqual(
            stepRun?.artifacts.map(({ name }) => name),
            ["started.txt"]
          )
          yield* Effect.suspend(() => (readdirSync(runs).length === 0 ? Effect.void : Effect.fail("there"))).pipe(
            Effect.retry(Schedule.spaced("50 millis")),
            Effect.timeout("30 seconds")
          )
        })
    )

    it.effect("a step run that takes too long is a TIMEOUT, and its processes are killed", () =>
      Effect.gen(function* () {
        const pids = join(folder, "timeout.json")
        const { run, stepRun } = yield* Robots.runTask(yield* robot, "tree", {
          timeout_seconds: 2,
          env: { PIDS: pids }
        })
        assert.strictEqual(run.state, "unresolved")
        assert.strictEqual(stepRun.error?.code, "TIMEOUT")
        yield* awaitGone(yield* treeOf(pids))
      })
    )

    it.effect("what a task of the worker's own logs is the console of its step run, and nothing else is", () =>
      Effect.gen(function* () {
        const id = yield* Robots.process("talks", [{ name: "talks", task: { name: "talks" } }])
        const run = yield* Robots.start(id)
        assert.strictEqual((yield* ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })).state, "completed")
        const [stepRun] = yield* Robots.stepRuns(run)
        assert.deepStrictEqual(stepRun?.console, ["WARN half way", "INFO all done rows=7"])
      })
    )
  })
})
