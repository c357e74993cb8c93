/** Workflows of DBOS that sleep for hours, on the Postgres of the first argument; more of them with each task. */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { serve } from "../harness/Program.ts"
import type { Task } from "./waiting.ts"

const sleeping = DBOS.registerWorkflow(() => DBOS.sleep(12 * 3_600_000), { name: "sleeping" })

DBOS.setConfig({ name: "bench", systemDatabaseUrl: process.argv[2] ?? "", logLevel: "error" })
await DBOS.launch()
serve(async ({ submit }: Task) => {
  let left = submit
  const some = async () => {
    while (left-- > 0) await DBOS.startWorkflow(sleeping, { workflowID: crypto.randomUUID() })()
  }
  await Promise.all(Array.from({ length: 32 }, some))
  return null
})
