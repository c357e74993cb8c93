/** Tasks in TypeScript in production: packaged, pushed, run by a worker in another folder, changed, rolled back, pinned and applied. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ChildProcess } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { clientOf, type RoomHere, signalbox, start, succeed, temporaryFolder, upHere } from "../support/Cli.ts"
import * as Projects from "../support/Projects.ts"
import * as Robots from "../support/Robots.ts"

const { folder, remove } = temporaryFolder("tasks-in-typescript")
const data = join(folder, "data")
const project = Projects.make(join(folder, "project"), {
  "workspace.yaml": "packages: { greetings: { tasks: tasks.ts } }\n"
})
let room: RoomHere
let worker: ChildProcess

beforeAll(async () => {
  room = await upHere(data, ["--workers", "0"])
  const token = (await succeed(["worker", "link-token", "--data", data])).stdout.trim()
  const origin = room.ready.base_url.replace("/api/v1", "")
  const elsewhere = join(folder, "elsewhere")
  mkdirSync(elsewhere)
  worker = start(
    ["worker", "start", "--url", origin, "--name", "elsewhere"],
    { SIGNALBOX_LINK_TOKEN: token },
    elsewhere
  )
})

afterAll(async () => {
  const ended = new Promise((resolve) => worker.once("exit", resolve))
  worker.kill("SIGTERM")
  await ended
  await room.end()
  remove()
})

const client = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) =>
  Effect.runPromise(Effect.provide(effect, clientOf(room.ready)))

/** A command in the folder of the project, and the JSON that it prints. */
const command = async (...args: ReadonlyArray<string>) => {
  const { lines } = await succeed([...args, "--data", data, "--json"], { cwd: project })
  return lines.map((line) => JSON.parse(line))
}

const push = async (greeting: string) => {
  writeFileSync(join(project, "tasks.ts"), Projects.tasks(greeting))
  const [pushed] = await command("packages", "push", "greetings", "tasks.ts", "--note", greeting)
  return pushed
}

/** Runs the process with one item, and returns the payloads of its outputs. */
const greetings = () =>
  client(
    Effect.gen(function* () {
      const [process] = yield* Stream.runCollect(Processes.stream({ name: "greetings" }))
      if (process === undefined) return yield* Effect.die("there is no process")
      const run = yield* Robots.start(process.id, { name: "Ada" })
      const { state } = yield* ProcessRuns.awaitEnd(run, { timeout: "60 seconds" })
      assert.strictEqual(state, "completed")
      return (yield* Stream.runCollect(Outputs.stream(run))).map(({ payload }) => payload)
    })
  )

// One story of one package.
describe("tasks in TypeScript", { shuffle: false }, () => {
  it("are pushed as the first version, which a worker in another folder runs", async () => {
    const first = await push("Hello")
    assert.deepInclude(first, { name: "greetings", version: 1, uploaded: true })
    const packaged = await succeed(["package", "--json"], { cwd: project })
    assert.strictEqual(JSON.parse(packaged.stdout).digest, first.digest)
    await command("processes", "create", "greetings", "--task", "greet", "--package", "greetings")
    assert.deepStrictEqual(await greetings(), [{ greeting: "Hello, Ada" }])
  })

  it("pushed again unchanged create no version; changed, they are the next one", async () => {
    assert.deepInclude(await push("Hello"), { version: 1, uploaded: false })
    assert.deepInclude(await push("Good day"), { version: 2, uploaded: true })
    assert.deepStrictEqual(await greetings(), [{ greeting: "Good day, Ada" }])
  })

  it("are rolled back, which apply does not undo, and pinned", async () => {
    const [back] = await command("packages", "rollback", "greetings")
    assert.strictEqual(back.version, 1)
    assert.deepStrictEqual(await greetings(), [{ greeting: "Hello, Ada" }])
    const [held] = await command("apply", "workspace.yaml")
    assert.strictEqual(held.status, "unchanged")
    assert.match(held.detail, /version 2 has this content, but version \d+ is current/)
    await command("processes", "pin", "greetings", "greet", "2")
    assert.deepStrictEqual(await greetings(), [{ greeting: "Good day, Ada" }])
    await command("processes", "unpin", "greetings", "greet")
  })

  it("are applied from a file, whose plan shows the digests", async () => {
    writeFileSync(join(project, "tasks.ts"), Projects.tasks("Good evening"))
    const [planned] = await command("apply", "workspace.yaml", "--dry-run")
    assert.strictEqual(planned.action, "change")
    assert.match(planned.detail, /^tasks\.ts, digest [0-9a-f]{12} to [0-9a-f]{12}$/)
    await command("apply", "workspace.yaml")
    assert.deepStrictEqual(await greetings(), [{ greeting: "Good evening, Ada" }])
    const [same] = await command("apply", "workspace.yaml")
    assert.strictEqual(same.status, "unchanged")
  })

  it("that cannot be packaged change nothing, and the message names the field", async () => {
    const bad = join(project, "bad.yaml")
    writeFileSync(bad, "packages: { other: { tasks: workspace.ts } }\n")
    writeFileSync(join(project, "workspace.ts"), "export const nothing = 1\n")
    const { status, stderr } = await signalbox(["apply", bad, "--data", data], { cwd: project })
    assert.strictEqual(status, 1)
    assert.match(stderr, /packages\.other\.tasks: .*workspace\.ts must export `tasks`/)
    const names = (await command("packages", "list")).map(({ name }) => name)
    assert.deepStrictEqual(names, ["greetings"])
  })

  it("run on a worker that runs robots in Python too", async () => {
    const { state } = await client(
      Effect.gen(function* () {
        const { run } = yield* Robots.runTask(yield* Robots.upload("robot", yield* Robots.robot), "nothing")
        return run
      })
    )
    assert.strictEqual(state, "completed")
  })
})
