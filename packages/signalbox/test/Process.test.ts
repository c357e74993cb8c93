/**
 * Processes as code, with a whole control room and real workers.
 */
import { assert, describe, expectTypeOf, it as test, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { connect } from "@signalbox/api/promise"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Flow from "@signalbox/flows/Flow"
import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
import { sized } from "@signalbox/testkit/Soak"
import { tasksOf } from "@signalbox/worker/ProcessTasks"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Embedded from "../src/Embedded.ts"
import * as Process from "../src/Process.ts"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Robots from "./support/Robots.ts"

const Number = Schema.Struct({ n: Schema.FiniteFromString })

/** Refuses 13, and 7 the first time. */
const sevens = new Set<string>()
const picky = Task.make("picky", {
  input: Schema.Struct({ n: Schema.FiniteFromString, by: Schema.String }),
  output: Number,
  run: Effect.fnUntraced(function* ({ payload: { by, n } }) {
    if (n === 13) return yield* new Task.BusinessFailure({ code: "THIRTEEN", message: "no thirteens" })
    if (n === 7 && !sevens.has(by)) {
      sevens.add(by)
      return yield* new Task.ApplicationFailure({ code: "SEVEN", message: "not at first" })
    }
    return { n }
  })
})
const double = Task.make("double", {
  input: Number,
  output: Number,
  run: ({ payload: { n } }) => Effect.succeed({ n: n * 2 })
})
const sizes = Task.make("sizes", {
  input: Schema.Null,
  output: Schema.Struct({ text: Schema.String }),
  run: (item) => Effect.map(item.readText("in.txt"), (text) => ({ text }))
})

const numbers = Process.make("numbers", { steps: [picky, Process.step(double, { max_parallel: 2 })] })
const texts = Process.make("texts", { steps: [sizes] })

const layer = Layer.unwrap(
  Effect.gen(function* () {
    const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const tasks = [...tasksOf(numbers), ...tasksOf(texts)]
    return Embedded.layer({ data, port: 0, tasks, processes: [numbers, texts], workers: 2, rateLimit: null })
  })
).pipe(Layer.provideMerge(NodeServices.layer), Layer.provide(Logger.layer([])))

const values = (outputs: ReadonlyArray<{ readonly payload: { readonly n: number } }>) =>
  outputs.map(({ payload }) => payload.n).toSorted((a, b) => a - b)

const payloads = (by: string, ...list: ReadonlyArray<number>) => list.map((n) => ({ n, by }))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a process with its control room", (it) => {
  describe("that runs", () => {
    it.effect("goes from payloads to outputs, both decoded", () =>
      Effect.gen(function* () {
        const { outputs, run, settled } = yield* Process.run(numbers, payloads("plain", 1, 2))
        expectTypeOf(outputs[0]?.payload).toEqualTypeOf<{ readonly n: number } | undefined>()
        assert.deepStrictEqual(values(outputs), [2, 4])
        assert.deepStrictEqual(settled, [])
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      })
    )

    it.effect("fails by default when an item fails, and says why", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Process.run(numbers, payloads("fails", 1, 13)))
        if (error._tag !== "RunUnresolved") return assert.fail(error.message)
        assert.strictEqual(error.failed, 1)
        assert.match(error.message, /1 failed work items, such as THIRTEEN: no thirteens$/)
        const [failed] = yield* Process.failedItems(numbers, { run: error.run })
        expectTypeOf(failed?.step).toEqualTypeOf<"picky" | "double" | null | undefined>()
        assert.strictEqual(failed?.step, "picky")
      })
    )

    it.effect("marks what failed as done when it is told to", () =>
      Effect.gen(function* () {
        const ran = yield* Process.run(numbers, payloads("settles", 1, 13, 7), { failures: "settle" })
        assert.deepStrictEqual(values(ran.outputs), [2])
        assert.lengthOf(ran.settled, 2)
        assert.strictEqual((yield* ProcessRuns.get(ran.run)).state, "completed")
      })
    )

    it.effect("asks about each failed item, in each round", () =>
      Effect.gen(function* () {
        const rounds: Array<readonly [number, string | undefined]> = []
        const { outputs, settled } = yield* Process.run(numbers, payloads("asks", 1, 13, 7), {
          failures: ({ exception }, round) => {
            rounds.push([round, exception?.code])
            return Effect.succeed(exception?.type !== "business" || round === 1 ? "retry" : "settle")
          }
        })
        assert.deepStrictEqual(values(outputs), [2, 14])
        assert.lengthOf(settled, 1)
        assert.deepStrictEqual(
          rounds.toSorted((a, b) => a[0] - b[0] || (String(a[1]) < String(b[1]) ? -1 : 1)),
          [
            [1, "SEVEN"],
            [1, "THIRTEEN"],
            [2, "THIRTEEN"]
          ]
        )
      })
    )

    it.effect("attaches files before it starts", () =>
      Effect.gen(function* () {
        const { outputs } = yield* Process.run(texts, [null, null], {
          files: (_, index) => [{ name: "in.txt", bytes: new TextEncoder().encode(`file ${index}`) }]
        })
        assert.deepStrictEqual(outputs.map(({ payload }) => payload.text).sort(), ["file 0", "file 1"])
      })
    )

    it.effect("takes an id as well, of which payloads are JSON", () =>
      Effect.gen(function* () {
        const { outputs } = yield* Process.run(yield* Process.id(numbers), [{ n: "3", by: "id" }])
        assert.deepStrictEqual(
          outputs.map(({ payload }) => payload),
          [{ n: "6" }]
        )
      })
    )

    it.effect("sends nothing when a payload is none of its first step, or the process is not deployed", () =>
      Effect.gen(function* () {
        const decimals = Process.make("numbers", {
          steps: [
            { ...picky, input: Schema.Struct({ n: Schema.Finite.check(Schema.isGreaterThan(0)), by: Schema.String }) }
          ]
        })
        const invalid = yield* Effect.flip(Process.run(decimals, payloads("invalid", 1, -1)))
        assert.strictEqual(invalid._tag, "InvalidPayload")
        assert.match(invalid.message, /^payloads\.1: n: Expected/)
        const nowhere = Process.make("nowhere", { steps: [double] })
        const absent = yield* Effect.flip(Process.run(nowhere, [{ n: 1 }]))
        assert.strictEqual(absent._tag, "NotDeployed")
        assert.match(absent.message, /no process "nowhere"; deploy it first/)
      })
    )

    it.effect("is the same with promises", () =>
      Effect.gen(function* () {
        const { credentials } = yield* Embedded.Embedded
        const room = connect({
          baseUrl: credentials.base_url,
          apiKey: credentials.api_key,
          workspaceId: credentials.workspace_id
        })
        const { outputs } = yield* Effect.promise(() => room.run(Process.run(numbers, payloads("promise", 5))))
        assert.deepStrictEqual(values(outputs), [10])
        yield* Effect.promise(() => room.close())
      })
    )
  })

  describe("whose parts are used alone", () => {
    it.effect("creates items in requests of 1,000, starts, and streams outputs", () =>
      Effect.gen(function* () {
        const count = sized(1_200, 12_000)
        const items = yield* Process.createWorkItems(
          numbers,
          Array.from({ length: count }, (_, n) => ({ n: n + 100, by: "parts" }))
        )
        assert.strictEqual(new Set(items).size, count)
        const started = yield* Process.startRun(numbers, { workItems: items.slice(0, 20) })
        if (!started.started) return assert.fail("not started")
        yield* ProcessRuns.awaitEnd(started.id)
        const outputs = yield* Stream.runCollect(Process.outputs(numbers, { run: started.id }))
        assert.deepStrictEqual(
          values(outputs),
          Array.from({ length: 20 }, (_, n) => (n + 100) * 2)
        )
        assert.deepStrictEqual(yield* Process.collectOutputs(numbers, { run: started.id }), outputs)
      })
    )

    it.effect("says when outputs are those of another version", () =>
      Effect.gen(function* () {
        const { run } = yield* Process.run(numbers, payloads("version", 1))
        const other = Process.make("numbers", { steps: [{ ...double, output: Schema.Struct({ m: Schema.String }) }] })
        const error = yield* Effect.flip(Process.collectOutputs(other, { run }))
        assert.strictEqual(error._tag, "InvalidOutput")
        assert.match(error.message, /^the output \S+: m: Missing key$/)
      })
    )
  })

  describe("in a flow", () => {
    const flow = Flow.make("numbers", {
      version: 1,
      input: Schema.Struct({ list: Schema.Array(Schema.Finite), by: Schema.String, patient: Schema.Boolean }),
      success: Schema.Struct({ values: Schema.Array(Schema.Finite), settled: Schema.Finite, failed: Schema.Finite }),
      error: ProcessSteps.error,
      idempotencyKey: ({ by }) => by,
      run: Effect.fnUntraced(function* ({ by, list, patient }) {
        const { outputs, run, settled } = yield* ProcessSteps.run(numbers, payloads(by, ...list), {
          failures: ({ exception }) =>
            Effect.succeed(!patient ? "fail" : exception?.type === "business" ? "settle" : "retry")
        })
        const failed = yield* ProcessSteps.failedItems(numbers, { run })
        return { values: values(outputs), settled: settled.length, failed: failed.length }
      })
    })

    it.effect("goes from payloads to outputs in recorded steps, and is replayed to the same end", () =>
      Effect.gen(function* () {
        const input = { list: [1, 13, 7], by: "flow", patient: true }
        const result = yield* Flow.run(flow, input, { verify: true })
        assert.deepStrictEqual(result, { values: [2, 14], settled: 1, failed: 0 })
      })
    )

    it.effect("fails with the errors of the flow", () =>
      Effect.gen(function* () {
        const unresolved = yield* Effect.flip(Flow.run(flow, { list: [13], by: "flow fails", patient: false }))
        assert.strictEqual(unresolved._tag, "RunUnresolved")
        const none = yield* Effect.flip(Flow.run(flow, { list: [], by: "flow of none", patient: false }))
        assert.strictEqual(none._tag, "InvalidPayload")
      })
    )
  })

  it.effect("deploying beside running items loses none and doubles none", () =>
    Effect.gen(function* () {
      const versions = [
        Process.make("under load", { steps: [picky, double] }),
        Process.make("under load", {
          steps: [picky, Process.step(double, { max_parallel: 2 }), Process.step(double, { name: "again" })]
        }),
        Process.make("under load", { steps: [Process.step(picky, { max_parallel: 2 })] })
      ] as const
      yield* Process.deploy(versions[0])
      const rounds = sized(4, 40)
      const perRun = 25
      const running = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: rounds }, (_, round) => round),
          (round) =>
            Process.run(
              versions[0],
              payloads("load", ...Array.from({ length: perRun }, (_, n) => 1000 * (round + 1) + n))
            ),
          { concurrency: 2 }
        )
      )
      let deployed = 0
      while (running.pollUnsafe() === undefined) {
        const version = versions[++deployed % versions.length]
        if (version !== undefined) yield* Process.deploy(version, { waiting: "keep" })
      }
      const runs = yield* Fiber.join(running)
      assert.isAbove(deployed, 3)
      for (const [round, { outputs, run }] of runs.entries()) {
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
        // Each run has all its outputs by the one definition with which it began: none, one or two steps that double.
        const first = 1000 * (round + 1)
        const factor = Math.round((values(outputs)[0] ?? 0) / first)
        assert.include([1, 2, 4], factor)
        assert.deepStrictEqual(
          values(outputs),
          Array.from({ length: perRun }, (_, n) => (first + n) * factor)
        )
      }
    })
  )

  it.effect("a robot in Python is described, deployed and run by the same words", () =>
    Effect.gen(function* () {
      yield* Robots.upload("robot in code", yield* Robots.robot)
      const ofRobot = { package: "robot in code" } as const
      const Whole = Schema.Struct({ n: Schema.Int })
      const produce = Process.packageTask({
        ...ofRobot,
        task: "produce",
        input: Schema.Struct({ count: Schema.Int }),
        output: Whole
      })
      const consume = Process.packageTask({
        ...ofRobot,
        task: "consume",
        input: Whole,
        output: Schema.Struct({ square: Schema.Int })
      })
      const squares = Process.make("squares", { steps: [produce, consume], check_payloads: true })
      yield* Process.deploy(squares)
      const { outputs } = yield* Process.run(squares, [{ count: 3 }])
      assert.deepStrictEqual(outputs.map(({ payload }) => payload.square).sort(), [1, 4, 9])
      assert.strictEqual((yield* Process.deploy(squares)).plan.action, "unchanged")
    })
  )
})

test.live(
  "a process with a step in a task package is one program: its folder is uploaded, and again when it has changed",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const data = yield* fs.makeTempDirectoryScoped()
      const says = (text: string) =>
        fs.writeFileString(
          `${folder}/robot.yaml`,
          `tasks:\n  say:\n    command: [node, -e, "console.log('${text}')"]\n`
        )
      const say = Process.packageTask({ package: "said", task: "say", input: Schema.Null, output: Schema.Null })
      const process = Process.make("said", { steps: [say] })
      const versions = Effect.gen(function* () {
        const run = yield* Process.startRun(process, { payloads: [null] })
        if (!run.started) return yield* Effect.die("not started")
        yield* ProcessRuns.awaitEnd(run.id)
        const [stepRun] = yield* Robots.stepRuns(run.id)
        const [found] = yield* Stream.runCollect(TaskPackages.stream({ name: "said" }))
        const all = found === undefined ? [] : yield* Stream.runCollect(TaskPackages.streamVersions(found.id))
        // For the next start: a person goes back to the version before.
        if (all.length === 2 && found !== undefined)
          yield* TaskPackages.rollback(found.id, { from: 2 }).pipe(Effect.ignore)
        return { said: stepRun?.console, versions: all.length }
      })
      const started = (packages: NonNullable<Process.LayerOptions["packages"]>) =>
        Effect.provide(
          versions,
          Process.layer(process, { data, port: 0, packages }).pipe(Layer.provide(Logger.layer([])))
        )
      yield* says("first")
      assert.deepStrictEqual(yield* started({ said: { folder } }), { said: ["first"], versions: 1 })
      assert.deepStrictEqual(yield* started({ said: { folder } }), { said: ["first"], versions: 1 })
      yield* says("second")
      assert.deepStrictEqual(yield* started({ said: { folder } }), { said: ["second"], versions: 2 })
      // What was taken back is not uploaded again.
      assert.deepStrictEqual(yield* started({ said: { folder } }), { said: ["first"], versions: 2 })
      const refused = yield* Effect.flip(started({ said: { zip: `${folder}/nowhere.zip` } }))
      assert.strictEqual(refused._tag, "PackageError")
      assert.match(refused.message, /^packages\.said\.zip: cannot read .*nowhere\.zip/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)

test.live("a program with a room hears what its tasks log, warnings and failures, and nothing of what goes well", () =>
  Effect.gen(function* () {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
    const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const told = Task.make("told", {
      input: Number,
      output: Number,
      run: ({ payload }) =>
        payload.n === 2
          ? Effect.fail(new Task.ApplicationFailure({ code: "TWO", message: "no twos" }))
          : Effect.as(Effect.logInfo("posted"), payload)
    })
    const process = Process.make("told", { steps: [told] })
    yield* Process.run(process, [{ n: 1 }, { n: 2 }]).pipe(
      Effect.flip,
      Effect.provide(Process.layer(process, { data, port: 0 }).pipe(Layer.provide(Logger.layer([logger]))))
    )
    assert.deepStrictEqual(logged, ["Info posted", "Warn work item failed"])
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
