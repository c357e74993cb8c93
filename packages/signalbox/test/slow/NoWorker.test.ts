/** A run that no worker can take, seen from the command line: the room waits ten seconds before it says so. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as Cli from "../support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("no-worker")
const data = join(folder, "data")
const signalbox = (...args: ReadonlyArray<string>) => Cli.signalbox([...args, "--data", data])
let room: Cli.RoomHere

beforeAll(async () => {
  room = await Cli.upHere(data, ["--tasks", Cli.tasksFile])
})

afterAll(async () => {
  await room.end()
  remove()
})

describe("signalbox run", () => {
  it("that no worker can take is shown with what is missing and the remedy", async () => {
    const file = join(folder, "unheard.yaml")
    writeFileSync(file, "processes: { unheard: { steps: [{ name: wait, task: { name: unheard of } }] } }\n")
    assert.strictEqual((await signalbox("apply", file)).status, 0)
    const { id } = JSON.parse((await signalbox("run", "unheard", "--json")).stdout)
    const show = async () => JSON.parse((await signalbox("runs", "show", id, "--json")).stdout)
    const watched = signalbox("runs", "watch", id)
    while ((await show()).step_runs[0].no_worker === null) await setTimeout(100)
    assert.match(
      (await signalbox("runs", "show", id)).stdout,
      /awaiting_worker[^]*\n {4}no worker that is online has the task "unheard of"; start one with a tasks file that defines it\n/
    )
    // So long after it was said, the watch has seen it.
    await setTimeout(2200)
    assert.strictEqual((await signalbox("runs", "stop", id)).status, 0)
    assert.match((await watched).stdout, /\n {4}no worker that is online has the task "unheard of"[^]*unresolved/)
    assert.notInclude((await signalbox("runs", "show", id)).stdout, "no worker")
  })
})
