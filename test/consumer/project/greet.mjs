// Runs a process on the control room of the given credentials, by the client with promises. Fails unless the output is right.
import { connect } from "@signalbox/api/promise"
import { strictEqual } from "node:assert"

export const greet = async ({ api_key, base_url, workspace_id }) => {
  const room = connect({ baseUrl: base_url, apiKey: api_key, workspaceId: workspace_id })
  const process = await room.processes.put({ name: "hello", steps: [{ name: "greet", task: { name: "greet" } }] })
  const run = await room.processRuns.start(process.id, { payloads: [{ name: "Ada" }] })
  await room.processRuns.awaitEnd(run.id, { timeout: "1 minute" })
  const outputs = []
  for await (const output of room.outputs.stream(run.id)) outputs.push(output.payload)
  await room.close()
  strictEqual(JSON.stringify(outputs), '[{"greeting":"Hello, Ada"}]')
}
