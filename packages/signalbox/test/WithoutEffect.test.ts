/** The page about programs without Effect: its code is compiled, its test runs, and its tasks are given to the command. */
import { connect } from "@signalbox/api/promise"
import { openFlows } from "@signalbox/flows/Promises"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { makeRoom } from "../src/Vitest.ts"
import { priceOrders } from "./examples/without/client.ts"
import { nightly } from "./examples/without/flow.ts"
import { tasks } from "./examples/without/tasks.ts"
import * as Cli from "./support/Cli.ts"

const folder = join(import.meta.dirname, "examples", "without")

describe("the page about programs without Effect", () => {
  it("has the code that is compiled here", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../docs/without-effect.md"), "utf8")
    for (const name of ["tasks", "client", "flow", "Orders.test"]) {
      assert.include(
        page,
        `\`\`\`ts title="${name}.ts"\n${readFileSync(join(folder, `${name}.ts`), "utf8")}\`\`\`\n`,
        name
      )
    }
  })

  it("has tasks that `up --tasks` runs, and a client for it", async () => {
    const data = mkdtempSync(join(tmpdir(), "signalbox-without-"))
    const up = await Cli.upHere(join(data, "room"), ["--tasks", join(folder, "tasks.ts")])
    try {
      const { api_key, base_url, workspace_id } = up.ready
      const room = connect({ baseUrl: base_url, apiKey: api_key, workspaceId: workspace_id })
      const totals = await priceOrders(room, new File(["lamp,2\nchair,1\n"], "orders.csv"), AbortSignal.timeout(60_000))
      assert.sameDeepMembers(totals, [{ total: 60 }, { total: 80 }])
      await room.close()
    } finally {
      await up.end()
      rmSync(data, { recursive: true, force: true })
    }
  })

  it("has a flow that waits for a run, and continues the same execution for the same order", async () => {
    await using room = await makeRoom({ tasks, virtualTime: false })
    await room.client.assets.put("prices", new File([JSON.stringify({ chair: 80 })], "prices.json"))
    const process = await room.client.processes.put({
      name: "price",
      steps: [{ name: "price", task: { name: "price" } }]
    })
    const flows = await openFlows({ memory: true, flows: [nightly], layer: room.layer })
    const order = { process: process.id, order: { article: "chair", pieces: 3 } }
    const id = await flows.submit(nightly, order)
    assert.strictEqual(await flows.submit(nightly, order), id)
    assert.deepStrictEqual(await flows.execute(nightly, order), [{ total: 240 }])
    assert.strictEqual((await flows.handle(nightly, JSON.stringify(order.order))).id, id)
    await flows.close()
  })
})
