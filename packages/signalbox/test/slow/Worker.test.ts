/** `signalbox worker`, as people use it: a separate process that links itself, is killed, and continues. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { ChildProcess } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { clientOf, type RoomHere, signalbox, start, succeed, temporaryFolder, up, upHere } from "../support/Cli.ts"
import * as Robots from "../support/Robots.ts"

const { folder, remove } = temporaryFolder("worker")
const data = join(folder, "data")
const home = join(folder, "worker")
let room: RoomHere
let origin: string
const children: Array<ChildProcess> = []

const client = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) =>
  Effect.runPromise(Effect.provide(effect, clientOf(room.ready)))

const workers = Stream.runCollect(Workers.stream())

const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.retry(Schedule.spaced("100 millis")), Effect.timeout("20 seconds"))

/** The only worker, once it is in one of these states. */
const workerIn = (...states: ReadonlyArray<string>) =>
  eventually(
    Effect.flatMap(workers, (all) => {
      const [worker] = all
      return worker !== undefined && states.includes(worker.state) ? Effect.succeed(worker) : Effect.fail("not yet")
    })
  )

const startWorker = (env: Readonly<Record<string, string>> = {}, ...args: ReadonlyArray<string>) => {
  const child = start(["worker", "start", "--url", origin, "--data", home, "--name", "far away", ...args], env)
  children.push(child)
  let stderr = ""
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = new Promise<number | null>((done) => child.once("exit", done))
  return { child, ended, stderr: () => stderr }
}

beforeAll(async () => {
  room = await upHere(data, ["--workers", "0"])
  origin = room.ready.base_url.replace("/api/v1", "")
})

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await room.end()
  remove()
})

// One story of one machine: linked, run, removed, linked again.
describe("signalbox worker", { shuffle: false }, () => {
  it("says what is missing, naming the flag", async () => {
    const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: RegExp, code?: number]> = [
      [[], /--url: expected the address/],
      [["--url", "room"], /--url: expected the address/],
      [["--url", origin, "--data", home], /--link-token: the worker in .* is not linked yet/],
      [
        ["--url", origin, "--data", home, "--capacity", "0"],
        /--capacity cannot be "0": expected a value between 1 and 1000/,
        2
      ],
      [["--url", origin, "--data", home, "--link-token", "sbl_no_no"], /link_token: unknown, used or expired/],
      [
        ["--url", origin, "--data", home, "--unlink", "--link-token", "sbl_no_no"],
        /^(?![^]*was not unlinked)[^]*link_token: unknown, used or expired/
      ]
    ]
    for (const [args, message, code = 1] of cases) {
      const { status, stderr } = await signalbox(["worker", "start", ...args])
      assert.strictEqual(status, code, stderr)
      assert.match(stderr, message)
    }
    const nothing = await signalbox(["worker", "unlink", "--data", home])
    assert.match(nothing.stderr, /no worker is linked in/)
  })

  it("is linked once, killed with -9, and continues as the same worker; its leftovers are terminated", async () => {
    const token = (await succeed(["worker", "link-token", "--data", data])).stdout.trim()
    const first = startWorker({ SIGNALBOX_LINK_TOKEN: `${token}\n` })
    const linked = await client(workerIn("idle"))
    assert.strictEqual(linked.name, "far away")
    const file = join(home, "worker.json")
    await client(eventually(Effect.suspend(() => (existsSync(file) ? Effect.void : Effect.fail("not yet")))))
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)

    const second = await signalbox(["worker", "start", "--url", origin, "--data", home])
    assert.match(second.stderr, /another worker uses .*: stop it first/)

    const pids = join(folder, "pids.json")
    const run = await client(
      Effect.gen(function* () {
        const packageId = yield* Robots.upload("robot", yield* Robots.robot)
        const id = yield* Robots.process("tree", [
          { name: "tree", task: { package_id: packageId, name: "tree" }, env: { PIDS: pids } }
        ])
        const started = yield* Robots.start(id)
        yield* eventually(Effect.suspend(() => (existsSync(pids) ? Effect.void : Effect.fail("not yet"))))
        return started
      })
    )
    const tree: ReadonlyArray<number> = JSON.parse(readFileSync(pids, "utf8"))
    first.child.kill("SIGKILL")
    await first.ended
    assert.isTrue(tree.every(Robots.isAlive))

    const again = startWorker()
    await client(eventually(Effect.suspend(() => (tree.some(Robots.isAlive) ? Effect.fail("alive") : Effect.void))))
    const back = await client(workerIn("idle"))
    assert.strictEqual(back.id, linked.id)
    assert.lengthOf(await client(workers), 1)
    const ended = await client(ProcessRuns.awaitEnd(run, { timeout: "30 seconds" }))
    assert.strictEqual(ended.state, "unresolved")
    const [stepRun] = await client(Robots.stepRuns(run))
    assert.strictEqual(stepRun?.error?.code, "WORKER_LOST")
    again.child.kill("SIGTERM")
    assert.strictEqual(await again.ended, 0)
    assert.notInclude(first.stderr() + again.stderr(), token)
  })

  it("says to link it again when it was removed, and can be", async () => {
    const [worker] = await client(workers)
    if (worker === undefined) return assert.fail("no worker")
    await client(eventually(Workers.remove(worker.id)))
    const refused = startWorker()
    assert.strictEqual(await refused.ended, 1)
    assert.match(refused.stderr(), /the worker was removed.*link it again/)
    const token = (await succeed(["worker", "link-token", "--data", data, "--json"])).stdout
    const again = startWorker({}, "--link-token", JSON.parse(token).link_token)
    const linked = await client(workerIn("idle"))
    assert.notStrictEqual(linked.id, worker.id)
    again.child.kill("SIGTERM")
    assert.strictEqual(await again.ended, 0)
  })

  it("refuses a folder of another service, and is unlinked", async () => {
    const other = await signalbox(["worker", "start", "--url", "http://127.0.0.1:1", "--data", home])
    assert.match(other.stderr, /belongs to the worker of http:\/\/127\.0\.0\.1/)
    const unlinked = await succeed(["worker", "unlink", "--data", home, "--json"])
    assert.deepStrictEqual(JSON.parse(unlinked.stdout), { folder: home, unlinked: true })
    assert.lengthOf(await client(workers), 0)
    assert.isFalse(existsSync(join(home, "worker.json")))
  })
})

describe("signalbox up", () => {
  it("keeps its local workers over restarts, also without their own tasks", async () => {
    const folderOfUp = join(folder, "kept")
    const before = await up(folderOfUp, ["--workers", "2"])
    const own = room
    try {
      room = before
      const idle = Effect.filterOrFail(
        workers,
        (all) => all.length === 2 && all.every(({ state }) => state === "idle"),
        () => "not yet"
      )
      const first = await client(eventually(idle))
      assert.deepStrictEqual(first.map(({ name }) => name).toSorted(), ["local-1", "local-2"])
      await before.end("SIGKILL")
      room = await upHere(folderOfUp, ["--workers", "2"])
      const second = await client(eventually(idle))
      assert.deepStrictEqual(second.map(({ id }) => id).toSorted(), first.map(({ id }) => id).toSorted())
      assert.strictEqual(await room.end(), 0)
    } finally {
      room = own
    }
  })
})
