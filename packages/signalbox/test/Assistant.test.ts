/**
 * `signalbox assistant`, as a person at a machine uses it: its output appears immediately, and runs are reported to the
 * control room.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Assistants from "@signalbox/api/Assistants"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import { zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { clientOf, type RoomHere, signalbox, start, succeed, temporaryFolder, upHere } from "./support/Cli.ts"
import * as Robots from "./support/Robots.ts"

const python = `
import json, os, sys, time, urllib.request

def report():
    print("looking at", os.environ["RC_WORKSPACE_ID"], flush=True)
    assert "RC_WORKITEM_ID" not in os.environ
    request = urllib.request.Request(
        os.environ["RC_API_URL_V1"] + "workspaces/" + os.environ["RC_WORKSPACE_ID"] + "/assets",
        headers={"authorization": "Bearer " + os.environ["RC_API_TOKEN_V1"]})
    print("assets:", len(json.load(urllib.request.urlopen(request))["data"]))
    with open(os.path.join(os.environ["ROBOT_ARTIFACTS"], "report.txt"), "w") as file:
        file.write("all is well")

def crash():
    sys.exit(3)

def wait():
    print("waiting", flush=True)
    time.sleep(600)

globals()[sys.argv[1]]()
`
const tasks = ["report", "crash", "wait"].map((task) => `  ${task}:\n    shell: python3 main.py ${task}\n`).join("")
const robot = zipOf({ "robot.yaml": `tasks:\n${tasks}`, "main.py": python })

const { folder, remove } = temporaryFolder("assistant")
const data = join(folder, "data")
let room: RoomHere

const client = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) =>
  Effect.runPromise(Effect.provide(effect, clientOf(room.ready)))

/** The last run of an assistant. */
const lastRun = (name: string) =>
  Effect.map(Stream.runCollect(Assistants.streamRuns()), (runs) => runs.find((run) => run.assistant.name === name))

const assistant = (...args: ReadonlyArray<string>) => signalbox(["assistant", ...args, "--data", data], { cwd: folder })

beforeAll(async () => {
  room = await upHere(data, ["--workers", "0"])
  await client(
    Effect.gen(function* () {
      const taskPackage = yield* Robots.upload("desk", yield* robot)
      for (const task of ["report", "crash", "wait"])
        yield* Assistants.create({ name: `my ${task}`, task, taskPackage })
    })
  )
})

afterAll(async () => {
  await room.end()
  remove()
})

describe("assistant", () => {
  it("runs one by its name, shows its output, stores its files, and reports it", async () => {
    const { stderr, status, stdout } = await assistant("run", "my report")
    assert.strictEqual(status, 0, stderr)
    assert.include(stdout, `looking at ${room.ready.workspace_id}\nassets: 0\n`)
    assert.strictEqual(readFileSync(join(folder, "output", "report.txt"), "utf8"), "all is well")
    const run = await client(lastRun("my report"))
    assert.deepStrictEqual([run?.state, run?.error], ["completed", null])
  })

  it("exits with 1 when its task fails, and the control room knows why", async () => {
    const { status, stderr, stdout } = await assistant("run", "my crash", "--json")
    assert.strictEqual(status, 1)
    assert.match(stderr, /ROBOT_FAILURE: the task ended with exit code 3/)
    assert.strictEqual(JSON.parse(stdout).error.code, "ROBOT_FAILURE")
    assert.strictEqual((await client(lastRun("my crash")))?.error?.code, "ROBOT_FAILURE")
  })

  it("ends its task and reports that when it is stopped", async () => {
    const child = start(["assistant", "run", "my wait", "--data", data], {}, folder)
    const ended = new Promise((done) => child.once("exit", done))
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("waiting")) resolve()
      })
    })
    child.kill("SIGINT")
    await ended
    const run = await client(lastRun("my wait"))
    assert.deepStrictEqual([run?.state, run?.error?.code], ["failed", "UNKNOWN"])
  })

  it("lists all, and reports an unknown name", async () => {
    const listed = await succeed(["assistant", "list", "--data", data])
    assert.deepStrictEqual(
      listed.lines.map((line) => line.slice(38)),
      ["name       task", "my wait    wait", "my crash   crash", "my report  report"]
    )
    const { status, stderr } = await signalbox(["assistant", "run", "nobody", "--data", data])
    assert.strictEqual(status, 1)
    assert.match(stderr, /no assistant has the name or id nobody/)
  })
})
