/**
 * The peer: a minimal fastify app with the same rows and the same work. Its tables and indexes are those of the service,
 * and so is what a request costs: the key's SHA-256 and permissions with keys remembered in memory, compiled schemas,
 * whether an item has files, signed cursors, a read of the process before a work item is written, SQLite with WAL and full
 * sync, a request id, and a histogram of times. It has nothing else.
 */
/* oxlint-disable oxc/no-async-endpoint-handlers -- the rule is for Express; fastify awaits its handlers */
import { Permission } from "@signalbox/api/contract/Authorization"
import { migrations } from "../../../packages/control-room/src/internal/store/database/Migrations.ts"
import Fastify from "fastify"
import { createHmac, hash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { Histogram, Registry } from "prom-client"
import { serve } from "../harness/Program.ts"
import type { Served } from "./room.ts"

const [folder = "."] = process.argv.slice(2)
const db = new DatabaseSync(`${folder}/fastify.db`)
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
for (const statement of Object.values(migrations).flat()) {
  db.exec(typeof statement === "string" ? statement : statement.sqlite)
}

const now = () => new Date().toISOString()
const sha256 = (text: string) => hash("sha256", text)
const workspaceId = randomUUID()
const processId = randomUUID()
const keyId = randomUUID()
const secret = randomBytes(32).toString("base64url")
const key = `sbk_${keyId}_${secret}`
const cursorKey = randomBytes(32)
db.prepare("INSERT INTO workspace VALUES (?, 'bench', ?, 'bench', ?)").run(workspaceId, randomUUID(), now())
db.prepare(
  "INSERT INTO api_key (id, workspace_id, name, secret_hash, permissions, created_at) VALUES (?, ?, 'bench', ?, ?, ?)"
).run(keyId, workspaceId, sha256(secret), JSON.stringify(Permission.literals), now())
db.prepare("INSERT INTO process (id, workspace_id, name, steps, created_at) VALUES (?, ?, 'bench', '[]', ?)").run(
  processId,
  workspaceId,
  now()
)

interface Summary {
  readonly id: string
  readonly state: string
  readonly state_updated_at: string | null
  readonly created_at: string
  readonly process_id: string
  readonly process_run_id: string | null
  readonly step_id: string | null
  readonly step_run_id: string | null
  readonly exception: string | null
}

interface Row extends Summary {
  readonly payload: string
  readonly has_files: number
}

interface Key {
  readonly secretHash: string
  readonly workspaceId: string
  readonly permissions: ReadonlySet<string>
}

const findKey = db.prepare("SELECT * FROM api_key WHERE id = ?")
const findItem = db.prepare(
  "SELECT *, EXISTS (SELECT 1 FROM file WHERE file.owner_id = work_item.id) AS has_files FROM work_item WHERE workspace_id = ? AND id = ?"
)
const findFiles = db.prepare("SELECT * FROM file WHERE owner_id = ? ORDER BY name")
const columns =
  "id, workspace_id, process_id, process_run_id, step_id, step_run_id, state, state_updated_at, created_at, exception"
const listItems = db.prepare(`SELECT ${columns} FROM work_item WHERE workspace_id = ? ORDER BY id DESC LIMIT ?`)
const findProcess = db.prepare("SELECT id FROM process WHERE workspace_id = ? AND id = ?")
const insertItem = db.prepare(
  "INSERT INTO work_item (id, workspace_id, process_id, state, created_at, payload, attempts) VALUES (?, ?, ?, 'new', ?, ?, 0)"
)

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

const ref = (id: string | null) => (id === null ? null : { id })
const view = (row: Summary) => ({
  id: row.id,
  created_at: row.created_at,
  state: row.state,
  state_updated_at: row.state_updated_at,
  process: ref(row.process_id),
  process_run: ref(row.process_run_id),
  step: ref(row.step_id),
  step_run: ref(row.step_run_id),
  exception: row.exception === null ? null : (JSON.parse(row.exception) as object)
})

const remembered = new Map<string, Key>()
const keyOf = (id: string): Key | undefined => {
  const known = remembered.get(id)
  if (known !== undefined) return known
  const row = findKey.get(id) as
    | { readonly secret_hash: string; readonly workspace_id: string; readonly permissions: string }
    | undefined
  if (row === undefined) return undefined
  const found = {
    secretHash: row.secret_hash,
    workspaceId: row.workspace_id,
    permissions: new Set<string>(JSON.parse(row.permissions) as ReadonlyArray<string>)
  }
  remembered.set(id, found)
  return found
}

const registry = new Registry()
const seconds = new Histogram({
  name: "http_request_seconds",
  help: "How long requests took",
  labelNames: ["method", "status"],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [registry]
})

const app = Fastify({ genReqId: (request) => String(request.headers["x-request-id"] ?? randomUUID()) })

app.addHook("onRequest", async (request, reply) => {
  reply.header("x-request-id", request.id).header("idempotency-key-ttl", "86400")
  const match = /^(?:rc-wskey|bearer) +sbk_([0-9a-f-]{36})_([A-Za-z0-9_-]{43}) *$/i.exec(
    request.headers.authorization ?? ""
  )
  if (match?.[1] === undefined || match[2] === undefined) return reply.code(401).send({ error: "unauthenticated" })
  const found = keyOf(match[1])
  if (found === undefined || !timingSafeEqual(Buffer.from(sha256(match[2])), Buffer.from(found.secretHash))) {
    return reply.code(403).send({ error: "forbidden" })
  }
  const needed = request.method === "GET" ? "Processes.read_work_items" : "Processes.write_work_items"
  const { w } = request.params as { readonly w: string }
  if (w !== found.workspaceId || !found.permissions.has(needed)) return reply.code(403).send({ error: "forbidden" })
})
app.addHook("onResponse", async (request, reply) => {
  seconds.observe({ method: request.method, status: String(reply.statusCode) }, reply.elapsedTime / 1000)
})

app.get<{ Params: { w: string; id: string } }>(
  "/api/v1/workspaces/:w/work-items/:id",
  { schema: { response: { 200: item } } },
  async (request, reply) => {
    const row = findItem.get(request.params.w, request.params.id) as unknown as Row | undefined
    if (row === undefined) return reply.code(404).send({ error: "not found" })
    return {
      ...view(row),
      payload: JSON.parse(row.payload) as unknown,
      files: row.has_files === 0 ? [] : findFiles.all(row.id)
    }
  }
)
app.get<{ Params: { w: string }; Querystring: { limit: number } }>(
  "/api/v1/workspaces/:w/work-items",
  {
    schema: {
      querystring: { type: "object", properties: { limit: { type: "integer", minimum: 1, default: 100 } } },
      response: { 200: page }
    }
  },
  async (request) => {
    const { limit } = request.query
    const rows = listItems.all(request.params.w, limit + 1) as unknown as ReadonlyArray<Summary>
    const data = rows.slice(0, limit).map(view)
    const last = data.at(-1)?.id
    if (rows.length <= limit || last === undefined) return { data, has_more: false, next: null }
    const path = request.url.split("?")[0] ?? ""
    const signature = createHmac("sha256", cursorKey).update(`cursor\n${path}\n${last}`).digest("base64url")
    const cursor = `${Buffer.from(last).toString("base64url")}.${signature}`
    return { data, has_more: true, next: `${origin}${path}?limit=${limit}&cursor=${cursor}` }
  }
)
app.post<{ Params: { w: string }; Body: { process: { id: string }; payload?: unknown } }>(
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
  async (request, reply) => {
    const payload = request.body.payload ?? null
    const row = {
      id: randomUUID(),
      state: "new",
      state_updated_at: null,
      created_at: now(),
      process_id: request.body.process.id,
      process_run_id: null,
      step_id: null,
      step_run_id: null,
      exception: null
    }
    db.exec("BEGIN IMMEDIATE")
    const known = findProcess.get(request.params.w, row.process_id) !== undefined
    if (known) insertItem.run(row.id, request.params.w, row.process_id, row.created_at, JSON.stringify(payload))
    db.exec("COMMIT")
    return known ? { ...view(row), payload, files: [] } : reply.code(404).send({ error: "not found" })
  }
)
const origin = await app.listen({ port: 0, host: "127.0.0.1" })
const ready: Served = { origin, key, workspaceId, processId, linkToken: "" }
serve(() => Promise.resolve(null), { ready })
