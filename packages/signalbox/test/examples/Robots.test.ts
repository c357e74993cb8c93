/**
 * The robots as a user runs them: `signalbox up`, `apply`, `run`, `outputs`, from the folder of the package to the files of
 * the outputs.
 */
import { assert, describe, it } from "@effect/vitest"
import { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { spawnSync } from "node:child_process"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Cli from "../support/Cli.ts"
import { clientOf, type Room, temporaryFolder, up } from "../support/Cli.ts"

const robots = join(import.meta.dirname, "..", "..", "..", "..", "examples", "robots")
const { folder, remove } = temporaryFolder("robots")
const data = join(folder, "data")
let room: Room

/** Runs a command against the control room of this test. */
const signalbox = (...args: ReadonlyArray<string>) => Cli.signalbox([...args, "--data", data])

beforeAll(async () => {
  const built = spawnSync(process.execPath, [join(robots, "typescript", "build.ts")], { encoding: "utf8" })
  assert.strictEqual(built.status, 0, built.stderr)
  // The tasks of the package in TypeScript run on this Node.
  room = await up(data, [], { PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) })
})

afterAll(async () => {
  await room.end("SIGKILL")
  remove()
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

for (const language of ["python", "typescript"]) {
  describe(`the robot in ${language}`, () => {
    it("creates the invoices of a table, and refuses the order without a customer", async () => {
      const example = join(robots, language)
      const name = `orders-${language}`
      const applied = await signalbox("apply", join(example, "control-room.yaml"))
      assert.strictEqual(applied.status, 0, applied.stderr)
      assert.match((await signalbox("apply", join(example, "control-room.yaml"))).stdout, /nothing to (do|change)/i)

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
