/** What is sent to a collector, and what never is. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { join } from "node:path"
import { loadedFile, succeed, tasksFile, temporaryFolder, up } from "./support/Cli.ts"

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A collector that accepts everything. */
const collector = () =>
  new Promise<{ readonly url: string; readonly received: ReadonlyArray<Received>; readonly close: () => void }>(
    (resolve) => {
      const received: Array<Received> = []
      const server = createServer((request, response) => {
        let body = ""
        request.on("data", (chunk: Buffer) => (body += chunk.toString()))
        request.on("end", () => {
          received.push({ path: request.url ?? "", headers: request.headers, body })
          response.setHeader("content-type", "application/json").end("{}")
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resolve({ url: `http://127.0.0.1:${port}`, received, close: () => server.close() })
      })
    }
  )

const busy = async (data: string, note: string) => {
  const run = await succeed([
    "run",
    "greeting",
    "--payload",
    '{"name":"payload-of-a-person"}',
    "--file",
    note,
    "--wait",
    "--json",
    "--data",
    data
  ])
  const [item] = (await succeed(["items", "list", "--run", JSON.parse(run.stdout).id, "--json", "--data", data])).lines
  const shown = await succeed(["items", "show", JSON.parse(item ?? "").id, "--json", "--data", data])
  const url: string = JSON.parse(shown.stdout).files[0].download.url
  assert.strictEqual(await (await fetch(url)).text(), "content-of-a-note")
  return url
}

describe("OTLP", () => {
  it("takes traces, metrics and logs to the collector, with its headers and the name of the service, and no secret", async () => {
    const { folder, remove } = temporaryFolder("telemetry")
    const { close, received, url } = await collector()
    const data = join(folder, "data")
    const room = await up(data, ["--tasks", tasksFile, "--cors", "*"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=signal%20box",
      OTEL_SERVICE_NAME: "room-1",
      OTEL_BSP_SCHEDULE_DELAY: "200"
    })
    const headers = { authorization: `RC-WSKEY ${room.ready.api_key}`, "content-type": "application/json" }
    const at = `${room.ready.base_url}/workspaces/${room.ready.workspace_id}`
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${at}/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
      assert.strictEqual(response.status, 200, await response.clone().text())
      return response.json()
    }
    await post("processes", { name: "greeting", steps: [{ name: "greet", task: { name: "greet" } }] })
    await post("secrets", { name: "shop", items: { password: "value-of-a-secret" } })
    const made = await post("api-keys", {
      name: "second",
      permissions: ["Processes.trigger_processes", "Processes.read_processes"]
    })
    const { id } = await (await fetch(`${at}/processes`, { headers })).json().then((page) => page.data[0])
    const integration = await fetch(`${at}/processes/${id}/process-runs-integrations?token=${made.key}`, {
      method: "POST",
      body: "{}"
    })
    assert.strictEqual(integration.status, 200)
    const note = join(folder, "note.txt")
    writeFileSync(note, "content-of-a-note")
    const download = await busy(data, note)
    assert.strictEqual(await room.end(), 0)
    close()

    const bodies = (path: string) => received.filter((one) => one.path === path).map(({ body }) => body)
    const traces = bodies("/v1/traces").join("")
    assert.include(traces, "/api/v1/workspaces/:workspace_id/processes")
    assert.include(traces, '"url.path"')
    assert.include(bodies("/v1/metrics").join(""), "signalbox_http_request_seconds")
    assert.match(bodies("/v1/logs").join(""), /CORS is open to every origin/)
    for (const { body, headers } of received) {
      assert.strictEqual(headers["x-tenant"], "signal box")
      assert.include(body, '{"key":"service.name","value":{"stringValue":"room-1"}}')
    }
    // Logs also go to standard error, and nowhere else.
    assert.match(room.stderr(), /level=WARN.*CORS is open/)
    assert.strictEqual(room.stdout().trim().split("\n").length, 1)

    const signature =
      new URL(download).searchParams.get("signature") ?? new URL(download).searchParams.get("token") ?? ""
    assert.isAtLeast(signature.length, 20)
    const secrets = [
      room.ready.api_key.slice(-43),
      made.key.slice(-43),
      signature,
      "value-of-a-secret",
      "payload-of-a-person",
      "content-of-a-note"
    ]
    const sent = received.map(({ body }) => body).join("\n")
    for (const secret of secrets) assert.notInclude(sent, secret)
    // No token of any kind: of workers, links, runs.
    assert.notMatch(sent, /sb[klrwa]_[0-9a-f-]{36}_[\w-]{20}/)
    assert.notMatch(sent, /RC-WSKEY|whsec_/)
    assert.notInclude(sent, readFileSync(join(data, "master.key")).toString("hex"))
    remove()
  })

  it("is off when nothing is set, when it is disabled, and loads nothing then", async () => {
    const { folder, remove } = temporaryFolder("telemetry-off")
    const { close, received, url } = await collector()
    const loading = { NODE_OPTIONS: `--import=${loadedFile}` }
    const data = join(folder, "data")
    for (const env of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: "true" }]) {
      const room = await up(data, [], { ...env, ...loading })
      await fetch(room.ready.base_url)
      assert.strictEqual(await room.end(), 0)
      // Nor modules of other commands.
      assert.match(room.stderr(), /commands\/Up\.ts/)
      assert.notMatch(room.stderr(), /TelemetryExport|observability\/Otlp|commands\/(?!Up)|internal\/apply/)
    }
    const room = await up(data, [], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/own`, ...loading })
    await fetch(room.ready.base_url)
    assert.strictEqual(await room.end(), 0)
    assert.match(room.stderr(), /TelemetryExport/)
    close()
    assert.deepStrictEqual([...new Set(received.map(({ path }) => path))], ["/own"])
    remove()
  })
})
