/** `signalbox import`: a filled room of ours, a room with the v1 interface alone, and rooms that mean harm. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Vault from "@signalbox/api/robot/Vault"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { sized } from "@signalbox/testkit/Soak"
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type RoomHere, signalbox, start, succeed, temporaryFolder, upHere } from "../support/Cli.ts"

const { folder, remove } = temporaryFolder("import")
const password = "hush-hush-4711"
const processesFile = join(folder, "processes.yaml")

let source: RoomHere
let target: RoomHere
const targetData = join(folder, "target")

const path = (name: string, content: string | Uint8Array) => {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

const zip = (...tasks: ReadonlyArray<string>) => Effect.runPromise(zipOf({ "robot.yaml": robotYaml(...tasks) }))

const workspaceFile = `
roles:
  clerk: { permissions: [Processes.read_runs, Processes.trigger_processes] }
secrets:
  shop: { description: back office, hosts: [github.com], items: { user: robot, password: { env: SHOP_PASSWORD } } }
packages:
  invoices: { zip: two.zip }
worker_groups: [linux]
assets:
  currency: { text: EUR }
  limits: { json: { orders: 100 } }
processes:
  orders:
    description: Reads the orders of a day
    steps:
      - name: read
        task: { name: Read orders, package: invoices }
        task_package_version: 1
        worker_group: linux
        concurrency: { key: /customer, limit: 2 }
        rate: { limit: 100, per: hour }
        worker: { labels: [office] }
        max_parallel: 4
        timeout_seconds: 600
        retry: { max_attempts: 3, delay_seconds: 10 }
        env: { LANGUAGE: en }
      - { name: report, task: { name: report }, start_after: previous_step }
    default_work_item: { payload: { day: today } }
    pause_after_failures: 5
    concurrency: { limit: 40 }
assistants:
  reader: { task: { name: Read orders, package: invoices } }
webhooks:
  - { endpoint: "https://example.com/hook", events: [process_run.completed], process: orders }
schedules:
  nightly:
    process: orders
    cron: 30 2 * * mon-fri
    zone: Europe/Vienna
    calendar: { dates: ["2026-12-25"], otherwise: after }
    inputs: { type: with_payloads, payloads: [{ until: "{at}" }] }
triggers:
  pushes:
    process: orders
    start: { at_least: 50, oldest_seconds: 3600 }
    webhook:
      signature: { type: hmac, header: X-Hub-Signature-256, prefix: sha256=, secret: { env: SHOP_PASSWORD } }
      event_id: { header: X-GitHub-Delivery }
      payload: { order: /order/id }
alert_channels:
  hook: { type: webhook, url: "https://example.com/alerts" }
  mail: { type: email, host: smtp.example.com, port: 587, from: robots@example.com, to: [ops@example.com] }
  chat: { type: slack, url: "https://hooks.slack.example.com/services/T/B/x" }
alerts:
  stands still:
    rule: { type: nothing_completed, process: orders, seconds: 14400 }
    channels: [hook]
    repeat_seconds: 86400
`

interface Line {
  readonly status: string
  readonly kind: string
  readonly name: string
  readonly detail: string
}

const linesOf = (stdout: string): ReadonlyArray<Line> =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** Imports, and returns the exit code with the report. */
const imported = async (from: string, workspace: string, key: string, ...flags: ReadonlyArray<string>) => {
  const args = ["import", "--from", from, "--workspace", workspace, "--data", targetData, "--json"]
  const { status, stderr, stdout } = await signalbox([...args, "--processes-file", processesFile, ...flags], {
    env: { SIGNALBOX_IMPORT_KEY: key }
  })
  for (const text of [stdout, stderr]) for (const secret of [password, key]) assert.notInclude(text, secret)
  return { status, lines: linesOf(stdout), stderr, stdout }
}

const facts = (lines: ReadonlyArray<Line>) => lines.map(({ kind, name, status }) => `${status}: ${kind} ${name}`)

/** What the tests read of responses, of any kind. */
interface Resource {
  readonly [other: string]: unknown
  readonly id: string
  readonly name: string
  readonly data: ReadonlyArray<Resource>
  readonly files: ReadonlyArray<Resource>
  readonly steps: ReadonlyArray<Resource>
  readonly size: number
  readonly endpoint: string
  readonly enabled: boolean
  readonly digest: string
  readonly note: string | null
  readonly state: string
  readonly paused: { readonly note: string }
  readonly api_key: { readonly key: string }
  readonly payload: { readonly [other: string]: unknown; readonly content_type?: string; readonly url?: string }
}

const call = async (room: RoomHere, resource: string, body?: unknown): Promise<Resource> => {
  const response = await fetch(`${room.ready.base_url}/workspaces/${room.ready.workspace_id}/${resource}`, {
    headers: { authorization: `RC-WSKEY ${room.ready.api_key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
  })
  assert.strictEqual(response.status, 200, resource)
  return response.json()
}

/** The first of a list. */
const firstOf = async (room: RoomHere, list: string) => {
  const [first] = (await call(room, list)).data
  return first ?? assert.fail(`no ${list}`)
}

const ofTheRoom = new Set([
  "id",
  "created_at",
  "since",
  "next_at",
  "paused",
  "enabled",
  "url",
  "version",
  "newest",
  "task_package_version",
  "revision",
  "secret",
  "state_updated_at",
  "by",
  "created_by",
  "download",
  "fetched_at"
])

/** Ids stand for names; what each room makes itself is left out. */
const comparable = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (typeof value === "string") return names.get(value) ?? value
  if (Array.isArray(value)) return value.map((one) => comparable(one, names))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !ofTheRoom.has(key) || (key === "id" && names.has(String(Reflect.get(value, "id")))))
      .map(([key, one]) => [key, comparable(one, names)])
  )
}

const lists = [
  "roles",
  "secrets",
  "task-packages",
  "worker-groups",
  "assets",
  "processes",
  "assistants",
  "webhooks",
  "schedules",
  "triggers",
  "alert-channels",
  "alerts"
]
const withDetails = ["task-packages", "schedules", "triggers", "assets"]

/** All that a room has, by names. */
const contentOf = async (room: RoomHere) => {
  const found = await Promise.all(
    lists.map(async (list) => {
      const { data } = await call(room, list)
      // Its address is a secret.
      return [list, data.filter(({ name }) => name !== "chat")] as const
    })
  )
  const names = new Map<string, string>()
  for (const [list, all] of found)
    for (const { id, name } of all) if (id !== undefined) names.set(id, `${list} ${name}`)
  const details = await Promise.all(
    found.map(async ([list, all]) => {
      const one = ({ id }: { id: string }) =>
        list === "processes"
          ? call(room, `processes/${id}/definition`)
          : withDetails.includes(list)
            ? call(room, `${list}/${id}`)
            : null
      return [list, await Promise.all(all.map(async (each: { id: string }) => [each, await one(each)]))] as const
    })
  )
  return comparable(Object.fromEntries(details), names)
}

beforeAll(async () => {
  source = await upHere(join(folder, "source"), ["--workers", "0"])
  target = await upHere(targetData, ["--workers", "0"])
  const one = path("one.zip", await zip("Read orders"))
  path("two.zip", await zip("Read orders", "Write letters"))
  const env = { SHOP_PASSWORD: password }
  const data = ["--data", join(folder, "source")]
  await succeed(["packages", "push", "invoices", one, "--note", "the first", ...data], { env })
  await succeed(["apply", path("workspace.yaml", workspaceFile), ...data], { env })
  const orders = await firstOf(source, "processes")
  const item = await call(source, "work-items", {
    process: { id: orders.id },
    payload: { order: 1 },
    priority: 7,
    reference: "A-1",
    tags: ["eu"]
  })
  await call(source, "work-items", { process: { id: orders.id }, payload: [2] })
  await succeed(["items", "attach", item.id, path("order.txt", "an order"), ...data])
})

afterAll(async () => {
  await source.end()
  await target.end()
  remove()
})

const permissions = [
  "Assets.read_asset_storage_assets",
  "Assistants.read_assistants",
  "Processes.read_processes",
  "Processes.read_work_items",
  "Tasks.read_task_packages",
  "Vault.read_secret_values",
  "Vault.read_secrets",
  "Vault.write_secrets",
  "Webhooks.read_webhooks",
  "Workers.read_workers",
  "Schedules.read_schedules",
  "Triggers.read_triggers",
  "Alerts.read_alerts",
  "Workspace.read_users"
]

// One story over two rooms, since each is a service.
describe("an import of a filled room", { shuffle: false }, () => {
  let from: readonly [url: string, workspace: string, key: string]
  const everything = ["--items", "--secrets", "--yes"]

  it("plans first, and changes nothing with --dry-run", async () => {
    const flags = permissions.flatMap((one) => ["--permission", one])
    const made = await succeed([
      "keys",
      "create",
      "--name",
      "reader",
      ...flags,
      "--data",
      join(folder, "source"),
      "--json"
    ])
    from = [source.ready.base_url, source.ready.workspace_id, JSON.parse(made.stdout).key]
    const { lines, status } = await imported(...from, "--items", "--secrets", "--dry-run")
    assert.deepStrictEqual(facts(lines), [
      "create: role clerk",
      "create: secret shop",
      "create: package invoices",
      "create: worker group linux",
      "create: asset currency",
      "create: asset limits",
      "create: process orders",
      "create: assistant reader",
      "create: webhook https://example.com/hook (orders)",
      "create: schedule nightly",
      "create: trigger pushes",
      "create: alert channel hook",
      "create: alert channel mail",
      "create: alert stands still",
      "create: work items orders",
      "not to be had: alert channel chat"
    ])
    assert.strictEqual(status, 3)
    assert.deepStrictEqual((await call(target, "processes")).data, [])
  })

  it("needs --yes without a terminal, and a key from the variable", async () => {
    const asked = await imported(...from)
    assert.strictEqual(asked.status, 1)
    assert.include(asked.stderr, "add --yes to import this")
    const args = ["import", "--from", from[0], "--workspace", from[1], "--data", targetData]
    assert.include((await signalbox(args)).stderr, "set SIGNALBOX_IMPORT_KEY")
  })

  it("brings everything, field by field, and what acts is off", async () => {
    const { lines, status } = await imported(...from, ...everything)
    assert.deepStrictEqual(
      lines.filter((line) => line.status !== "created").map(({ name }) => name),
      ["chat"]
    )
    assert.strictEqual(status, 3)
    const [was, is] = [await contentOf(source), await contentOf(target)]
    assert.deepStrictEqual(is, was)
    const nightly = await firstOf(target, "schedules")
    assert.strictEqual(nightly.paused.note, "imported")
    for (const list of ["webhooks", "triggers", "alerts"]) {
      assert.deepStrictEqual(
        (await call(target, list)).data.map(({ enabled }) => enabled),
        [false],
        list
      )
    }
  })

  it("brings versions under the numbers of the workspace, values of secrets, and files of items", async () => {
    const { id } = await firstOf(target, "task-packages")
    const { id: before } = await firstOf(source, "task-packages")
    const digests = async (room: RoomHere, of: string) =>
      (await call(room, `task-packages/${of}/versions`)).data.map(({ digest, note, state }) => [digest, note, state])
    assert.deepStrictEqual(await digests(target, id), await digests(source, before))
    const item = await firstOf(target, "work-items?include_data=true&tag=eu")
    assert.deepInclude(item, { payload: { order: 1 }, priority: 7, reference: "A-1", state: "new" })
    assert.deepStrictEqual(
      item.files.map(({ name, size }) => [name, size]),
      [["order.txt", 8]]
    )
    const all = ["--permission", "Vault.read_secret_values", "--permission", "Vault.write_secrets"]
    const made = await succeed(["keys", "create", "--name", "values", ...all, "--data", targetData, "--json"])
    const vault = await Effect.runPromise(
      Vault.make({
        url: target.ready.base_url.replace("/api/v1", ""),
        token: Redacted.make(JSON.parse(made.stdout).key),
        workspaceId: WorkspaceId.make(target.ready.workspace_id)
      }).pipe(
        Effect.flatMap(({ get }) => get("shop")),
        Effect.provide(FetchHttpClient.layer)
      )
    )
    assert.deepStrictEqual(Redacted.value(vault.items), { user: "robot", password })
  })

  it("finds all equal the second time, also what was switched on", async () => {
    const trigger = await firstOf(target, "triggers")
    await succeed(["triggers", "enable", "pushes", "--data", targetData])
    const { lines } = await imported(...from, ...everything)
    assert.deepStrictEqual(
      lines.filter((line) => line.status !== "equal").map(({ name }) => name),
      ["chat"]
    )
    assert.isTrue((await call(target, `triggers/${trigger.id}`)).enabled)
    assert.lengthOf((await call(target, "work-items")).data, 2)
  })

  it("has the same end wherever it is killed, and nothing acts in between", async () => {
    // Each write of the command passes here: it is carried out, and at this one the command is killed without the response.
    let left = 0
    let kill = () => {}
    const proxy = await serving((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", async () => {
        const { host: _, connection: __, ...headers } = request.headers
        const answered = await fetch(`${new URL(target.ready.base_url).origin}${request.url}`, {
          method: request.method ?? "GET",
          headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
          ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) })
        })
        if (request.method !== "GET" && --left === 0) return kill()
        const { "content-encoding": ___, "content-length": ____, ...rest } = Object.fromEntries(answered.headers)
        response.writeHead(answered.status, rest)
        response.end(Buffer.from(await answered.arrayBuffer()))
      })
    })
    const run = async ({ ready }: RoomHere, writes: number) => {
      left = writes
      const args = ["import", "--from", from[0], "--workspace", from[1], ...everything, "--json"]
      const child = start(args, {
        SIGNALBOX_IMPORT_KEY: from[2],
        SIGNALBOX_BASE_URL: proxy.origin,
        SIGNALBOX_WORKSPACE_ID: ready.workspace_id,
        SIGNALBOX_API_KEY: ready.api_key
      })
      kill = () => void child.kill("SIGKILL")
      child.stdout.resume()
      const [status] = await once(child, "close")
      return status
    }
    const wanted = await contentOf(source)
    let kills = 0
    for (let write = sized(4, 1); ; write += sized(9, 1)) {
      const made = await succeed(["workspaces", "create", "--name", "killed", "--json", "--data", targetData])
      const { api_key, id }: Resource = JSON.parse(made.stdout)
      const room: RoomHere = { ...target, ready: { ...target.ready, workspace_id: id, api_key: api_key.key } }
      const status = await run(room, write)
      for (const list of ["webhooks", "triggers", "alerts"]) {
        const acting = (await call(room, list)).data.filter(
          ({ enabled, endpoint }) => enabled && endpoint !== "https://disabled.invalid/"
        )
        assert.deepStrictEqual(acting, [], `${list} after write ${write}`)
      }
      for (const { at, paused } of (await call(room, "schedules")).data) {
        assert.isTrue(paused !== null || at === "9999-01-01T00:00:00.000Z", `schedule after write ${write}`)
      }
      if (status === null) kills++
      assert.strictEqual(await run(room, 0), 3, `after write ${write}`)
      assert.deepStrictEqual(await contentOf(room), wanted, `after write ${write}`)
      assert.lengthOf((await call(room, "work-items")).data, 2)
      // It came to its end before so many.
      if (status !== null) break
    }
    assert.isAbove(kills, 1)
    await proxy.close()
  }, 120_000)

  it("leaves alone what differs, and replaces it with --replace, off", async () => {
    await call(target, `triggers/${(await firstOf(target, "triggers")).id}`, {
      name: "pushes",
      process: { id: (await firstOf(target, "processes")).id },
      enabled: true,
      start: { at_least: 2 }
    })
    const left = await imported(...from, "--yes")
    assert.include(facts(left.lines), "different: trigger pushes")
    assert.strictEqual(left.status, 3)
    const replaced = await imported(...from, "--yes", "--replace")
    assert.include(facts(replaced.lines), "replaced: trigger pushes")
    const trigger = await firstOf(target, "triggers")
    assert.deepInclude(trigger, { enabled: false, start: { at_least: 50, oldest_seconds: 3600, max_runs: 1 } })
  })

  it("brings no item whose secret fields the key of the source does not see", async () => {
    const orders = await firstOf(source, "processes")
    const definition = await call(source, `processes/${orders.id}/definition`)
    await call(source, `processes/${orders.id}`, { ...definition, sensitive: ["/ssn"] })
    const item = await call(source, "work-items", { process: { id: orders.id }, payload: { ssn: "070180-9999" } })
    const { lines, status } = await imported(...from, ...everything)
    assert.include(facts(lines), `not to be had: work items orders: ${item.id}`)
    assert.strictEqual(status, 3)
    assert.lengthOf((await call(target, "work-items")).data, 2)
  })
})

/** A server with these responses, by path and query; all its requests are noted. */
const serving = async (respond: (request: IncomingMessage, response: ServerResponse) => void) => {
  const requests: Array<{ readonly url: string; readonly key: string | undefined }> = []
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", key: request.headers.authorization })
    respond(request, response)
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    close: () => new Promise((closed) => void (server.closeAllConnections(), server.close(closed)))
  }
}

const page = (data: ReadonlyArray<unknown>, next: string | null = null) => ({ data, has_more: next !== null, next })

/** A room with the v1 interface: what is not named here is not there. */
const v1 = (resources: Readonly<Record<string, unknown>>, files: Readonly<Record<string, string | Uint8Array>> = {}) =>
  serving((request, response) => {
    const { pathname, search } = new URL(request.url ?? "", "http://room")
    const file = files[pathname]
    if (file !== undefined) return void response.end(file)
    const empty = ["assets", "assistants", "processes", "secrets", "webhooks", "worker-groups"]
    const all: Readonly<Record<string, unknown>> = {
      "": { id: "w1", name: "Hosted", organization: { id: "o1", name: "O" } },
      ...Object.fromEntries(empty.map((list) => [list, page([])])),
      ...resources
    }
    const name = pathname.replace(/^\/api\/v1\/workspaces\/w1\/?/, "")
    const found = all[name + search] ?? all[name]
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(found ?? { error: { code: "NOT_FOUND", message: "no" }, message: "no" }))
  })

const key = "k".repeat(40)

describe("an import of a room with the v1 interface alone", { shuffle: false }, () => {
  it("brings what that shows, writes processes to complete, and says what cannot be had", async () => {
    const hosted: { origin: string } = { origin: "" }
    const room = await v1(
      {
        "worker-groups": page([{ id: "g1", name: "windows" }]),
        assets: page([
          { id: "a1", name: "rates" },
          { id: "a2", name: "hollow" }
        ]),
        get "assets/a1"() {
          return {
            id: "a1",
            name: "rates",
            payload: { type: "url", content_type: "text/csv", url: `${hosted.origin}/rates` }
          }
        },
        "assets/a2": { id: "a2", name: "hollow", payload: { type: "empty" } },
        assistants: page([
          { id: "s1", name: "helper", task: { name: "Help", package_id: "p1" }, created_at: "2026-01-01T00:00:00.000Z" }
        ]),
        get "task-packages/p1"() {
          return {
            id: "p1",
            name: "desk",
            type: "zip",
            tasks: [{ name: "Help" }],
            download: { url: `${hosted.origin}/desk.zip` }
          }
        },
        processes: page([{ id: "r1", name: "payroll", created_at: "2026-01-01T00:00:00.000Z" }]),
        "processes/r1": {
          id: "r1",
          name: "payroll",
          description: "monthly: all",
          created_at: "2026-01-01T00:00:00.000Z",
          steps: [{ id: "t1", name: "Read #1" }]
        },
        secrets: page([{ name: "bank", description: null }]),
        webhooks: page([
          { id: "h1", process: null, enabled_events: ["process_run.completed"], endpoint: "https://example.org/v1" }
        ])
      },
      { "/rates": "a;1", "/desk.zip": await zip("Help") }
    )
    hosted.origin = room.origin
    const { lines, status } = await imported(room.origin, "w1", key, "--yes")
    assert.deepStrictEqual(facts(lines), [
      "created: package desk",
      "created: worker group windows",
      "created: asset rates",
      "created: asset hollow",
      `created: file ${processesFile}`,
      "created: assistant helper",
      "created: webhook https://example.org/v1",
      "not to be had: role (all)",
      "not to be had: schedule (all)",
      "not to be had: trigger (all)",
      "not to be had: alert channel (all)",
      "not to be had: alert (all)",
      "not to be had: secret bank",
      "not to be had: process payroll"
    ])
    assert.strictEqual(status, 3)
    const rates = await call(target, "assets/name:rates")
    assert.strictEqual(rates.payload.content_type, "text/csv")
    assert.strictEqual(await (await fetch(rates.payload.url ?? "")).text(), "a;1")
    assert.deepStrictEqual((await call(target, "assets/name:hollow")).payload, { type: "empty" })
    const webhook = (await call(target, "webhooks")).data.find(({ endpoint }) => endpoint === "https://example.org/v1")
    assert.deepInclude(webhook, { process: null, enabled_events: ["process_run.completed"], enabled: false })
    const again = await imported(room.origin, "w1", key, "--yes")
    assert.isTrue(again.lines.every(({ status }) => status === "equal" || status === "not to be had"))
    // Downloads get no key.
    for (const { key, url } of room.requests)
      assert.strictEqual(key === undefined, /rates|zip/.test(url) && !url.startsWith("/api"), url)
    await room.close()
  })

  it("writes a file that apply refuses until the tasks are filled in", async () => {
    const text = readFileSync(processesFile, "utf8")
    const refused = await signalbox(["apply", processesFile, "--dry-run", "--data", targetData])
    assert.include(refused.stderr, "processes.payroll.steps.0.task.name")
    const complete = path("complete.yaml", text.replace('name: "", package: ""', "name: Help, package: desk"))
    await succeed(["apply", complete, "--data", targetData])
    const { id } = await firstOf(target, "processes?name=payroll")
    const process = await call(target, `processes/${id}`)
    assert.deepInclude(process, { description: "monthly: all" })
    assert.deepStrictEqual(
      process.steps.map(({ name }) => name),
      ["Read #1"]
    )
  })
})

describe("an import of a room that means harm", () => {
  const harmful = async (resources: Readonly<Record<string, unknown>>, files = {}, ...flags: ReadonlyArray<string>) => {
    const room = await v1(resources, files)
    const ended = await imported(room.origin, "w1", key, "--dry-run", ...flags)
    await room.close()
    return { ...ended, why: ended.lines.map(({ detail }) => detail).join("\n") }
  }

  it("follows no redirect with the key", async () => {
    const other = await serving((_, response) => response.end("{}"))
    const room = await serving((request, response) =>
      response.writeHead(302, { location: `${other.origin}${request.url}` }).end()
    )
    const { status, stderr } = await imported(room.origin, "w1", key, "--dry-run")
    assert.strictEqual(status, 1)
    assert.include(stderr, "a redirect (302), which is not followed with a key")
    assert.deepStrictEqual(other.requests, [])
    await Promise.all([room.close(), other.close()])
  })

  it("asks its own origin for the next page, whatever the page says", async () => {
    const other = await serving((_, response) => response.end("{}"))
    const { lines } = await harmful({
      "worker-groups?limit=100": page([{ id: "g1", name: "one" }], `${other.origin}/steal?cursor=2`),
      "worker-groups?cursor=2": page([{ id: "g2", name: "two" }])
    })
    assert.includeMembers(facts(lines), ["create: worker group one", "create: worker group two"])
    assert.deepStrictEqual(other.requests, [])
    await other.close()
  })

  it("reads no more of the vault than of other responses", async () => {
    const endless = await serving((request, response) => {
      if (!(request.url ?? "").startsWith("/secrets-v1")) {
        response.writeHead(200, { "content-type": "application/json" })
        const isList = (request.url ?? "").includes("/secrets")
        const found = isList
          ? page([{ name: "bank", description: null }])
          : { id: "w1", name: "H", organization: { id: "o", name: "O" } }
        return void response.end(JSON.stringify(/w1$|secrets$/.test(request.url ?? "") ? found : page([])))
      }
      const chunk = Buffer.alloc(1024 * 1024, "a")
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on("drain", more)
      more()
    })
    const { lines } = await imported(endless.origin, "w1", key, "--dry-run", "--secrets")
    const bank = lines.find(({ name }) => name === "bank")
    assert.include(bank?.detail, "a response has more than 16777216 bytes")
    await endless.close()
  })

  it("ends at pages that do not end, and at responses that are too deep", async () => {
    assert.include((await harmful({ assets: page([], "/?cursor=1") })).why, "names an earlier one as the next")
    const deep = JSON.parse("[".repeat(400) + "]".repeat(400))
    assert.include((await harmful({ assets: { ...page([]), deep } })).why, "nests deeper than 300 levels")
    assert.include((await harmful({ assets: { data: [], has_more: true, next: null } })).why, "no next page")
  })

  it("shows control characters of names escaped, and uses no path of theirs", async () => {
    const name = "\u001b[2J../../etc\u202e"
    const { lines, stdout } = await harmful({ "worker-groups": page([{ id: "g1", name }]) })
    assert.include(facts(lines), `create: worker group ${name}`)
    for (const hidden of name.replaceAll(/[^\p{C}]/gu, "")) assert.notInclude(stdout, hidden)
    assert.isFalse(existsSync(join(folder, "etc")))
  })

  it("downloads nothing from private addresses of other origins, unless they are allowed", async () => {
    const other = await serving((_, response) => response.end("inside"))
    const asset = (origin: string) => ({
      assets: page([{ id: "a1", name: "metadata" }]),
      "assets/a1": {
        id: "a1",
        name: "metadata",
        payload: { type: "url", content_type: "text/plain", url: `${origin}/x` }
      }
    })
    for (const origin of [other.origin, other.origin.replace("127.0.0.1", "localhost"), "http://169.254.169.254"]) {
      assert.include((await harmful(asset(origin))).why, "--allow-private-targets allows it")
    }
    assert.deepStrictEqual(other.requests, [])
    assert.include(
      facts((await harmful(asset(other.origin), {}, "--allow-private-targets")).lines),
      "create: asset metadata"
    )
    assert.isUndefined(other.requests[0]?.key)
    await other.close()
  })

  it("refuses a zip that is a bomb", async () => {
    const bomb = await Effect.runPromise(
      zipOf({ "robot.yaml": robotYaml("Help"), zeros: new Uint8Array(60 * 1024 * 1024) })
    )
    const hosted = await serving((_, response) => response.end(bomb))
    const { why } = await harmful(
      {
        "task-packages/p1": { id: "p1", name: "bomb", type: "zip", tasks: [], download: { url: `${hosted.origin}/z` } }
      },
      {},
      "--package",
      "p1",
      "--allow-private-targets"
    )
    assert.include(why, "the zip is refused")
    await hosted.close()
  })
})
