/**
 * How a run is followed from the command line: `run --wait`, `runs watch`, `runs logs --follow`.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("watching")
const data = join(folder, "data")
const gate = join(folder, "gate")

// Writes two lines, the second one when the file `gate` is there.
writeFileSync(
  join(folder, "tasks.ts"),
  `import { existsSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import * as Effect from ${JSON.stringify(import.meta.resolve("effect/Effect"))}
import * as Schema from ${JSON.stringify(import.meta.resolve("effect/Schema"))}
import * as Task from ${JSON.stringify(import.meta.resolve("@signalbox/worker/Task"))}
import { defineTask } from ${JSON.stringify(import.meta.resolve("@signalbox/worker/Promises"))}
const floods = defineTask({
  name: "floods",
  run: ({ log }) => {
    for (let n = 0; n < 4_000; n++) log("x".repeat(1_000))
  }
})
export const tasks = [floods, Task.make("gated", {
  input: Schema.Json,
  output: Schema.Json,
  run: () => Effect.gen(function* () {
    yield* Effect.logInfo("before the gate")
    while (!existsSync(${JSON.stringify(gate)})) yield* Effect.promise(() => setTimeout(20))
    yield* Effect.logInfo("behind the gate")
    return {}
  })
})]
`
)

const signalbox = (line: string) => Cli.signalbox([...line.split(" "), "--data", data])

let room: Cli.RoomHere
beforeAll(async () => {
  room = await Cli.upHere(data, ["--tasks", join(folder, "tasks.ts")])
  await signalbox("processes create gated --task gated")
  await signalbox("processes create unheard --task unheard")
  await signalbox("processes create floods --task floods")
})
afterAll(async () => {
  await room.end()
  remove()
})

const started = async (process: string) => String(JSON.parse((await signalbox(`run ${process} --json`)).stdout).id)
const open = () => writeFileSync(gate, "")

// One story: the gate of the first run is opened once.
describe("a run", { shuffle: false }, () => {
  it("is followed with its console messages and its changes until it has ended", async () => {
    const id = await started("gated")
    const logs = signalbox(`runs logs ${id} --follow --json`)
    const watched = signalbox(`runs watch ${id} --json`)
    while (!(await signalbox(`runs logs ${id}`)).stdout.includes("before the gate")) await setTimeout(20)
    // Several polls, of which each finds the same message.
    assert.strictEqual(await Promise.race([logs, watched, setTimeout(2500, "followed")]), "followed")
    open()

    const messages = (await logs).lines.map((line) => JSON.parse(line))
    const text = messages.map(({ message }) => message).join("\n")
    assert.match(text, /before the gate[^]*behind the gate/)
    assert.strictEqual(text.match(/before the gate/g)?.length, 1)
    assert.include((await signalbox(`runs logs ${messages[0].step_run.id}`)).stdout, "behind the gate")

    const changes = (await watched).lines.map((line) => JSON.parse(line))
    assert.strictEqual(changes.at(-1).run.state, "completed")
    assert.includeMembers(
      changes.map((change) => change.step_run?.state),
      ["completed"]
    )
  })

  it("that is waited for says how it goes on standard error, and its result on standard output", async () => {
    open()
    const run = await signalbox("run gated --wait --json")
    assert.strictEqual(run.status, 0, run.stderr)
    assert.strictEqual(run.lines.length, 1)
    const { id } = JSON.parse(run.stdout)
    assert.match(run.stderr, new RegExp(`^${id} +completed`, "m"))
    assert.match(run.stderr, /completed.* gated$/m)
  })

  it("that is not waited for any longer goes on, and it says how to watch and to end it", async () => {
    const run = await Cli.signalbox(["run", "unheard", "--wait", "--timeout", "200 millis", "--data", data])
    assert.deepStrictEqual([run.status, run.stdout], [1, ""])
    const last = run.stderr.trim().split("\n").at(-1) ?? ""
    const [, id = ""] =
      /^signalbox: the run (\S+) has not ended within 200ms, and continues: watch it with `signalbox runs watch \1`, stop it with `signalbox runs stop \1`; the step "\S+" waits for a worker: all matching workers may be busy; .*$/.exec(
        last
      ) ?? assert.fail(run.stderr)
    assert.notMatch((await signalbox(`runs show ${id}`)).stdout, /completed|unresolved/)
    assert.strictEqual((await signalbox(`runs stop ${id}`)).status, 0)
  })

  it("starts with the items that wait, and without any is not started", async () => {
    open()
    const none = await signalbox("run gated --inputs --wait")
    assert.strictEqual(none.status, 4)
    assert.match(none.stderr, /no items wait in the process; create one with `signalbox items create`/)
    const made = [
      await signalbox("items create gated --payload 1 --json"),
      await signalbox("items create gated --json")
    ]
    const run = await signalbox("run gated --inputs --wait --json")
    assert.strictEqual(run.status, 0, run.stderr)
    const { lines } = await signalbox(`items list --run ${JSON.parse(run.stdout).id} --json`)
    assert.sameMembers(
      lines.map((line) => JSON.parse(line).id),
      made.map(({ stdout }) => JSON.parse(stdout).id)
    )
  })

  it("whose log is incomplete is shown with how many lines are missing, and why", async () => {
    const { id } = JSON.parse((await signalbox("run floods --wait --json")).stdout)
    const { step_runs } = JSON.parse((await signalbox(`runs show ${id} --json`)).stdout)
    const said = /\d+ lines of the log were dropped: the task wrote them faster than the service received them/
    assert.match(step_runs[0].log_incomplete, said)
    assert.match(
      (await signalbox(`runs show ${id}`)).stdout,
      new RegExp(`\n {4}the log is incomplete, but the task was not affected: ${said.source}\n`)
    )
    open()
    const whole = JSON.parse((await signalbox("run gated --wait --json")).stdout).id
    assert.isNull(JSON.parse((await signalbox(`runs show ${whole} --json`)).stdout).step_runs[0].log_incomplete)
    assert.notInclude((await signalbox(`runs show ${whole}`)).stdout, "incomplete")
  })

  it("that has ended can be deleted", async () => {
    const { id } = JSON.parse((await signalbox("run gated --wait --json")).stdout)
    assert.match((await signalbox(`runs delete ${id}`)).stdout, /^deleted run/)
    assert.strictEqual((await signalbox(`runs show ${id}`)).status, 1)
  })
})
