/**
 * The robots as a user runs them: `signalbox up`, `apply`, `run`, `outputs`, from the folder of the package to the files of
 * the outputs; and the one in TypeScript on local files.
 */
import { assert, describe, it } from "@effect/vitest"
import { ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll } from "vitest"

const robots = join(import.meta.dirname, "..", "robots")
const command = join(import.meta.dirname, "..", "..", "packages", "signalbox", "src", "bin.ts")
const folder = mkdtempSync(join(tmpdir(), "signalbox-robots-"))
const data = join(folder, "data")

/** Of the environment of the machine only this, with this Node first. */
const machine = {
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]
}

const node = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}, cwd = folder) =>
  spawnSync(process.execPath, args, { cwd, env: { ...machine, ...env }, encoding: "utf8" })

interface Ready {
  readonly base_url: string
  readonly workspace_id: string
  readonly api_key: string
}

const signalbox = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = node([command, ...args, "--data", data])
  return { status, stderr, lines: stdout.trim().split("\n"), stdout }
}

let room: ChildProcess
let ready: Ready

const start = () =>
  new Promise<Ready>((resolve, reject) => {
    room = spawn(process.execPath, [command, "up", "--port", "0", "--json", "--data", data], {
      env: machine,
      stdio: ["ignore", "pipe", "ignore"]
    })
    let stdout = ""
    room.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
      if (stdout.includes("\n")) resolve(JSON.parse(stdout))
    })
    room.once("exit", (code) => reject(new Error(`up ended with ${code}`)))
  })

beforeAll(async () => {
  const built = node([join(robots, "typescript", "build.ts")])
  assert.strictEqual(built.status, 0, built.stderr)
  ready = await start()
})

afterAll(async () => {
  const ended = new Promise((resolve) => room.once("exit", resolve))
  room.kill()
  await ended
  rmSync(folder, { recursive: true, force: true })
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
  }).pipe(
    Effect.provide(
      ControlRoom.layer({
        baseUrl: ready.base_url,
        workspaceId: WorkspaceId.make(ready.workspace_id),
        apiKey: Redacted.make(ready.api_key)
      })
    ),
    Effect.runPromise
  )

interface Output {
  readonly payload: { readonly order: string; readonly total: number }
  readonly files: ReadonlyArray<{ readonly name: string }>
}

for (const language of ["python", "typescript"]) {
  describe(`the robot in ${language}`, () => {
    it("makes the invoices of a table, and refuses the order without a customer", async () => {
      const example = join(robots, language)
      const name = `orders-${language}`
      const applied = signalbox("apply", join(example, "control-room.yaml"))
      assert.strictEqual(applied.status, 0, applied.stderr)
      assert.match(signalbox("apply", join(example, "control-room.yaml")).stdout, /nothing to (do|change)/i)

      const table = join(robots, "orders.csv")
      const payload = JSON.stringify({ file: "orders.csv" })
      const ended = signalbox(
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

      const failed = signalbox("items", "list", "--run", id, "--state", "failed", "--json")
      assert.strictEqual(failed.lines.length, 1)
      const { exception }: { readonly exception: object } = JSON.parse(failed.stdout)
      const message = "the order 1003 has no customer"
      assert.deepStrictEqual(exception, { type: "business", code: "NO_CUSTOMER", message })

      const outputs = signalbox("outputs", id, "--json").lines.map((line): Output => JSON.parse(line))
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
      const logs = signalbox("runs", "logs", id)
      for (const line of ["read the order 1003", "made the invoice of order 1004"]) assert.include(logs.stdout, line)
    })
  })
}

describe("the robot in typescript, without a service", () => {
  it("works on local files, one task after the other", () => {
    const cwd = mkdtempSync(join(folder, "local-"))
    const main = join(robots, "typescript", "main.ts")
    const read = node([main, "read-orders"], { RC_WORKITEM_INPUT_PATH: join(robots, "items", "orders.json") }, cwd)
    assert.strictEqual(read.status, 0, read.stderr)
    const made = node(
      [main, "make-invoice"],
      {
        RC_WORKITEM_INPUT_PATH: "output/work-items-out/workitems.json",
        RC_WORKITEM_OUTPUT_PATH: "invoices/workitems.json"
      },
      cwd
    )
    assert.strictEqual(made.status, 0, made.stderr)
    assert.match(made.stdout, /BUSINESS NO_CUSTOMER: the order 1003 has no customer/)
    assert.match(made.stdout, /3 completed, 1 failed/)
    const outputs: ReadonlyArray<{ readonly files: Readonly<Record<string, string>> }> = JSON.parse(
      readFileSync(join(cwd, "invoices", "workitems.json"), "utf8")
    )
    const texts = outputs.flatMap(({ files }) =>
      Object.values(files).map((path) => readFileSync(join(cwd, "invoices", path), "utf8"))
    )
    assert.deepStrictEqual(
      texts,
      invoices.map(({ text }) => text)
    )
    assert.deepStrictEqual(readdirSync(join(cwd, "output", "invoices")), ["1001.txt", "1002.txt", "1004.txt"])
  })
})
