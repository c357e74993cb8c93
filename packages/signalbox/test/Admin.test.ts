/** `keys`, `users` and `workspaces`, and the errors of commands that cannot reach a control room. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Permission } from "@signalbox/api/contract/Authorization"
import { join } from "node:path"
import { type Env, type RoomHere, signalbox, succeed, temporaryFolder, upHere } from "./support/Cli.ts"

const { folder, remove } = temporaryFolder("admin")
const data = join(folder, "data")

let room: RoomHere
let connection: Env

beforeAll(async () => {
  room = await upHere(data)
  const { api_key, base_url, workspace_id } = room.ready
  connection = { SIGNALBOX_BASE_URL: base_url, SIGNALBOX_API_KEY: api_key, SIGNALBOX_WORKSPACE_ID: workspace_id }
})

afterAll(async () => {
  await room.end()
  remove()
})

const ask = (path: string, key: string) =>
  fetch(`${room.ready.base_url}/workspaces/${room.ready.workspace_id}/${path}`, {
    headers: { authorization: `RC-WSKEY ${key}` }
  })

describe("signalbox keys", () => {
  it("creates a key that works, shows it only this once, lists it without its text, and revokes it", async () => {
    const made = await succeed([
      "keys",
      "create",
      "--name",
      "ci",
      "--permission",
      "Processes.read_processes",
      "--data",
      data
    ])
    const key = made.stdout.trim()
    assert.match(key, /^sbk_[\w-]+$/)
    assert.match(made.stderr, /it is not shown again/)
    assert.strictEqual((await ask("processes", key)).status, 200)
    assert.strictEqual((await ask("work-items", key)).status, 403)

    const list = await succeed(["keys", "list", "--data", data])
    assert.match(list.lines[0] ?? "", /^id +name +owner +created at +last used +permissions$/)
    assert.match(list.lines[1] ?? "", /^\S+ +ci +- +\S+ +\S+ +Processes\.read_processes$/)
    assert.notInclude(list.stdout, key.slice(-43))
    const [listed] = (await succeed(["keys", "list", "--json"], { env: connection })).lines
    const { id, ...rest } = JSON.parse(listed ?? "")
    assert.deepInclude(rest, { name: "ci", permissions: ["Processes.read_processes"] })
    assert.notProperty(rest, "key")

    assert.match((await succeed(["keys", "revoke", id, "--data", data])).stdout, /revoked: requests with this key/)
    assert.strictEqual((await ask("processes", key)).status, 403)
    const again = await signalbox(["keys", "revoke", id, "--data", data])
    assert.strictEqual(again.status, 1)
    assert.match(again.stderr, new RegExp(`^signalbox: .*no API key has the name or id ${id}: expected `))
  })

  it("prints one line of JSON for programs", async () => {
    const permissions = ["Processes.read_runs", "Processes.trigger_processes"]
    const args = permissions.flatMap((permission) => ["--permission", permission])
    const { lines, stderr } = await succeed(["keys", "create", "--name", "two", ...args, "--json", "--data", data])
    assert.strictEqual(lines.length, 1)
    const made = JSON.parse(lines[0] ?? "")
    assert.deepStrictEqual(Object.keys(made).toSorted(), [
      "created_at",
      "created_by",
      "expires_at",
      "id",
      "key",
      "last_used_at",
      "name",
      "owner",
      "permissions"
    ])
    assert.deepStrictEqual(made.permissions, permissions)
    assert.strictEqual(stderr, "")
  })

  it("names the existing permissions when one is unknown, and creates nothing", async () => {
    const before = (await succeed(["keys", "list", "--data", data])).stdout
    const wrong = await signalbox(["keys", "create", "--name", "n", "--permission", "Vault.everything", "--data", data])
    assert.strictEqual(wrong.status, 2)
    for (const permission of Permission.literals) assert.include(wrong.stderr, permission)
    assert.strictEqual((await signalbox(["keys", "create", "--name", "n", "--data", data])).status, 2)
    assert.strictEqual((await succeed(["keys", "list", "--data", data])).stdout, before)
  })

  it("says which permission the key at hand lacks", async () => {
    const made = await succeed(["keys", "create", "--name", "n", "--permission", "Vault.read_secrets", "--data", data])
    const env = { ...connection, SIGNALBOX_API_KEY: made.stdout.trim() }
    const refused = await signalbox(["keys", "list"], { env })
    assert.strictEqual(refused.status, 1)
    assert.match(refused.stderr, /^signalbox: Forbidden: the key lacks the permission Workspace\.manage_api_keys/)
    assert.notInclude(refused.stderr, made.stdout.trim().slice(-43))
  })
})

describe("signalbox users", () => {
  it("names the keys of who leaves, and hands them over", async () => {
    const users = (...args: ReadonlyArray<string>) => signalbox(["users", ...args, "--data", data])
    await succeed(["users", "create", "ada", "--role", "operator", "--data", data])
    const permission = ["--permission", "Processes.read_runs"]
    await succeed(["keys", "create", "--name", "nightly", ...permission, "--owner", "ada", "--data", data])
    const refused = await users("disable", "ada")
    assert.strictEqual(refused.status, 1)
    assert.match(refused.stderr, /^Keys of ada, which are refused then .*:\n {2}nightly, never used\n/)
    assert.match(refused.stderr, /nothing was changed: add --yes to disable ada, with one key/)
    assert.match((await users("disable", "ada", "--keys-to-workspace")).stdout, /^ada is disabled/)
    const [owner] = (await succeed(["keys", "list", "--json", "--data", data])).lines
      .map((line) => JSON.parse(line))
      .filter(({ name }) => name === "nightly")
      .map((key) => key.owner)
    assert.isNull(owner)
    // Nothing is asked where there is none.
    assert.match((await users("remove", "ada")).stdout, /^ada is no user of this workspace any more/)
  })

  it("shows and changes what is asked of people who sign in, and removes a lost second factor", async () => {
    const users = (...args: ReadonlyArray<string>) => succeed(["users", ...args, "--data", data])
    assert.match((await users("rules")).stdout, /^second factor: optional/)
    assert.match((await users("rules", "--second-factor", "required")).stdout, /^second factor: required/)
    assert.match((await users("rules")).stdout, /^second factor: required/)
    await users("rules", "--second-factor", "optional")
    await users("create", "bob", "--role", "viewer")
    assert.match((await users("remove-second-factor", "bob")).stdout, /^bob has no second factor now/)
  })
})

describe("signalbox workspaces", () => {
  it("shows the workspace, and creates another that the printed variables connect to", async () => {
    assert.match(
      (await succeed(["workspaces", "show", "--data", data])).stdout,
      new RegExp(`^${room.ready.workspace_id}  default`)
    )
    const made = await succeed(["workspaces", "create", "--name", "staging", "--data", data])
    const printed = Object.fromEntries(made.lines.map((line) => line.split("=")))
    assert.deepStrictEqual(Object.keys(printed).toSorted(), ["SIGNALBOX_API_KEY", "SIGNALBOX_WORKSPACE_ID"])
    const shown = await succeed(["workspaces", "show", "--json"], { env: { ...connection, ...printed } })
    assert.deepInclude(JSON.parse(shown.stdout), { id: printed["SIGNALBOX_WORKSPACE_ID"], name: "staging" })
  })
})

describe("without a way to the control room", () => {
  const cases: ReadonlyArray<readonly [string, Env, RegExp]> = [
    [
      "no service",
      { SIGNALBOX_BASE_URL: "http://127.0.0.1:9" },
      /no server responds.*start it with `signalbox up`, or check SIGNALBOX_BASE_URL/
    ],
    ["a malformed key", { SIGNALBOX_API_KEY: "nonsense" }, /Unauthorized.*check SIGNALBOX_API_KEY/],
    [
      "an unknown key",
      { SIGNALBOX_API_KEY: `sbk_01900000-0000-7000-8000-000000000000_${"x".repeat(43)}` },
      /Forbidden.*revoked.*keys create/
    ],
    [
      "another workspace",
      { SIGNALBOX_WORKSPACE_ID: "01900000-0000-7000-8000-000000000000" },
      /Forbidden.*does not belong to this workspace/
    ]
  ]
  for (const [what, env, message] of cases) {
    it(`says so in one line: ${what}`, async () => {
      const { status, stderr, stdout } = await signalbox(["keys", "list"], { env: { ...connection, ...env } })
      assert.strictEqual(status, 1)
      assert.strictEqual(stdout, "")
      assert.strictEqual(stderr.trim().split("\n").length, 1)
      assert.match(stderr, message)
      assert.notInclude(stderr, "xxxx")
    })
  }
})
