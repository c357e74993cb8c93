/** The page about programs without Effect: its code is compiled, its test runs, and its tasks are given to the command. */
import { connect } from "@signalbox/api/promise"
import { openFlows } from "@signalbox/flows/Promises"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { makeRoom } from "../src/Vitest.ts"
import { priceOrders } from "./examples/without/client.ts"
import { nightlyOf } from "./examples/without/flow.ts"
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

  it("has a flow that an engine takes, once for each order", async () => {
    await using room = await makeRoom()
    const nightly = nightlyOf(room.client)
    const flows = await openFlows({ memory: true, flows: [nightly] })
    const order = { article: "lamp", pieces: 1 }
    const id = await flows.submit(nightly, order)
    assert.strictEqual(await flows.submit(nightly, order), id)
    assert.strictEqual((await flows.handle(nightly, JSON.stringify(order))).id, id)
    await flows.close()
  })
})
