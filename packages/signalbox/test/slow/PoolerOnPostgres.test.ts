/**
 * The command with a Postgres behind a connection pooler.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { missing, startPooler } from "@signalbox/testkit/PgBouncer"
import { createDatabase, urlVariable } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import { randomBytes, randomUUID } from "node:crypto"
import { join } from "node:path"
import { signalbox, succeed, temporaryFolder, upHere } from "../support/Cli.ts"

const { folder, remove } = temporaryFolder("pooler")
afterAll(remove)

const tasks = join(import.meta.dirname, "..", "support", "tasks.ts")

/** A database with its user, and a pooler in front. */
const start = async () => {
  const server = new URL(process.env[urlVariable] ?? "")
  const name = `pooled_${randomUUID().slice(0, 8)}`
  await Effect.runPromise(createDatabase(server.href, name, name))
  server.pathname = `/${name}`
  server.username = name
  server.password = name
  return { direct: server.href, pooler: await startPooler(server.href) }
}

describe.skipIf(missing !== null)(`a room behind a connection pooler${missing === null ? "" : `: ${missing}`}`, () => {
  it("starts, runs an item, and ends", async () => {
    const { direct, pooler } = await start()
    const data = join(folder, "data")
    const key = { SIGNALBOX_MASTER_KEY: randomBytes(32).toString("base64") }
    const alone = { ...key, SIGNALBOX_DATABASE_URL: pooler.url }
    const env = { ...alone, SIGNALBOX_DATABASE_DIRECT_URL: direct }

    const refused = await signalbox(["up", "--port", "0", "--data", data], { env: alone })
    assert.strictEqual(refused.status, 1)
    assert.match(refused.stderr, /connection pooler.*--database-direct-url/)

    const room = await upHere(data, ["--tasks", tasks, "--workers", "1"], env)
    await succeed(["processes", "create", "greeting", "--task", "greet", "--data", data], { env })
    const run = await succeed(["run", "greeting", "--payload", '{"name":"Ada"}', "--wait", "--json", "--data", data], {
      env
    })
    assert.match(run.stdout, /completed/)
    const doctor = await signalbox(["doctor", "--data", data], { env })
    assert.match(doctor.stdout, /ok +pooler +transactions through the connection pooler apply their settings/)
    assert.strictEqual(await room.end(), 0)
    await pooler.remove()
  })
})
