/**
 * The command with a Postgres: `up`, `migrate` and `vault rotate-key` by its address in the environment.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { databaseVariablesOf, dropSchema, urlVariable } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Mounted from "../../src/Mounted.ts"
import { type RoomHere, signalbox, succeed, temporaryFolder, upHere } from "../support/Cli.ts"

const { folder, remove } = temporaryFolder("postgres")
const data = join(folder, "data")
const url = process.env[urlVariable] ?? ""
const newKey = () => randomBytes(32).toString("base64")
const [first, second] = [newKey(), newKey()]
const env = { ...databaseVariablesOf(url), SIGNALBOX_MASTER_KEY: first }
const next = { ...env, SIGNALBOX_NEW_MASTER_KEY: second }

// No other test uses the default schema of the command.
const clean = () => Effect.runPromise(dropSchema(url, "signalbox"))
beforeAll(clean)
afterAll(async () => {
  await clean()
  remove()
})

const webhooks = ({ ready }: RoomHere) => `${ready.base_url}/workspaces/${ready.workspace_id}/webhooks`
const headersOf = ({ ready }: RoomHere) => ({
  authorization: `RC-WSKEY ${ready.api_key}`,
  "content-type": "application/json"
})

// One story over one database.
describe("signalbox with a Postgres", { shuffle: false }, () => {
  let secret = ""
  let webhook = ""

  it("migrates, starts, and stores only files in its folder", async () => {
    assert.strictEqual((await succeed(["migrate"], { env })).lines[0], "applied 0032_run_steps")
    assert.match((await succeed(["migrate"], { env })).stdout, /already up to date/)
    const room = await upHere(data, [], env)
    const body = JSON.stringify({ endpoint: "https://example.com", enabled_events: ["process_run.started"] })
    const made = await fetch(webhooks(room), { method: "POST", headers: headersOf(room), body })
    assert.strictEqual(made.status, 200)
    ;({ id: webhook, secret } = await made.json())
    assert.isFalse(existsSync(join(data, "control-room.db")))
    assert.isFalse(existsSync(join(data, "master.key")))

    const checked = JSON.parse((await succeed(["check", "--json", "--data", data], { env })).stdout)
    assert.isTrue(checked.ok, JSON.stringify(checked))
    const other = { ...env, SIGNALBOX_MASTER_KEY: second }
    assert.match(
      (await signalbox(["check", "--data", data], { env: other })).stdout,
      /PROBLEM +master key +SIGNALBOX_MASTER_KEY does not match the database/
    )

    const { status, stderr } = await signalbox(["vault", "rotate-key"], { env: next })
    assert.strictEqual(status, 1)
    assert.match(
      stderr,
      /^signalbox: nodes use this database \(1, of version \S+\): stop them first; one that was killed counts for 15 seconds\n$/
    )
    assert.strictEqual(await room.end(), 0)
  })

  it("changes the master key to the one of the environment, after which only that opens the vault", async () => {
    const without = await signalbox(["vault", "rotate-key"], { env })
    assert.strictEqual(without.status, 1)
    assert.match(without.stderr, /SIGNALBOX_NEW_MASTER_KEY: set it to the new key/)
    const short = await signalbox(["vault", "rotate-key"], { env: { ...next, SIGNALBOX_NEW_MASTER_KEY: "c2hvcnQ=" } })
    assert.match(short.stderr, /must be base64 of 32 bytes/)
    const { rewrapped } = JSON.parse((await succeed(["vault", "rotate-key", "--json"], { env: next })).stdout)
    assert.isAtLeast(rewrapped, 1)

    const old = await signalbox(["up", "--port", "0", "--data", data], { env })
    assert.strictEqual(old.status, 1)
    assert.match(old.stderr, /not the master key of this database/)
    const room = await upHere(data, [], { ...env, SIGNALBOX_MASTER_KEY: second })
    const opened = await (await fetch(`${webhooks(room)}/${webhook}`, { headers: headersOf(room) })).json()
    assert.strictEqual(opened.secret, secret)
    assert.strictEqual(await room.end(), 0)
  })

  it("reports in one line what is missing or unavailable, and never the address", async () => {
    const password = "hunter2hunter2"
    const unknown = new URL(url)
    unknown.username = "unknown"
    const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, RegExp]> = [
      [{ ...env, SIGNALBOX_DATABASE_URL: unknown.href }, /database: .*"unknown"/],
      [{ SIGNALBOX_DATABASE_URL: url }, /master key/],
      [{ ...env, SIGNALBOX_DATABASE_URL: `postgres://u:${password}@127.0.0.1:9/x` }, /database: .*ECONNREFUSED/],
      [{ ...env, SIGNALBOX_DATABASE_URL: `nonsense ${password}` }, /database/]
    ]
    for (const [given, message] of cases) {
      const { status, stderr, stdout } = await signalbox(["up", "--port", "0", "--data", join(folder, "none")], {
        env: given
      })
      assert.strictEqual(status, 1)
      assert.match(stderr, message)
      assert.strictEqual(stderr.trim().split("\n").length, 1)
      assert.notInclude(stderr + stdout, password)
    }
  })

  it("creates one workspace and one key when several nodes start concurrently for the first time", async () => {
    await clean()
    const options = {
      data: join(folder, "nodes"),
      database: { url: Redacted.make(url) },
      masterKey: Redacted.make(first),
      publicUrl: "http://127.0.0.1:1/automation",
      workers: 0
    }
    const nodes = await Promise.all([1, 2, 3].map(() => Mounted.toWebHandler(options)))
    try {
      const [credentials, ...others] = nodes.map((node) => node.credentials)
      assert.deepStrictEqual(others, [credentials, credentials])
      const { api_key, base_url, workspace_id } = credentials ?? assert.fail("no node")
      const keys = new Request(`${base_url}/api/v1/workspaces/${workspace_id}/api-keys`, {
        headers: { authorization: `RC-WSKEY ${api_key}` }
      })
      const [last] = nodes.slice(-1)
      const response = (await last?.handler(keys)) ?? assert.fail("no node")
      assert.strictEqual(response.status, 200)
      assert.lengthOf((await response.json()).data, 1)
    } finally {
      await Promise.all(nodes.map(({ dispose }) => dispose()))
    }
  })
})
