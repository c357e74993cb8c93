/**
 * The robots as a user runs them: `signalbox up`, `apply`, `run`, `outputs`, from the folder of the package to the files of
 * the outputs.
 */
import { assert, describe, it } from "@effect/vitest"
import { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { zipOf } from "@signalbox/testkit/PackageZips"
import * as Wheels from "@signalbox/testkit/Wheels"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Cli from "../support/Cli.ts"
import * as Packages from "../support/Robots.ts"
import { clientOf, type Room, temporaryFolder, up } from "../support/Cli.ts"

const robots = join(import.meta.dirname, "..", "..", "..", "..", "examples", "robots")
const { folder, remove } = temporaryFolder("robots")
const data = join(folder, "data")
/** Of the robots that list libraries: nothing is fetched. */
const wheels = join(folder, "wheels")
let room: Room

/** Runs a command against the control room of this test. */
const signalbox = (...args: ReadonlyArray<string>) => Cli.signalbox([...args, "--data", data])

beforeAll(async () => {
  const made = spawnSync("python3", [join(robots, "wheels.py"), wheels], { encoding: "utf8" })
  assert.strictEqual(made.status, 0, made.stderr)
  const bin = join(folder, "bin")
  // They build a library from source.
  Wheels.python(bin, Wheels.runPip)
  // The tasks of the package in TypeScript run on this Node.
  const path = [dirname(process.execPath), bin, process.env["PATH"]].join(delimiter)
  room = await up(data, ["--environments", "venv", "--wheels", wheels], { PATH: path })
})

afterAll(async () => {
  await room.end("SIGKILL")
  remove()
})

/** What a robot of one file needs of a control room, which stands in for the libraries of public robots. */
const robotSide = join(robots, "python", "package", "robot.py")
/** Of the machine, since venv builds no Python. */
const pythonVersion = spawnSync("python3", ["-c", "import platform; print(platform.python_version())"], {
  encoding: "utf8"
}).stdout.trim()
/** In the form of the public template whose producer and consumer share one file, with what such files list. */
const producerConsumer = (python: string) =>
  zipOf({
    "robot.yaml": [
      "tasks:",
      "  Producer: { shell: python -m tasks producer }",
      "  Consumer: { shell: python -m tasks consumer }",
      "environmentConfigs: [environment_linux_amd64_freeze.yaml, environment_windows_amd64_freeze.yaml, conda.yaml]",
      "artifactsDir: output",
      "PATH: [.]",
      "PYTHONPATH: [.]",
      "ignoreFiles: [.gitignore]",
      ""
    ].join("\n"),
    "conda.yaml": [
      "channels:",
      "  - conda-forge",
      "dependencies:",
      `  - python=${python} # the interpreter`,
      "  - pip=23.2.1",
      "  - robocorp-truststore=0.8.0",
      "  - pip:",
      "    - rpaframework==28.5.1 # for tables",
      "    - robocorp==2.0.1",
      ""
    ].join("\n"),
    "tasks.py": [
      "import sys",
      "import robocorp, robocorp_truststore, rpaframework",
      "print('certificates of', robocorp_truststore.version, rpaframework.version)",
      "for item in robocorp.items():",
      "    with item:",
      "        if sys.argv[1] == 'producer':",
      "            for order in item.payload['orders']:",
      "                item.create_output(order)",
      "        elif not 1000 <= item.payload['Zip'] <= 9999:",
      "            raise robocorp.BusinessFailure('INVALID_ORDER', 'Invalid ZIP code')",
      ""
    ].join("\n")
  })

const customers = new Map([
  ["1001", ["Ada Lovelace", 14.88]],
  ["1002", ["Grace Hopper", 117.81]],
  ["1004", ["Edsger Dijkstra", 8.63]]
] as const)

const invoices = [...customers].map(([order, [customer, total]]) => ({
  order,
  total,
  text: `Invoice ${order} for ${customer}: EUR ${total.toFixed(2)}\n`
}))

/** Orders by name, as text. */
const byOrder = (one: { readonly order: string }, other: { readonly order: string }) =>
  one.order < other.order ? -1 : 1

/** The texts of the outputs' files, and the artifacts of all step runs. */
const leftBehind = (run: ProcessRunId) =>
  Effect.gen(function* () {
    const stepRuns = StepRuns.stream(run)
    const artifacts = Stream.flatMap(stepRuns, ({ id }) => StepRuns.artifacts(id))
    const files = Stream.flatMap(Outputs.stream(run), ({ files }) => Stream.fromIterable(files))
    const texts = Stream.mapEffect(files, (file) =>
      Effect.map(Stream.mkString(Stream.decodeText(Files.download(file))), (text) => [file.name, text] as const)
    )
    return {
      texts: new Map(yield* Stream.runCollect(texts)),
      artifacts: yield* Stream.runCollect(Stream.map(artifacts, ({ name }) => name))
    }
  }).pipe(Effect.provide(clientOf(room.ready)), Effect.runPromise)

interface Output {
  readonly payload: { readonly order: string; readonly total: number }
  readonly files: ReadonlyArray<{ readonly name: string }>
}

// One story of one room: environments are built once, and used from then on.
describe("robots", { shuffle: false }, () => {
  for (const language of ["python", "typescript"]) {
    describe(`the robot in ${language}`, () => {
      it("creates the invoices of a table, and refuses the order without a customer", async () => {
        const example = join(robots, language)
        const name = `orders-${language}`
        const applied = await signalbox("apply", join(example, "control-room.yaml"))
        assert.strictEqual(applied.status, 0, applied.stderr)
        assert.match((await signalbox("apply", join(example, "control-room.yaml"))).stdout, /No changes\./)

        const table = join(robots, "orders.csv")
        const payload = JSON.stringify({ file: "orders.csv" })
        const ended = await signalbox(
          "run",
          name,
          "--file",
          table,
          "--payload",
          payload,
          "--wait",
          "--timeout",
          "1 minute",
          "--json"
        )
        assert.strictEqual(ended.status, 2, ended.stderr)
        const { id }: { readonly id: string } = JSON.parse(ended.stdout)

        const failed = await signalbox("items", "list", "--run", id, "--state", "failed", "--json")
        assert.strictEqual(failed.lines.length, 1)
        const { exception }: { readonly exception: object } = JSON.parse(failed.stdout)
        const message = "the order 1003 has no customer"
        assert.deepStrictEqual(exception, { type: "business", code: "NO_CUSTOMER", message })

        const outputs = (await signalbox("outputs", id, "--json")).lines.map((line): Output => JSON.parse(line))
        const { artifacts, texts } = await leftBehind(ProcessRunId.make(id))
        const seen = outputs.map(({ files: [file], payload: { order, total } }) => {
          assert.strictEqual(file?.name, `invoice-${order}.txt`)
          return { order, total, text: texts.get(`invoice-${order}.txt`) }
        })
        assert.deepStrictEqual(seen.toSorted(byOrder), invoices)
        assert.deepStrictEqual(
          artifacts.toSorted(),
          invoices.map(({ order }) => `invoices/${order}.txt`)
        )
        const logs = await signalbox("runs", "logs", id)
        for (const line of ["read the order 1003", "made the invoice of order 1004"]) assert.include(logs.stdout, line)
      })
    })
  }

  /** The id of the run of an applied example, which ends with this exit code. */
  const run = async (example: string, process: string, expected: number, ...args: ReadonlyArray<string>) => {
    const applied = await signalbox("apply", join(robots, example, "control-room.yaml"))
    assert.strictEqual(applied.status, 0, applied.stderr)
    const ended = await signalbox("run", process, ...args, "--wait", "--timeout", "2 minutes", "--json")
    assert.strictEqual(ended.status, expected, ended.stderr)
    const { id }: { readonly id: string } = JSON.parse(ended.stdout)
    return ProcessRunId.make(id)
  }

  /** The artifacts of a run by name, as text. */
  const artifactsOf = (run: ProcessRunId) =>
    Stream.flatMap(StepRuns.stream(run), ({ id }) =>
      Stream.mapEffect(StepRuns.artifacts(id), ({ id: artifact, name }) =>
        Effect.gen(function* () {
          const { url } = yield* StepRuns.getArtifact(id, artifact)
          const text = yield* Effect.promise(async () => (await fetch(url)).text())
          return [name, text] as const
        })
      )
    ).pipe(Stream.runCollect, Effect.provide(clientOf(room.ready)), Effect.runPromise)

  describe("the robot with a conda.yaml of libraries in Python", () => {
    it("runs with them from a folder of wheels", async () => {
      const payload = JSON.stringify({ order: "1001", customer: "Ada Lovelace", amount: 12.5 })
      const id = await run("environment", "reminders", 0, "--payload", payload)
      const letter = "Dear Ada Lovelace,\n\nEUR 14.88 are due for the order 1001.\n"
      const outputs = (await signalbox("outputs", id, "--json")).lines.map((line) => JSON.parse(line).payload)
      assert.deepStrictEqual(outputs, [{ order: "1001", due: "14.88" }])
      assert.deepStrictEqual(await artifactsOf(id), [["reminders/1001.txt", letter]])
      const logs = await signalbox("runs", "logs", id)
      assert.match(logs.stdout, /Successfully installed control-room-robot-1\.0 order-letters-1\.0 order-taxes-1\.0/)
    })
  })

  describe("the robot that produces, consumes and reports", () => {
    it("reports the order that failed too, whose item waits for a person", async () => {
      const payload = JSON.stringify({ file: "orders.csv" })
      const file = join(robots, "orders.csv")
      const id = await run("reporting", "orders-reporting", 2, "--file", file, "--payload", payload)
      const report = [
        "order,state,total,reason",
        "1001,done,14.88,",
        "1002,done,117.81,",
        "1003,failed,,NO_CUSTOMER: the order 1003 has no customer",
        "1004,done,8.63,",
        ""
      ]
      const artifacts = new Map(await artifactsOf(id))
      assert.strictEqual(artifacts.get("report.csv"), report.join("\n"))
      assert.deepStrictEqual([...artifacts.keys()].toSorted(), [
        ...invoices.map(({ order }) => `reminders/${order}.txt`),
        "report.csv"
      ])
      const failed = await signalbox("items", "list", "--run", id, "--state", "failed", "--json")
      const { exception, id: item }: { readonly exception: object; readonly id: string } = JSON.parse(failed.stdout)
      const message = "the order 1003 has no customer"
      assert.deepStrictEqual(exception, { type: "business", code: "NO_CUSTOMER", message })
      const deleted = await signalbox("items", "delete", item, "--yes")
      assert.strictEqual(deleted.status, 0, deleted.stderr)
      // Which the report was made from.
      assert.match(deleted.stdout, /1 output of earlier attempts unchanged/)
      const shown = await signalbox("runs", "show", id, "--json")
      assert.strictEqual(JSON.parse(shown.stdout).state, "completed", shown.stdout)
    })
  })
})

describe("a robot in the form of the public template of producers and consumers", () => {
  it.live("is built from its list of packages of conda with venv alone, and runs both its tasks", () =>
    Effect.gen(function* () {
      Wheels.write(wheels, "robocorp", "2.0.1", { source: readFileSync(robotSide, "utf8") })
      Wheels.write(wheels, "robocorp_truststore", "0.8.0")
      Wheels.write(wheels, "rpaframework", "28.5.1")
      const package_id = yield* Packages.upload("template", yield* producerConsumer(pythonVersion))
      const process = yield* Packages.process("template", [
        { name: "produce", task: { package_id, name: "Producer" } },
        { name: "consume", task: { package_id, name: "Consumer" } }
      ])
      const orders = [1000, 9999, 10_000].map((Zip) => ({ Name: `customer of ${Zip}`, Zip }))
      const run = yield* Packages.start(process, { orders })
      const ended = yield* ProcessRuns.awaitEnd(run, { timeout: "1 minute" })
      assert.strictEqual(ended.state, "unresolved")
      const items = (yield* WorkItems.list({ processRun: run })).data
      assert.sameMembers(
        items.map(({ exception, state }) => `${state} ${exception?.code ?? ""}`),
        ["done ", "done ", "done ", "failed INVALID_ORDER"]
      )
      const [first] = yield* Packages.stepRuns(run)
      assert.include(first?.events ?? [], "ENVIRONMENT")
      assert.include(first?.console ?? [], "certificates of 0.8.0 28.5.1")
      assert.match(first?.console.join("\n") ?? "", /robocorp-truststore=0\.8\.0.*Python package index/)
    }).pipe(Effect.provide(clientOf(room.ready)))
  )
})
