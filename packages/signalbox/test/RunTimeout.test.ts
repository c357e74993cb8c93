/** What the end of a wait says of a run that waits itself. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("run-timeout")
const data = join(folder, "data")
let room: Cli.RoomHere

beforeAll(async () => {
  room = await Cli.upHere(data, ["--workers", "0"])
  await Cli.succeed(["processes", "create", "orders", "--task", "read", "--data", data])
})
afterAll(async () => {
  await room.end()
  remove()
})

describe("signalbox run --wait --timeout", () => {
  it("says that no worker is online before the control room reports it", async () => {
    const run = await Cli.signalbox(["run", "orders", "--wait", "--timeout", "200 millis", "--data", data])
    assert.strictEqual(run.status, 1)
    assert.match(
      run.stderr,
      /has not ended within 200ms, .*; no worker is online, and the step "read" waits for one; start one with `signalbox worker start`\n$/
    )
  })
})
