/** `signalbox check`, and starts on a data folder that lacks something. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type RoomHere, signalbox, succeed, temporaryFolder, upHere } from "./support/Cli.ts"

const { folder, remove } = temporaryFolder("check")
afterAll(remove)

const call = async ({ ready }: RoomHere, method: string, path: string, json?: unknown) => {
  const response = await fetch(`${ready.base_url}/workspaces/${ready.workspace_id}/${path}`, {
    method,
    headers: { authorization: `RC-WSKEY ${ready.api_key}`, "content-type": "application/json" },
    ...(json === undefined ? {} : { body: JSON.stringify(json) })
  })
  const text = await response.text()
  assert.isBelow(response.status, 300, text)
  return JSON.parse(text)
}

/** A small asset, and the address of its bytes. */
const storeAsset = async (room: RoomHere, name: string) => {
  const { id } = await call(room, "POST", "assets", { name })
  await call(room, "POST", `assets/${id}/uploads`, { content_type: "text/plain", data: "c2VlZA==" })
  return call(room, "GET", `assets/${id}`)
}

const blobsIn = (data: string) =>
  readdirSync(join(data, "files"))
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((shard) => readdirSync(join(data, "files", shard)).map((name) => join(data, "files", shard, name)))

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

// One story: a folder that is sound is damaged step by step.
describe("signalbox check", { shuffle: false }, () => {
  const data = join(folder, "sound")

  it("finds a sound folder sound, beside the service and without it", async () => {
    const room = await upHere(data)
    await storeAsset(room, "kept")
    const beside = JSON.parse((await succeed(["check", "--data", data, "--json"])).stdout)
    assert.isTrue(beside.ok)
    assert.deepStrictEqual(
      beside.checks.map(({ check, ok }: { check: string; ok: boolean }) => [check, ok]),
      [
        ["database", true],
        ["counters", true],
        ["master key", true],
        ["audit", true],
        ["files", true],
        ["orphans", true]
      ]
    )
    assert.strictEqual(await room.end(), 0)
    const { stdout } = await succeed(["check", "--data", data])
    assert.match(stdout, /^ok +files +all 1 are complete$/m)
  })

  it("finds what was altered in an export of the audit, and cut off from the audit itself", async () => {
    const room = await upHere(data)
    const workspace = `${room.ready.base_url}/workspaces/${room.ready.workspace_id}`
    const headers = { authorization: `RC-WSKEY ${room.ready.api_key}` }
    const listed = await succeed(["audit", "list", "--data", data, "--json"])
    assert.match(listed.stdout, /"action":"createAsset"/)
    const exported = await (await fetch(`${workspace}/audit/export`, { headers })).text()
    assert.strictEqual(await room.end(), 0)
    const [file, heads] = [join(folder, "audit.ndjson"), join(folder, "heads")]
    writeFileSync(file, exported)
    assert.match((await succeed(["audit", "verify", file, "--data", data])).stdout, /^all [1-9]\d* entries are genuine/)
    writeFileSync(file, exported.replace('"createAsset"', '"deleteAsset"'))
    const altered = await signalbox(["audit", "verify", file, "--data", data])
    assert.strictEqual(altered.status, 1)
    assert.match(altered.stdout, /entry \d+ is not what was written/)

    writeFileSync(heads, (await succeed(["audit", "head", "--data", data, "--json"])).stdout)
    assert.match((await succeed(["check", "--data", data, "--audit-head", heads])).stdout, /^ok +audit +all /m)
    const db = new DatabaseSync(join(data, "control-room.db"))
    db.exec("DELETE FROM audit_entry WHERE number = (SELECT max(number) FROM audit_entry)")
    db.exec(
      `UPDATE audit_chain SET number = number - 1, mac = (SELECT mac FROM audit_entry ORDER BY number DESC LIMIT 1)`
    )
    db.close()
    assert.match((await succeed(["check", "--data", data])).stdout, /^ok +audit +all /m)
    const cut = await signalbox(["check", "--data", data, "--audit-head", heads])
    assert.strictEqual(cut.status, 1)
    assert.match(cut.stdout, /^PROBLEM +audit +.*cut off: the given end has number/m)
  })

  it("lists files whose bytes are missing or cut off; their download is a 404 that says so", async () => {
    const room = await upHere(data)
    const before = blobsIn(data)
    const gone = await storeAsset(room, "gone")
    const [missing = ""] = blobsIn(data).filter((blob) => !before.includes(blob))
    rmSync(missing)
    const answer = await fetch(gone.payload.url)
    assert.strictEqual(answer.status, 404)
    assert.match(await answer.text(), /"NOT_FOUND".*bytes of this file are missing.*signalbox check/)
    closeSync(openSync(before[0] ?? "", "w"))
    const { lines, status, stderr } = await signalbox(["check", "--data", data, "--json"])
    assert.strictEqual(status, 1)
    assert.match(stderr, /problems with: files/)
    const { checks, ok } = JSON.parse(lines[0] ?? "")
    assert.isFalse(ok)
    const files: ReadonlyArray<{ found: number | null; size: number }> = checks[4].files
    assert.sameDeepMembers(
      files.map(({ found, size }) => ({ found, size })),
      [
        { found: 0, size: 4 },
        { found: null, size: 4 }
      ]
    )
    assert.strictEqual(await room.end(), 0)
    rmSync(data, { recursive: true })
  })

  it("finds damaged pages, and a room that has them responds with a 500 and continues", async () => {
    const damaged = join(folder, "damaged")
    const room = await upHere(damaged)
    await storeAsset(room, "kept")
    assert.strictEqual(await room.end(), 0)
    const file = join(damaged, "control-room.db")
    const db = new DatabaseSync(file)
    const [page] = db.prepare("SELECT rootpage AS page FROM sqlite_master WHERE name = 'asset'").all()
    db.close()
    const descriptor = openSync(file, "r+")
    writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, (Number(page?.["page"]) - 1) * 4096)
    closeSync(descriptor)

    const { status, stdout } = await signalbox(["check", "--data", damaged])
    assert.strictEqual(status, 1)
    assert.match(stdout, /^PROBLEM +database +damaged: .*restore a backup$/m)
    const again = await upHere(damaged)
    const headers = { authorization: `RC-WSKEY ${again.ready.api_key}` }
    const workspace = `${again.ready.base_url}/workspaces/${again.ready.workspace_id}`
    const answer = await fetch(`${workspace}/assets`, { headers })
    assert.strictEqual(answer.status, 500)
    assert.match(await answer.text(), /the database is damaged.*signalbox check.*restore a backup/)
    assert.strictEqual((await fetch(`${workspace}/webhooks`, { headers })).status, 200)
    assert.lengthOf(again.stderr().match(/level=ERROR[^\n]*damaged/gi) ?? [], 1, again.stderr())
    assert.strictEqual(await again.end(), 0)
  })

  it("says in one line what it cannot read", async () => {
    const { status, stdout } = await signalbox(["check", "--data", join(folder, "nowhere"), "--json"])
    assert.strictEqual(status, 1)
    assert.match(JSON.parse(stdout).checks[0].message, /control-room\.db does not exist: give the right data folder/)
    assert.isFalse(existsSync(join(folder, "nowhere")))
  })
})

// One story: a folder that is sound is damaged step by step.
describe("a data folder", { shuffle: false }, () => {
  const data = join(folder, "modes")
  // Without workers: what one was doing when it was interrupted is done a moment later.
  const upAlone = () => upHere(data, ["--workers", "0"])

  it("loses the access of others at the next start", async () => {
    const room = await upAlone()
    assert.strictEqual(await room.end(), 0)
    chmodSync(data, 0o755)
    chmodSync(join(data, "files"), 0o755)
    for (const name of ["control-room.db", "control-room.db.lock", "master.key", "credentials.json"]) {
      chmodSync(join(data, name), 0o644)
    }
    const again = await upAlone()
    assert.strictEqual(modeOf(data), "700")
    assert.strictEqual(modeOf(join(data, "files")), "700")
    for (const name of ["control-room.db", "control-room.db-wal", "control-room.db-shm", "control-room.db.lock"]) {
      assert.strictEqual(modeOf(join(data, name)), "600", name)
    }
    for (const name of ["master.key", "credentials.json"]) assert.strictEqual(modeOf(join(data, name)), "600", name)
    await call(again, "POST", "webhooks", { endpoint: "https://example.com", enabled_events: ["process_run.started"] })
    assert.strictEqual(await again.end(), 0)
  })

  it("without its master key is refused with the remedy, and nothing is written", async () => {
    const key = readFileSync(join(data, "master.key"))
    rmSync(join(data, "master.key"))
    const names = readdirSync(data).sort()
    const database = readFileSync(join(data, "control-room.db"))
    const { status, stderr } = await signalbox(["up", "--port", "0", "--data", data])
    assert.strictEqual(status, 1)
    assert.match(stderr, /^signalbox: .*master\.key is missing.*restore it from a backup/)
    assert.strictEqual(stderr.trim().split("\n").length, 1)
    assert.deepStrictEqual(readdirSync(data).sort(), names)
    assert.isTrue(readFileSync(join(data, "control-room.db")).equals(database))
    assert.match((await signalbox(["check", "--data", data])).stdout, /PROBLEM +master key +.*restore it from a backup/)
    assert.strictEqual(key.length, 32)
  })
})
