/** How a worker ends: drained by a signal or by the service, at once, or after one step run; and which steps it takes. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Workers from "@signalbox/api/Workers"
import { zipOf } from "@signalbox/testkit/PackageZips"
import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { ChildProcess } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { clientOf, type RoomHere, signalbox, start, succeed, temporaryFolder, upHere } from "../support/Cli.ts"
import * as Robots from "../support/Robots.ts"

const { folder, remove } = temporaryFolder("worker-ending")
const data = join(folder, "data")
const home = join(folder, "worker")
const children: Array<ChildProcess> = []
let room: RoomHere
let linkToken: string
let gated: Effect.Success<ReturnType<typeof Robots.upload>>

const client = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) =>
  Effect.runPromise(Effect.provide(effect, clientOf(room.ready)))

const until = (look: () => boolean) =>
  client(
    Effect.suspend(() => (look() ? Effect.void : Effect.fail("not yet"))).pipe(
      Effect.retry(Schedule.spaced("50 millis")),
      Effect.timeout("30 seconds")
    )
  )

const startWorker = (...args: ReadonlyArray<string>) => {
  const origin = room.ready.base_url.replace("/api/v1", "")
  const all = ["worker", "start", "--url", origin, "--data", home, "--name", "desk", "--label", "gpu", ...args]
  const child = start(all, { SIGNALBOX_LINK_TOKEN: linkToken })
  children.push(child)
  let stderr = ""
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = new Promise<number | null>((done) => child.once("exit", done))
  return { child, ended, stderr: () => stderr }
}

/** Says in the file `begun` that it runs, and continues when there is a file of the gate's name. */
const main = `echo $$ > "$BEGUN"; umask; while [ ! -e "$GATE" ]; do sleep 0.05; done; exit "$(cat "$GATE")"`
let runs = 0

/** A run whose only step asks for the label `gpu`, and ends with a code once its gate is open. */
const started = async () => {
  const [begun, gate] = [join(folder, `begun-${runs}`), join(folder, `gate-${runs}`)]
  runs++
  const run = await client(
    Effect.gen(function* () {
      const id = yield* Robots.process("gated", [
        {
          name: "wait",
          task: { package_id: gated, name: "wait" },
          worker: { labels: ["gpu"] },
          env: { BEGUN: begun, GATE: gate }
        }
      ])
      return yield* Robots.start(id)
    })
  )
  return {
    begins: () => until(() => existsSync(begun) && readFileSync(begun, "utf8") !== ""),
    open: (code: number) => writeFileSync(gate, String(code)),
    ended: () => client(ProcessRuns.awaitEnd(run, { timeout: "30 seconds" })),
    stepRuns: () => client(Robots.stepRuns(run)),
    pid: () => Number(readFileSync(begun, "utf8"))
  }
}

beforeAll(async () => {
  room = await upHere(data, ["--workers", "0"])
  linkToken = (await succeed(["worker", "link-token", "--data", data])).stdout.trim()
  const robotYaml = "tasks:\n  wait:\n    shell: sh main.sh\n"
  gated = await client(
    Effect.flatMap(zipOf({ "robot.yaml": robotYaml, "main.sh": main }), (zip) => Robots.upload("gate", zip))
  )
})

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await room.end()
  remove()
})

// One story of one machine.
describe("signalbox worker start", { shuffle: false }, () => {
  it.runIf(soak)("finishes what it has after SIGTERM", async () => {
    const worker = startWorker()
    const run = await started()
    await run.begins()
    worker.child.kill("SIGTERM")
    await until(() => /draining: the worker accepts no more/.test(worker.stderr()))
    run.open(0)
    assert.strictEqual(await worker.ended, 0)
    assert.strictEqual((await run.ended()).state, "completed")
  })

  it("ends its step runs at once after a second signal", async () => {
    const worker = startWorker()
    const run = await started()
    await run.begins()
    worker.child.kill("SIGTERM")
    await until(() => /draining: the worker accepts no more/.test(worker.stderr()))
    worker.child.kill("SIGINT")
    assert.strictEqual(await worker.ended, 0)
    assert.isFalse(Robots.isAlive(run.pid()))
    const [stepRun] = await run.stepRuns()
    assert.strictEqual(stepRun?.error?.code, "TERMINATED")
  })

  it("takes steps that ask for its labels, is drained from elsewhere, and takes work again when it is started", async () => {
    const worker = startWorker()
    const run = await started()
    await run.begins()
    assert.match((await succeed(["workers", "list", "--data", data])).stdout, /busy +desk +gpu/)
    const drained = await succeed(["worker", "drain", "desk", "--data", data, "--json"])
    assert.deepInclude(JSON.parse(drained.stdout), { state: "busy", draining: true, labels: ["gpu"] })
    const waits = signalbox(["workers", "drain", "desk", "--wait", "--data", data, "--json"])
    run.open(0)
    assert.strictEqual(await worker.ended, 0)
    assert.match(worker.stderr(), /was drained and has ended/)
    assert.strictEqual(JSON.parse((await waits).stdout).state, "idle")
    assert.strictEqual((await run.ended()).state, "completed")
    const [stepRun] = await run.stepRuns()
    assert.deepStrictEqual(stepRun?.console, ["0077"])
    const [before] = await client(Stream.runCollect(Workers.stream()))
    assert.isTrue(before?.draining)
  })

  it("with --once takes one step run, ends with the code that says how it ended, and unlinks itself on request", async () => {
    const first = await started()
    first.open(0)
    const completed = startWorker("--once")
    assert.strictEqual(await completed.ended, 0, completed.stderr())
    assert.match(completed.stderr(), /The step run .* has completed/)

    const second = await started()
    const third = await started()
    second.open(7)
    third.open(0)
    const failed = startWorker("--once", "--unlink", "--capacity", "4")
    assert.strictEqual(await failed.ended, 5)
    assert.match(failed.stderr(), /did not complete: ROBOT_FAILURE: the task ended with exit code 7/)
    const [waiting] = await third.stepRuns()
    assert.strictEqual(waiting?.state, "awaiting_worker")
    assert.deepStrictEqual(await client(Stream.runCollect(Workers.stream())), [])
  })

  it("names the flag that cannot be used", async () => {
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["--label", "two words"], /--label or SIGNALBOX_LABELS: Expected letters, digits.*, not "two words"/],
      [
        ["--limit-memory", "much"],
        /--limit-memory or SIGNALBOX_LIMIT_MEMORY: Expected a size, such as 2GB, not "much"/
      ],
      [["--limit-cpu", "0"], /--limit-cpu or SIGNALBOX_LIMIT_CPU: Expected a number of seconds/],
      [["--drain-seconds", "1h"], /--drain-seconds or SIGNALBOX_DRAIN_SECONDS: Expected a number of seconds/]
    ]
    for (const [args, message] of cases) {
      const { status, stderr } = await signalbox(["worker", "start", "--url", "http://127.0.0.1:1", ...args])
      assert.strictEqual(status, 1, stderr)
      assert.match(stderr, message)
    }
  })
})
