/** The same flows with DBOS, on the Postgres of the first argument. */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { add, compete, numbers, sum } from "./Contender.ts"

const next = (n: number) => DBOS.runStep(() => Promise.resolve(add(n)), { name: "next" })

const chain = DBOS.registerWorkflow(
  async (size: number) => {
    let at = 0
    for (let n = 0; n < size; n++) at = await next(at)
    return at
  },
  { name: "chain" }
)
const fan = DBOS.registerWorkflow(async (size: number) => sum(await Promise.all(numbers(size).map(next))), {
  name: "fan"
})

DBOS.setConfig({ name: "bench", systemDatabaseUrl: process.argv[2] ?? "", logLevel: "error" })
await DBOS.launch()
const flows = { chain, fan }
compete(
  async (shape, size, key) => {
    const handle = await DBOS.startWorkflow(flows[shape], { workflowID: key })(size)
    return handle.getResult()
  },
  () => DBOS.shutdown()
)
