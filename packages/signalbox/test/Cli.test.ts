/** The command as people use it: `up` in a separate process, and commands that connect to it over HTTP. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Cli from "./support/Cli.ts"

const folder = mkdtempSync(join(tmpdir(), "signalbox-cli-"))
const data = join(folder, "data")

/** Runs a command against the control room of this test. */
const signalbox = (...args: ReadonlyArray<string>) => Cli.signalbox([...args, "--data", data])

const post = async (ready: Cli.Ready, path: string, body: unknown) => {
  const response = await fetch(`${ready.base_url}/workspaces/${ready.workspace_id}/${path}`, {
    method: "POST",
    headers: { authorization: `RC-WSKEY ${ready.api_key}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  assert.strictEqual(response.status, 200, await response.clone().text())
}

const withTasks = ["--tasks", Cli.tasksFile]
let room: Cli.RoomHere

beforeAll(async () => {
  room = await Cli.up(data, withTasks)
  await post(room.ready, "processes", { name: "greeting", steps: [{ name: "greet", task: { name: "greet" } }] })
})

afterAll(async () => {
  await room.end()
  rmSync(folder, { recursive: true, force: true })
})

describe("signalbox up", () => {
  it("prints one line of JSON when it is ready, and keeps the credentials to the owner", async () => {
    assert.strictEqual(room.stdout().trim().split("\n").length, 1)
    const { api_key, base_url, docs_url, spec_url, workspace_id } = room.ready
    const file = join(data, "credentials.json")
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    const credentials: unknown = JSON.parse(readFileSync(file, "utf8"))
    assert.deepStrictEqual(credentials, { base_url: base_url.replace("/api/v1", ""), workspace_id, api_key })
    assert.match(await (await fetch(docs_url)).text(), /<html/)
    assert.match(await (await fetch(spec_url)).text(), /^\{"openapi":"3\.1\.0"/)
  })

  it("on a busy port ends with 1 and one sentence that says what to do", async () => {
    const { port } = new URL(room.ready.base_url)
    const args = ["up", "--port", port, "--data", join(folder, "busy")]
    const second = await Cli.signalbox(args)
    assert.deepStrictEqual([second.status, second.stdout], [1, ""])
    const remedy = "stop the program that listens there, or choose another with --port (0 picks a free one)"
    assert.strictEqual(second.stderr, `signalbox: port ${port} on 127.0.0.1 is in use: ${remedy}\n`)
  })

  it("refuses a folder that is in use, and a file without tasks, and says what to do", async () => {
    const second = await Cli.signalbox(["up", "--port", "0", "--data", data])
    assert.strictEqual(second.status, 1)
    assert.match(second.stderr, /another process uses .*: stop it first, or choose another data folder/)
    const empty = join(folder, "empty.ts")
    writeFileSync(empty, "export const nothing = 1\n")
    const without = await Cli.signalbox(["up", "--data", join(folder, "other"), "--tasks", empty])
    assert.strictEqual(without.status, 1)
    assert.match(without.stderr, /--tasks: .*empty\.ts must export `tasks`/)
  })

  it("lets step runs finish on SIGTERM, exits with 0, and continues with the same key and data", async () => {
    const before = room.ready
    assert.strictEqual(await room.end(), 0)
    room = await Cli.upHere(data, withTasks)
    assert.strictEqual(room.ready.api_key, before.api_key)
    assert.strictEqual(room.ready.workspace_id, before.workspace_id)
    assert.strictEqual((await signalbox("run", "greeting", "--payload", '{"name":"Ada"}', "--wait")).status, 0)
  })
})

describe("signalbox run", () => {
  it("exits with 0 when the run completed, and its outputs can be read", async () => {
    const run = await signalbox("run", "greeting", "--payload", '{"name":"Grace"}', "--wait", "--json")
    assert.strictEqual(run.status, 0, run.stderr)
    const { id, state } = JSON.parse(run.stdout)
    assert.strictEqual(state, "completed")
    const [output] = (await signalbox("outputs", id, "--json")).lines
    assert.deepStrictEqual(JSON.parse(output ?? "").payload, { greeting: "Hello, Grace" })
    assert.match((await signalbox("runs", "show", id)).stdout, /completed[^]*greet/)
  })

  it("exits with 2 when items failed; they can be listed, shown and marked as done", async () => {
    const run = await signalbox("run", "greeting", "--payload", '{"nobody":1}', "--wait", "--json")
    assert.strictEqual(run.status, 2)
    assert.match(run.stderr, /the run is unresolved: 1 work items failed/)
    const { id } = JSON.parse(run.stdout)
    const [item] = (await signalbox("items", "list", "--run", id, "--state", "failed", "--json")).lines
    const failed = JSON.parse(item ?? "")
    assert.strictEqual(failed.exception.code, "INVALID_INPUT")
    assert.match((await signalbox("items", "show", failed.id)).stdout, /"nobody": 1/)
    assert.match((await signalbox("items", "done", failed.id)).stdout, /1 item marked as done/)
    assert.match((await signalbox("runs", "list", "--process", "greeting", "--limit", "1")).stdout, /completed/)
    assert.strictEqual((await signalbox("items", "retry", failed.id)).status, 1)
  })

  it("attaches files", async () => {
    const file = join(folder, "note.txt")
    writeFileSync(file, "a note")
    const run = await signalbox("run", "greeting", "--payload", '{"name":"Ada"}', "--file", file, "--wait", "--json")
    const [item] = (await signalbox("items", "list", "--run", JSON.parse(run.stdout).id, "--json")).lines
    assert.match((await signalbox("items", "show", JSON.parse(item ?? "").id)).stdout, /note\.txt +6 bytes/)
  })
})

describe("a robot in Python", () => {
  it("is applied, run by the worker of the room, and leaves its outputs and its log", async () => {
    const robots = join(import.meta.dirname, "../../../examples/robots")
    assert.strictEqual((await signalbox("apply", join(robots, "python", "control-room.yaml"))).status, 0)
    const table = ["--file", join(robots, "orders.csv"), "--payload", '{"file":"orders.csv"}']
    const run = await signalbox("run", "orders-python", ...table, "--wait", "--json")
    assert.strictEqual(run.status, 2, run.stderr)
    const { id } = JSON.parse(run.stdout)
    const orders = (await signalbox("outputs", id, "--json")).lines.map((line) => JSON.parse(line).payload.order)
    assert.sameMembers(orders, ["1001", "1002", "1004"])
    assert.include((await signalbox("runs", "logs", id)).stdout, "the order 1003 is refused")
  })
})

describe("bad input", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>, number, RegExp]> = [
    ["an unknown process", ["run", "nobody"], 1, /no process has the name or id nobody/],
    ["a payload that is no JSON", ["run", "greeting", "--payload", "{"], 1, /--payload: Expected JSON/],
    ["a missing file", ["run", "greeting", "--file", "/nowhere"], 1, /cannot read \/nowhere/],
    ["an unknown run", ["runs", "show", "nothing"], 1, /no process run nothing/],
    ["an unknown subcommand", ["frob"], 2, /Unknown subcommand "frob"/],
    ["an unknown state", ["runs", "list", "--state", "odd"], 2, /state/]
  ]
  for (const [what, args, status, message] of cases) {
    it(`${what} is named, with exit code ${status}`, async () => {
      const answer = await signalbox(...args)
      assert.strictEqual(answer.status, status)
      assert.match(answer.stderr, message)
    })
  }

  it("a connection of which one variable is set is no reason to change the control room of this folder", async () => {
    const env = { SIGNALBOX_BASE_URL: "https://room.example.com", SIGNALBOX_DATA: data }
    const file = join(folder, "nothing.yaml")
    writeFileSync(file, "processes: {}\n")
    const apply = (...args: ReadonlyArray<string>) =>
      Cli.signalbox(["apply", file, "--prune", "--dry-run", ...args], { env })
    const refused = await apply()
    assert.strictEqual(refused.status, 1)
    assert.match(refused.stderr, /SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID are not set, but SIGNALBOX_BASE_URL is/)
    assert.strictEqual(refused.stdout, "")
    const chosen = await apply("--data", data)
    assert.strictEqual(chosen.status, 0, chosen.stderr)
    assert.match(chosen.stdout, /delete +process +greeting/)
  })

  it("without a control room says how to start one", async () => {
    const answer = await Cli.signalbox(["runs", "list"], { cwd: folder })
    assert.strictEqual(answer.status, 1)
    assert.match(answer.stderr, /start a control room here with `signalbox up`/)
  })
})
