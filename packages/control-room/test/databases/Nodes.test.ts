/** The nodes of a room, as `GET /room` lists them. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Room from "@signalbox/api/Room"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { hostname } from "node:os"
import packageJson from "../../package.json" with { type: "json" }
import { layer, onPostgres, Service } from "../support/Service.ts"

const { version } = packageJson

/** The row of another node, last seen so many seconds ago. */
const other = Effect.fnUntraced(function* (name: string, seconds: number, of = version) {
  const sql = yield* SqlClient.SqlClient
  const at = new Date(Date.now() - seconds * 1000).toISOString()
  yield* sql`INSERT INTO node ${sql.insert({ id: name, name, version: of, schema_known: "", last_seen_at: at })}`
})

const listed = (...names: ReadonlyArray<string>) =>
  Effect.map(Room.get, ({ nodes }) =>
    nodes.filter(({ name }) => names.includes(name)).map(({ name, state, version }) => `${name} ${version} ${state}`)
  )

withLayer(layer, { excludeTestServices: true })("the nodes of a room", (it) => {
  it.effect("are the one that responds, with its version", () =>
    Effect.gen(function* () {
      const { nodes } = yield* Room.get
      const [node] = nodes.filter(({ name }) => name === hostname())
      assert.deepInclude(node, { version, state: "online" })
    })
  )

  if (!onPostgres) return

  it.effect("are offline when they gave no sign of life for 15 seconds, until a day has passed", () =>
    Effect.gen(function* () {
      const { retainIn } = yield* Service
      const sql = yield* SqlClient.SqlClient
      yield* other("running", -3600)
      yield* other("killed", 20, "0.0.1")
      // The room deletes old ones by itself too, at any moment.
      yield* other("gone", 23 * 3600)
      const names = ["gone", "killed", "running"]
      assert.deepStrictEqual(yield* listed(...names), [
        `gone ${version} offline`,
        "killed 0.0.1 offline",
        `running ${version} online`
      ])
      const longAgo = new Date(Date.now() - 25 * 3_600_000).toISOString()
      yield* sql`UPDATE node SET last_seen_at = ${longAgo} WHERE name = 'gone'`
      yield* retainIn(0)
      assert.deepStrictEqual(yield* listed(...names), ["killed 0.0.1 offline", `running ${version} online`])
    })
  )

  it.effect("do not include a killed one whose place another of its name has taken", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* other("restarted", 60)
      assert.deepStrictEqual(yield* listed("restarted"), [`restarted ${version} offline`])
      const row = { id: "its next start", name: "restarted", version, schema_known: "" }
      yield* sql`INSERT INTO node ${sql.insert({ ...row, last_seen_at: new Date(Date.now() + 3_600_000).toISOString() })}`
      assert.deepStrictEqual(yield* listed("restarted"), [`restarted ${version} online`])
    })
  )
})
