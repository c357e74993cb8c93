/**
 * `migrate`, `compact` and `vault rotate-key`: commands that open the storage while the service does not.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { soak } from "@signalbox/testkit/Soak"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { type RoomHere, signalbox, start, succeed, temporaryFolder, upHere } from "./support/Cli.ts"

const { folder, remove } = temporaryFolder("storage")
afterAll(remove)

const secretsOf = async ({ ready }: RoomHere) => {
  const response = await fetch(`${ready.base_url}/workspaces/${ready.workspace_id}/webhooks`, {
    headers: { authorization: `RC-WSKEY ${ready.api_key}` }
  })
  const page = await response.json()
  const [first] = page.data
  const one = await fetch(`${ready.base_url}/workspaces/${ready.workspace_id}/webhooks/${first.id}`, {
    headers: { authorization: `RC-WSKEY ${ready.api_key}` }
  })
  assert.strictEqual(one.status, 200)
  return (await one.json()).secret
}

describe("signalbox migrate", () => {
  it("brings a database to the newest schema, says what it did, and has nothing to do after that", async () => {
    const data = join(folder, "migrate")
    const first = await succeed(["migrate", "--data", data])
    assert.strictEqual(first.lines[0], "applied 0032_run_steps")
    const newest = first.lines.at(-1) ?? ""
    assert.match(newest, /^the schema is at \d{4}_\w+$/)
    assert.strictEqual((await succeed(["migrate", "--data", data])).stdout.trim(), `${newest}; already up to date`)
    const json = JSON.parse((await succeed(["migrate", "--data", data, "--json"])).stdout)
    assert.deepStrictEqual(json, { applied: [], schema: newest.replace("the schema is at ", "") })
    const room = await upHere(data)
    assert.strictEqual(await room.end(), 0)
  })
})

describe("signalbox compact", () => {
  const data = join(folder, "compact")
  const file = join(data, "control-room.db")
  const within = <A>(use: (db: DatabaseSync) => A) => {
    const db = new DatabaseSync(file)
    try {
      return use(db)
    } finally {
      db.close()
    }
  }

  it("gives the space of deleted rows back to the disk, also in a room of an older version, and keeps the rest", async () => {
    await succeed(["migrate", "--data", data])
    within((db) => {
      // As older versions have made it.
      db.exec("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA journal_mode = WAL")
      db.exec("CREATE TABLE ballast (id INTEGER PRIMARY KEY, text TEXT)")
      db.exec(`WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 1000)
        INSERT INTO ballast SELECT id, hex(randomblob(1000)) FROM n`)
      db.exec("DELETE FROM ballast WHERE id > 7")
    })
    const before = statSync(file).size
    assert.isAbove(before, 2_000_000)
    const result = JSON.parse((await succeed(["compact", "--data", data, "--json"])).stdout)
    assert.deepStrictEqual(result, { before, after: statSync(file).size })
    assert.isBelow(result.after, before / 2)
    assert.deepStrictEqual(
      within((db) => [
        { ...db.prepare("SELECT count(*) AS count FROM ballast").get() },
        { ...db.prepare("PRAGMA auto_vacuum").get() }
      ]),
      [{ count: 7 }, { auto_vacuum: 2 }]
    )
    assert.match(
      (await succeed(["compact", "--data", data])).stdout,
      /^compacted the database from [\d.]+ MB to [\d.]+ MB\n$/
    )
    const room = await upHere(data)
    assert.strictEqual(await room.end(), 0)
  })

  it("creates no folder, and says that Postgres needs nothing of the kind", async () => {
    const nowhere = await signalbox(["compact", "--data", join(folder, "nowhere")])
    assert.strictEqual(nowhere.status, 1)
    assert.match(nowhere.stderr, /control-room\.db does not exist: give the right data folder/)
    assert.isFalse(existsSync(join(folder, "nowhere")))
    const postgres = await signalbox(["compact"], { env: { SIGNALBOX_DATABASE_URL: "postgres://127.0.0.1:1/room" } })
    assert.match(postgres.stderr, /nothing to compact/)
  })
})

// One story of one vault.
describe("signalbox vault rotate-key", { shuffle: false }, () => {
  const data = join(folder, "vault")
  const file = join(data, "master.key")
  const bytes = () => readFileSync(file).toString("hex")

  it("needs a folder with a key, and creates none", async () => {
    const { status, stderr } = await signalbox(["vault", "rotate-key", "--data", join(folder, "typo")])
    assert.strictEqual(status, 1)
    assert.match(stderr, /master\.key does not exist: give the folder of the control room with --data/)
    assert.isFalse(existsSync(join(folder, "typo")))
  })

  it("refuses a folder that the service has open, and changes nothing; so do migrate and compact", async () => {
    const room = await upHere(data)
    const headers = { authorization: `RC-WSKEY ${room.ready.api_key}`, "content-type": "application/json" }
    const made = await fetch(`${room.ready.base_url}/workspaces/${room.ready.workspace_id}/webhooks`, {
      method: "POST",
      headers,
      body: JSON.stringify({ endpoint: "https://example.com", enabled_events: ["process_run.started"] })
    })
    assert.strictEqual(made.status, 200)
    const before = bytes()
    for (const command of [["vault", "rotate-key"], ["migrate"], ["compact"]]) {
      const { status, stderr } = await signalbox([...command, "--data", data])
      assert.strictEqual(status, 1)
      assert.match(stderr, /another process uses .*: stop it first/)
    }
    assert.strictEqual(bytes(), before)
    assert.isFalse(existsSync(`${file}.new`))
    assert.strictEqual(await room.end(), 0)
  })

  it("gives the vault a new key that opens everything sealed under the old one", async () => {
    const before = await upHere(data)
    const secret = await secretsOf(before)
    assert.strictEqual(await before.end(), 0)
    const old = bytes()
    const { rewrapped } = JSON.parse((await succeed(["vault", "rotate-key", "--data", data, "--json"])).stdout)
    assert.isAtLeast(rewrapped, 1)
    assert.notStrictEqual(bytes(), old)
    assert.strictEqual(statSync(file).size, 32)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    const after = await upHere(data)
    assert.strictEqual(await secretsOf(after), secret)
    assert.strictEqual(await after.end(), 0)
  })

  it("leaves a vault that opens when it is killed, at whatever moment", async () => {
    // The duration of one as a separate process decides when to kill the others.
    const started = Date.now()
    await new Promise((resolve) => start(["vault", "rotate-key", "--data", data], {}).once("exit", resolve))
    const whole = Date.now() - started
    const keys = new Set<string>()
    const shares = soak ? [0.6, 0.75, 0.85, 0.9, 0.95, 1] : [0.75, 0.9, 1]
    for (const share of shares) {
      const child = start(["vault", "rotate-key", "--data", data], {})
      const gone = new Promise((resolve) => child.once("exit", resolve))
      await sleep(whole * share)
      child.kill("SIGKILL")
      await gone
      const opened = await signalbox(["vault", "rotate-key", "--data", data, "--json"])
      assert.strictEqual(opened.status, 0, `killed at ${share}: ${opened.stderr}`)
      keys.add(bytes())
    }
    assert.strictEqual(keys.size, shares.length)
    const room = await upHere(data)
    assert.match(await secretsOf(room), /^whsec_/)
    assert.strictEqual(await room.end(), 0)
  })
})
