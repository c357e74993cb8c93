/** `signalbox failures`, `bulk` and `runs rerun`, as people use them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("failures")
const data = join(folder, "data")

let room: Cli.RoomHere
beforeAll(async () => {
  room = await Cli.upHere(data, ["--workers", "0"])
})
afterAll(async () => {
  await room.end()
  remove()
})

const signalbox = (...args: ReadonlyArray<string>) => Cli.signalbox([...args, "--data", data], { env: {} })
const succeed = async (...args: ReadonlyArray<string>) => {
  const ended = await signalbox(...args)
  assert.strictEqual(ended.status, 0, `${args.join(" ")}: ${ended.stderr}`)
  return ended
}
const object = async (...args: ReadonlyArray<string>): Promise<Record<string, unknown>> =>
  JSON.parse((await succeed(...args, "--json")).lines.at(-1) ?? "null")
const field = async (name: string, ...args: ReadonlyArray<string>) => String((await object(...args))[name])

/** A run whose items have failed. */
const failedRun = async (process: string, items: number) => {
  for (let n = 0; n < items; n++) await succeed("items", "create", process, "--payload", String(n))
  const run = await field("id", "run", process, "--inputs")
  await succeed("runs", "stop", run, "--reason", "the power is out")
  return run
}

describe("failures on the command line", () => {
  it("are listed, muted, retried, resolved and opened again", async () => {
    await succeed("processes", "create", "orders", "--task", "nobody")
    const none = await succeed("failures", "list")
    assert.include(none.stderr, "No failures: no work item is failed")
    const run = await failedRun("orders", 2)
    const listed = await succeed("failures", "list", "--process", "orders")
    assert.include(listed.stdout, "orchestrator STOPPED: the power is out")
    const id = await field("id", "failures", "list")
    assert.strictEqual((await object("failures", "show", id))["count"], 2)
    const muted = await object("failures", "mute", id, "--until", "2999-01-01T00:00Z", "--note", "they know")
    assert.strictEqual(muted["muted_until"], "2999-01-01T00:00:00.000Z")
    assert.strictEqual(muted["note"], "they know")
    const refused = await signalbox("failures", "resolve", id)
    assert.strictEqual(refused.status, 1)
    assert.include(refused.stderr, "2 failed work items")
    const retried = await succeed("failures", "retry", id)
    assert.strictEqual(retried.lines.at(-1), "completed: 2 of 2 done")
    const resolved = await object("failures", "resolve", id, "--assignee", "Ada")
    assert.deepStrictEqual([resolved["state"], resolved["assignee"]], ["resolved", "Ada"])
    assert.strictEqual(await field("state", "failures", "reopen", id), "open")
    assert.include((await succeed("failures", "retry", id)).stdout, "no failed work items in this group")
    await succeed("runs", "stop", run)
  })

  it("are settled by a filter, after a count, and everything only when that is said", async () => {
    await succeed("processes", "create", "letters", "--task", "nobody")
    const run = await failedRun("letters", 3)
    const all = await signalbox("bulk", "create", "mark_as_done")
    assert.strictEqual(all.status, 1)
    assert.include(all.stderr, "mark_as_done: add a filter")
    const filter = ["--process", "letters", "--code", "STOPPED"]
    assert.include((await succeed("bulk", "create", "mark_as_done", ...filter, "--dry-run")).stdout, "3 match")
    const done = await succeed("bulk", "create", "mark_as_done", ...filter, "--watch")
    assert.strictEqual(done.lines.at(-1), "completed: 3 of 3 done")
    const job = await field("id", "bulk", "list", "--limit", "1")
    assert.include((await succeed("bulk", "show", job)).stdout, "mark_as_done")
    assert.include((await succeed("bulk", "cancel", job)).stdout, "completed: 3 of 3 done")
    assert.include((await succeed("bulk", "watch", job)).stdout, "completed")
    const again = await field("id", "runs", "rerun", run)
    assert.notStrictEqual(again, run)
    const items = await succeed("items", "list", "--run", again, "--json")
    assert.strictEqual(items.lines.length, 3)
  })
})
