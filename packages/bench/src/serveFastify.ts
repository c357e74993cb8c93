/**
 * The peer: a minimal fastify app with the same rows and the same work (key by SHA-256 from a table, compiled schemas,
 * SQLite with WAL and full sync), and nothing else. Prints where it is when it is ready.
 */
/* oxlint-disable oxc/no-async-endpoint-handlers -- the rule is for Express; fastify awaits its handlers */
import Fastify from "fastify"
import { createHash, randomUUID } from "node:crypto"
import { DatabaseSync } from "node:sqlite"

const [folder = "."] = process.argv.slice(2)
const db = new DatabaseSync(`${folder}/fastify.db`)
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE api_key (hash TEXT PRIMARY KEY, workspace_id TEXT NOT NULL);
  CREATE TABLE work_item (id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, process_id TEXT NOT NULL, state TEXT NOT NULL,
    created_at TEXT NOT NULL, payload TEXT NOT NULL);
  CREATE INDEX work_item_by_workspace ON work_item (workspace_id, id)`)
const workspaceId = randomUUID()
const processId = randomUUID()
const key = "bench-key"
const hash = (text: string) => createHash("sha256").update(text).digest("hex")
db.prepare("INSERT INTO api_key VALUES (?, ?)").run(hash(key), workspaceId)

interface Row {
  readonly id: string
  readonly state: string
  readonly created_at: string
  readonly process_id: string
  readonly payload: string
}

const findKey = db.prepare("SELECT workspace_id FROM api_key WHERE hash = ?")
const findItem = db.prepare("SELECT * FROM work_item WHERE workspace_id = ? AND id = ?")
const listItems = db.prepare("SELECT * FROM work_item WHERE workspace_id = ? ORDER BY id DESC LIMIT ?")
const insertItem = db.prepare("INSERT INTO work_item VALUES (?, ?, ?, 'new', ?, ?)")

const reference = { type: ["object", "null"], properties: { id: { type: "string" } } }
const fields = {
  id: { type: "string" },
  created_at: { type: "string" },
  state: { type: "string" },
  state_updated_at: { type: ["string", "null"] },
  process: reference,
  process_run: reference,
  step: reference,
  step_run: reference,
  exception: { type: ["object", "null"], additionalProperties: true }
}
const listed = { type: "object", properties: fields }
const item = {
  type: "object",
  properties: {
    ...fields,
    payload: {},
    files: { type: "array", items: { type: "object", additionalProperties: true } }
  }
}
const page = {
  type: "object",
  properties: {
    data: { type: "array", items: listed },
    has_more: { type: "boolean" },
    next: { type: ["string", "null"] }
  }
}

const view = (row: Row) => ({
  id: row.id,
  created_at: row.created_at,
  state: row.state,
  state_updated_at: null,
  process: { id: row.process_id },
  process_run: null,
  step: null,
  step_run: null,
  exception: null
})

const app = Fastify()
app.addHook("onRequest", async (request, reply) => {
  const given = /^RC-WSKEY (\S+)$/.exec(request.headers.authorization ?? "")?.[1]
  const found = given === undefined ? undefined : findKey.get(hash(given))
  if (found === undefined) return reply.code(403).send({ error: "forbidden" })
})
app.get<{ Params: { id: string } }>(
  "/api/v1/workspaces/:w/work-items/:id",
  { schema: { response: { 200: item } } },
  async (request) => {
    const row = findItem.get(workspaceId, request.params.id) as unknown as Row
    return { ...view(row), payload: JSON.parse(row.payload), files: [] }
  }
)
app.get<{ Querystring: { limit: number } }>(
  "/api/v1/workspaces/:w/work-items",
  {
    schema: {
      querystring: { type: "object", properties: { limit: { type: "integer", minimum: 1, default: 100 } } },
      response: { 200: page }
    }
  },
  async (request) => {
    const rows = listItems.all(workspaceId, request.query.limit + 1) as unknown as ReadonlyArray<Row>
    const data = rows.slice(0, request.query.limit).map(view)
    return { data, has_more: rows.length > data.length, next: rows.length > data.length ? "http://x" : null }
  }
)
app.post<{ Body: { process: { id: string }; payload?: unknown } }>(
  "/api/v1/workspaces/:w/work-items",
  {
    schema: {
      body: {
        type: "object",
        required: ["process"],
        properties: {
          process: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
          payload: {}
        }
      },
      response: { 200: item }
    }
  },
  async (request) => {
    const row: Row = {
      id: randomUUID(),
      state: "new",
      created_at: new Date().toISOString(),
      process_id: request.body.process.id,
      payload: JSON.stringify(request.body.payload ?? null)
    }
    insertItem.run(row.id, workspaceId, row.process_id, row.created_at, row.payload)
    return { ...view(row), payload: request.body.payload ?? null, files: [] }
  }
)
const origin = await app.listen({ port: 0, host: "127.0.0.1" })
console.log(JSON.stringify({ origin, key, workspaceId, processId }))
