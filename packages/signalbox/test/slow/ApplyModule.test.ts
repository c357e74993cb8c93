/**
 * `signalbox apply FILE.ts` and `signalbox processes export`: a workspace as a module.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "@signalbox/api/promise"
import { infer } from "../../src/internal/files/InferSchema.ts"
import { sourceOf } from "../../src/internal/files/SchemaSource.ts"
import { type RoomHere, signalbox, succeed, temporaryFolder, upHere } from "../support/Cli.ts"

const { folder, remove } = temporaryFolder("apply-module")
const data = join(folder, "data")
/** Inside the package, so that imports of modules resolve. */
const modules = mkdtempSync(join(import.meta.dirname, ".modules-"))
let room: RoomHere

beforeAll(async () => {
  room = await upHere(data)
  writeFileSync(
    join(modules, "letters.zip"),
    await Effect.runPromise(zipOf({ "robot.yaml": robotYaml("Write letters") }))
  )
})
afterAll(async () => {
  await room.end()
  rmSync(modules, { recursive: true })
  remove()
})

const connected = () =>
  connect({ baseUrl: room.ready.base_url, apiKey: room.ready.api_key, workspaceId: room.ready.workspace_id })

const file = (name: string, text: string) => {
  const path = join(modules, name)
  writeFileSync(path, text)
  return path
}

const workspace = (more = "") => `
import * as Process from "@signalbox/api/Process"
import * as Schema from "effect/Schema"

const Day = Schema.Struct({ day: Schema.String${more} })
const Order = Schema.Struct({ order: Schema.Finite })
const read = { name: "read", input: Day, output: Order } as const
const write = Process.packageTask({ package: "letters", task: "Write letters", input: Order, output: Schema.Null })

export const orders = Process.make("orders", {
  steps: [read, Process.step(write, { name: "write", worker_group: "linux", max_parallel: 2 })],
  check_payloads: true
})
export const packages = { letters: { zip: "letters.zip" } }
export const worker_groups = ["linux"]
export const secrets = { shop: { items: { password: { env: "SHOP_PASSWORD" } } } }
export const assets = { currency: { text: "EUR" } }
export const webhooks = [{ endpoint: "https://example.com/hook", events: ["process_run.completed"], process: "orders" }]
export const helper = () => 1
`

const env = { SHOP_PASSWORD: "hush-hush-4711" }

const apply = async (path: string, ...flags: ReadonlyArray<string>) => {
  const { stdout } = await succeed(["apply", path, "--json", "--data", data, ...flags], { env })
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): { readonly action: string; readonly kind: string; readonly name: string; readonly detail: string } =>
      JSON.parse(line)
    )
}
const facts = (lines: Awaited<ReturnType<typeof apply>>) =>
  lines.filter(({ action }) => action !== "unchanged").map(({ action, kind, name }) => `${action} ${kind} ${name}`)

// One story over one room, since each room is a process.
describe("modules", { shuffle: false }, () => {
  describe("a module that is applied", () => {
    it("makes what its exports say, and finds nothing to do after that", async () => {
      const path = file("workspace.ts", workspace())
      const steps = [
        "create secret shop",
        "create package letters",
        "create worker group linux",
        "create asset currency",
        "create process orders",
        "create webhook https://example.com/hook (orders)"
      ]
      assert.deepStrictEqual(facts(await apply(path, "--dry-run")), steps)
      assert.deepStrictEqual(facts(await apply(path)), steps)
      assert.deepStrictEqual(facts(await apply(path)), [])
    })

    it("fails with --check when the workspace is another, and changes nothing", async () => {
      await succeed(["apply", file("same.ts", workspace()), "--check", "--data", data], { env })
      const path = file("drift.ts", workspace(", rush: Schema.optionalKey(Schema.Boolean)"))
      for (let time = 0; time < 2; time++) {
        const { status, stderr } = await signalbox(["apply", path, "--check", "--data", data], { env })
        assert.strictEqual(status, 1)
        assert.match(stderr, /the workspace differs from .*drift\.ts: change process orders; apply the file/)
      }
    })

    it("is refused while items wait that the new first step does not take, unless told how they go on", async () => {
      const client = connected()
      const [orders] = (await client.processes.list()).data.filter(({ name }) => name === "orders")
      await client.workItems.create({ process: orders?.id ?? "", payload: { day: "today" } })
      const path = file("stricter.ts", workspace(", rush: Schema.Boolean"))
      const plan = await apply(path, "--dry-run")
      assert.strictEqual(
        plan.find(({ kind }) => kind === "process")?.detail,
        "~ input_schema; 1 item waits; 1 do not fit the first step"
      )
      const { status, stderr } = await signalbox(["apply", path, "--data", data], { env })
      assert.strictEqual(status, 1)
      assert.match(stderr, /the step "read" does not accept the payload of 1 of 1 waiting items/)
      assert.deepStrictEqual(facts(await apply(path, "--waiting", "delete")), ["change process orders"])
      assert.deepStrictEqual((await client.workItems.list({ process: orders?.id ?? "", state: "new" })).data, [])
    })

    it("deletes with --prune what it does not name, in the sections that it has", async () => {
      const path = file(
        "other.ts",
        workspace().replace('make("orders"', 'make("others"').replace('process: "orders"', 'process: "others"')
      )
      assert.deepStrictEqual(facts(await apply(path, "--prune", "--yes")), [
        "create process others",
        "create webhook https://example.com/hook (others)",
        "delete webhook https://example.com/hook (orders)",
        "delete process orders"
      ])
    })

    it("is refused when it exports nothing to apply, a section with an unknown key, or two processes of one name", async () => {
      let files = 0
      const refused = async (text: string, message: RegExp) => {
        const { status, stderr } = await signalbox(["apply", file(`bad${++files}.ts`, text), "--data", data], { env })
        assert.strictEqual(status, 1)
        assert.match(stderr, message)
      }
      await refused("export const x = 1", /exports neither a process nor one of [a-z]+, secrets, packages/)
      await refused('export const assets = { a: { txt: "x" } }', /assets\.a/)
      await refused(
        `${workspace()}\nexport const again = Process.make("orders", { steps: [read] })`,
        /two processes have the name "orders"/
      )
      await refused("throw new Error('no')", /cannot load .*bad4\.ts/)
    })
  })

  describe("a process that is exported", () => {
    it("is a module that compiles, says what is inferred, and applies", async () => {
      const client = connected()
      const { id } = await client.processes.create({
        name: 'shipped "so"',
        description: "d",
        steps: [
          { name: "read", task: { name: "read" }, env: { A: "1" } },
          { name: "write", task: { name: "write it" }, max_parallel: 3 }
        ],
        default_work_item: { payload: { day: "today", tags: ["a"], more: { n: 1 } } }
      })
      await client.workItems.create({ process: id, payload: { day: null, tags: [] } })
      const { stdout } = await succeed(["processes", "export", 'shipped "so"', "--data", data])
      assert.include(stdout, 'Inferred from 2 items of the step "read"')
      assert.include(stdout, "Inferred from 0 outputs")
      const path = file("exported.ts", stdout)
      const tsc = join(import.meta.dirname, "..", "..", "..", "..", "node_modules", ".bin", "tsc")
      const project = file(
        "tsconfig.json",
        JSON.stringify({
          extends: join(import.meta.dirname, "..", "..", "..", "..", "tsconfig.base.json"),
          compilerOptions: { noEmit: true, composite: false, declarationMap: false, sourceMap: false },
          include: ["exported.ts"]
        })
      )
      const compiled = spawnSync(tsc, ["-p", project], { encoding: "utf8" })
      assert.strictEqual(compiled.stdout, "")
      const [change] = (await apply(path, "--dry-run")).filter(({ action }) => action !== "unchanged")
      assert.strictEqual(change?.detail, "~ input_schema; 1 item waits")

      // What the control room knows by then is not inferred again.
      await apply(path)
      const { stdout: again } = await succeed(["processes", "export", 'shipped "so"', "--data", data])
      assert.include(again, "As stored in the control room")
      assert.deepStrictEqual(facts(await apply(file("again.ts", again), "--dry-run")), [])
    })

    it("has the schema of its first input, where a module can say it", () => {
      const input = Schema.Struct({
        file: Schema.String.check(Schema.isMinLength(1)),
        day: Schema.optionalKey(Schema.Finite),
        lines: Schema.Array(Schema.Struct({ kind: Schema.Literals(["a", "b"]), count: Schema.Int }))
      })
      const { schema } = Schema.toJsonSchemaDocument(input)
      assert.strictEqual(
        // Schemas of JSON Schema are JSON.
        sourceOf(schema as Readonly<Record<string, Schema.Json>>),
        'Schema.Struct({ "file": Schema.String.check(Schema.isMinLength(1)), "day": Schema.optionalKey(Schema.Finite), ' +
          '"lines": Schema.Array(Schema.Struct({ "kind": Schema.Literals(["a", "b"]), "count": Schema.Int })) })'
      )
      for (const other of [
        { const: "Schema.String" },
        { $ref: "#/$defs/a" },
        { type: "nothing" },
        { type: "array", contains: {} }
      ]) {
        assert.isNull(sourceOf(other), JSON.stringify(other))
      }
    })

    it("does not exist", async () => {
      const { status, stderr } = await signalbox(["processes", "export", "nobody", "--data", data])
      assert.strictEqual(status, 1)
      assert.match(stderr, /nobody/)
    })

    it("has schemas that take all of its samples", () => {
      assert.strictEqual(infer([]), "Schema.Json")
      assert.strictEqual(infer([null]), "Schema.Null")
      assert.strictEqual(infer([1, "a", null]), "Schema.NullOr(Schema.Union([Schema.String, Schema.Finite]))")
      assert.strictEqual(
        infer([{ a: 1, "b c": [true] }, { a: 2.5 }]),
        'Schema.Struct({ "a": Schema.Finite, "b c": Schema.optionalKey(Schema.Array(Schema.Boolean)) })'
      )
      const wide = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`key ${n}`, n]))
      assert.strictEqual(infer([wide]), "Schema.Record(Schema.String, Schema.Finite)")
    })
  })
})
