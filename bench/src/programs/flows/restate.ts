/**
 * The same flows with Restate: its server, on its own storage in the folder of the first argument, is a child of this
 * process, which serves the handler and calls it through the ingress.
 */
import * as restate from "@restatedev/restate-sdk"
import { freePort } from "@signalbox/testkit/FreePort"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { add, compete, numbers, sum } from "./Contender.ts"

const [ingress, admin, node, service] = [await freePort(), await freePort(), await freePort(), await freePort()]
const next = (context: restate.Context, n: number) => context.run("next", () => add(n))
const flows = restate.service({
  name: "flows",
  handlers: {
    chain: async (context: restate.Context, size: number) => {
      let at = 0
      for (let n = 0; n < size; n++) at = await next(context, at)
      return at
    },
    fan: async (context: restate.Context, size: number) =>
      sum(await restate.RestatePromise.all(numbers(size).map((n) => next(context, n))))
  }
})
await restate.serve({ services: [flows], port: service, logger: () => {} })

const program = createRequire(import.meta.url).resolve("@restatedev/restate-server/lib/index.js")
const server = spawn(process.execPath, [program, "--base-dir", process.argv[2] ?? ""], {
  stdio: ["ignore", "ignore", "inherit"],
  env: {
    ...process.env,
    DO_NOT_TRACK: "1",
    RESTATE_LOG_FILTER: "error,octocrab=off",
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`
  }
})
const serverEnded = once(server, "exit")

const send = async (url: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

const isUp = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false
  )
const pause = () => new Promise((resolve) => setTimeout(resolve, 100))
while (!(await isUp(`http://127.0.0.1:${admin}/health`))) await pause()
await send(`http://127.0.0.1:${admin}/deployments`, { uri: `http://127.0.0.1:${service}` })
while (!(await isUp(`http://127.0.0.1:${ingress}/restate/health`))) await pause()

compete(
  (shape, size, key) => send(`http://127.0.0.1:${ingress}/flows/${shape}`, size, { "idempotency-key": key }),
  () => {
    server.kill()
    return serverEnded
  }
)
