/**
 * What `signalbox doctor` finds.
 */
import { startS3 } from "@signalbox/testkit/S3Server"
import type { Worker, WorkerState } from "@signalbox/api/Workers"
import { WorkerId } from "@signalbox/api/contract/Ids"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { freePort } from "@signalbox/testkit/FreePort"
import { chmodSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { ofNodes, type Outcome, ofWorkers } from "../src/internal/commands/host/DoctorChecks.ts"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("doctor")
const data = join(folder, "data")

let room: Cli.RoomHere
beforeAll(async () => {
  room = await Cli.upHere(data)
})
afterAll(async () => {
  await room.end()
  remove()
})

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly remedy: string | null
}

const doctor = async (args: ReadonlyArray<string>, env: Cli.Env = {}) => {
  const ended = await Cli.signalbox(["doctor", "--json", ...args], { env })
  const findings = ended.lines.map((line): Finding => JSON.parse(line))
  const of = (check: string) => findings.find((finding) => finding.check === check)
  return { status: ended.status, findings, of }
}

const here = () => ({ SIGNALBOX_PORT: new URL(room.ready.base_url).port })

describe("signalbox doctor", () => {
  it("finds all well where a control room runs, with a line for each check", async () => {
    while (!(await Cli.signalbox(["workers", "list", "--data", data])).stdout.includes("idle")) await setTimeout(50)
    const { findings, status } = await doctor(["--data", data], here())
    assert.deepStrictEqual(
      findings.map(({ check, status }) => [check, status]),
      [
        "node",
        "data folder",
        "disk",
        "port",
        "proxy",
        "database",
        "connection",
        "clock",
        "permissions",
        "workers",
        "nodes"
      ].map((check) => [check, "ok"])
    )
    assert.strictEqual(status, 0)
    const { stdout } = await Cli.signalbox(["doctor", "--data", data], { env: here() })
    assert.match(stdout, /^ok {4}node +Node v/)
  })

  it("looks at the port on which the control room of the folder listens, unless another is chosen", async () => {
    const { port } = new URL(room.ready.base_url)
    const { of } = await doctor(["--data", data])
    assert.deepInclude(of("port"), { status: "ok", message: `a control room listens on port ${port} of 127.0.0.1` })
    const other = String(await freePort())
    for (const [args, env] of [
      [["--port", other], {}],
      [[], { SIGNALBOX_PORT: other }]
    ] as const) {
      const chosen = await doctor(["--data", data, ...args], env)
      assert.deepInclude(chosen.of("port"), { status: "ok", message: `port ${other} of 127.0.0.1 is free` })
    }
  })

  const last_seen_at = "2026-11-26T18:00:00.000Z"
  const worker = (name: string, state: WorkerState, change: Partial<Worker> = {}): Worker => ({
    id: WorkerId.make(`worker_${name}`),
    name,
    state,
    labels: [],
    draining: false,
    paused: null,
    last_seen_at,
    worker_groups: [],
    step_runs: [],
    ...change
  })
  const paused: Worker["paused"] = { by: { type: "api_key", id: null, name: null }, note: null, since: last_seen_at }
  const cases: ReadonlyArray<readonly [what: string, all: ReadonlyArray<Worker>, outcome: Partial<Outcome>]> = [
    ["none", [], { status: "warn", message: "no worker is linked; steps cannot run" }],
    ["all online", [worker("a", "idle"), worker("b", "busy")], { status: "ok", message: "2 of 2 workers are online" }],
    [
      "one offline",
      [worker("a", "idle"), worker("b", "offline"), worker("c", "offline", { last_seen_at: null })],
      {
        status: "warn",
        message: `1 of 3 workers are online; offline: b (last seen ${last_seen_at}), c (last seen never)`
      }
    ],
    [
      "those offline that drain or are paused",
      [worker("a", "idle"), worker("b", "offline", { draining: true }), worker("c", "offline", { paused })],
      { status: "ok", message: "1 of 3 workers are online, and the others are draining or paused" }
    ],
    [
      "all offline",
      [worker("a", "offline", { draining: true })],
      { status: "warn", message: "0 of 1 workers are online" }
    ],
    [
      "more offline than are named",
      Array.from({ length: 12 }, (_, n) => worker(String(n), "offline")),
      {
        status: "warn",
        message: `0 of 12 workers are online; offline: ${Array.from({ length: 10 }, (_, n) => `${n} (last seen ${last_seen_at})`).join(", ")} and 2 more`
      }
    ]
  ]
  it.each(cases)("says of workers, %s, how many are online and which are not", (_, all, outcome) => {
    assert.deepInclude(ofWorkers(all), outcome)
  })

  const node = (name: string, more: { readonly state?: "offline"; readonly version?: string } = {}) => ({
    id: name,
    name,
    version: "0.2.0",
    state: "online" as const,
    last_seen_at: "2026-11-20T08:15:30.000Z",
    ...more
  })
  it.each<readonly [string, Parameters<typeof ofNodes>[0], Partial<Outcome>]>([
    ["none, of an older room", [], { status: "ok" }],
    ["one", [node("a")], { status: "ok", message: "1 node of version 0.2.0" }],
    ["several of one version", [node("a"), node("b")], { status: "ok", message: "2 nodes of version 0.2.0" }],
    [
      "one that gives no sign of life",
      [node("a"), node("b", { state: "offline", version: "0.1.0" })],
      {
        status: "warn",
        message: "1 of 2 nodes are online; offline: b (version 0.1.0, last seen 2026-11-20T08:15:30.000Z)"
      }
    ],
    [
      "several versions",
      [node("a"), node("b", { version: "0.1.0" }), node("c")],
      {
        status: "warn",
        message: "nodes have different versions: 0.2.0 (a, c), 0.1.0 (b)",
        remedy: "update the nodes of older versions"
      }
    ]
  ])("says of nodes, %s, whether all run and are of one version", (_, all, outcome) => {
    assert.deepInclude(ofNodes(all), outcome)
  })

  it("fails without a control room, and says how to start one", async () => {
    const { of, status } = await doctor(["--data", join(folder, "nowhere")], {
      SIGNALBOX_PORT: String(await freePort())
    })
    assert.strictEqual(status, 1)
    assert.strictEqual(of("connection")?.status, "fail")
    assert.match(of("connection")?.message ?? "", /start a control room there with `signalbox up/)
    assert.strictEqual(of("port")?.status, "ok")
    assert.match(of("database")?.message ?? "", /not created yet/)
  })

  it("writes, reads and deletes an object where there is a bucket, and says what to do when it may not", async () => {
    const { bucket, close, credentials, endpoint, objects, region } = await startS3()
    const environment = {
      SIGNALBOX_S3_BUCKET: bucket,
      SIGNALBOX_S3_ENDPOINT: endpoint,
      SIGNALBOX_S3_PREFIX: "rooms/one/",
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey
    }
    const data = join(folder, "no room")
    const right = await doctor(["--data", data], environment)
    assert.deepInclude(right.of("bucket"), { status: "ok" })
    assert.deepStrictEqual([...objects.keys()], ["rooms/one/probe"])
    const wrong = await doctor(["--data", data], { ...environment, AWS_SECRET_ACCESS_KEY: "WR0NG" })
    assert.deepInclude(wrong.of("bucket"), { status: "fail" })
    assert.match(wrong.of("bucket")?.message ?? "", /403 SignatureDoesNotMatch/)
    assert.match(wrong.of("bucket")?.remedy ?? "", /check SIGNALBOX_S3_BUCKET.*AWS_SECRET_ACCESS_KEY/)
    assert.notMatch(JSON.stringify(wrong.findings), /WR0NG/)
    await close()
    const away = await doctor(["--data", data], environment)
    assert.match(away.of("bucket")?.remedy ?? "", /check SIGNALBOX_S3_ENDPOINT/)
  })

  it("warns of a port that something else has, and of credentials that others can read", async () => {
    const other = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
    const address = other.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const credentials = join(data, "credentials.json")
    chmodSync(credentials, 0o644)
    const { of, status } = await doctor(["--data", data], { SIGNALBOX_PORT: String(port) })
    chmodSync(credentials, 0o600)
    other.close()
    assert.strictEqual(status, 0)
    assert.deepInclude(of("port"), { status: "warn" })
    assert.match(of("data folder")?.remedy ?? "", /^run chmod 600 .*credentials\.json$/)
  })

  it("warns of what a key may not read", async () => {
    const args = ["keys", "create", "--name", "ci", "--permission", "Processes.read_processes", "--data", data]
    const { base_url, workspace_id } = room.ready
    const { of, status } = await doctor([], {
      ...here(),
      SIGNALBOX_DATA: data,
      SIGNALBOX_BASE_URL: base_url,
      SIGNALBOX_WORKSPACE_ID: workspace_id,
      SIGNALBOX_API_KEY: (await Cli.succeed(args)).stdout.trim()
    })
    assert.strictEqual(of("connection")?.status, "ok")
    assert.match(of("permissions")?.message ?? "", /may not read runs, work items, packages, assets, secrets/)
    assert.strictEqual(of("workers")?.status, "warn")
    assert.strictEqual(status, 0)
  })
})
