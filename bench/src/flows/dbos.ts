/**
 * The same flow with DBOS, on the Postgres of the first argument.
 */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { describe, double, serve } from "./Contender.ts"

const twoSteps = DBOS.registerWorkflow(
  async (n: number) => {
    const { doubled } = await DBOS.runStep(() => Promise.resolve(double(n)), { name: "double" })
    return await DBOS.runStep(() => Promise.resolve(describe(doubled)), { name: "describe" })
  },
  { name: "twoSteps" }
)

DBOS.setConfig({ name: "bench", systemDatabaseUrl: process.argv[2] ?? "", logLevel: "error" })
await DBOS.launch()
serve(async (n, salt) => {
  const handle = await DBOS.startWorkflow(twoSteps, { workflowID: `${salt}/${n}` })(n)
  return handle.getResult()
})
