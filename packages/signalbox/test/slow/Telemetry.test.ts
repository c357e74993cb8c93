/** What is sent to a collector, and what never is. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@signalbox/platform/NodeHttpClient"
import { ProcessId, ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import { zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Otlp from "effect/observability/Otlp"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { join } from "node:path"
import { clientOf, loadedFile, succeed, tasksFile, temporaryFolder, unbundled, up, upHere } from "../support/Cli.ts"
import { stepRuns, upload } from "../support/Robots.ts"

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

interface Span {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
}

/** All spans that were received. */
const spansOf = (received: ReadonlyArray<Received>): ReadonlyArray<Span> =>
  received
    .filter(({ path }) => path === "/v1/traces")
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ resource, scopeSpans }) => {
      const attribute = resource.attributes.find(({ key }: { readonly key: string }) => key === "service.name")
      return scopeSpans
        .flatMap(({ spans }: { readonly spans: ReadonlyArray<Span> }) => spans)
        .map((span: Span) => ({ ...span, service: attribute.value.stringValue }))
    })

/** A step of a flow that starts a run of this process, and waits for its end. */
const traced = Flow.make("traced", {
  version: 1,
  input: Schema.Struct({ process: ProcessId }),
  success: Schema.String,
  error: Schema.Union([Steps.startRun.error, Steps.awaitCompletion.error]),
  idempotencyKey: () => "once",
  run: Effect.fnUntraced(function* ({ process }) {
    const run = yield* Steps.startRun({ process, payloads: [{ name: "payload-of-a-person" }] })
    yield* Steps.awaitCompletion({ run })
    return run
  })
})

describe("OTLP", () => {
  it("has a flow, its requests, the service, the worker and its robot in one trace", async () => {
    const { folder, remove } = temporaryFolder("trace")
    const { close, received, url } = await collector()
    const env = (name: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: name })
    const data = join(folder, "data")
    const room = await upHere(data, ["--workers", "0"], env("room"))
    const origin = new URL(room.ready.base_url).origin
    const client = clientOf(room.ready)
    const process = await Effect.runPromise(
      Effect.gen(function* () {
        const yaml = "tasks:\n  print:\n    command: [node, -e, 'console.log(process.env.TRACEPARENT)']\n"
        const id = yield* upload("printer", yield* zipOf({ "robot.yaml": yaml }))
        const task = { name: "print", package_id: id }
        return (yield* Processes.put({ name: "traced", steps: [{ name: "only", task }] })).id
      }).pipe(Effect.provide(client))
    )
    const token = (await succeed(["worker", "link-token", "--data", data])).stdout.trim()
    const worker = succeed(
      ["worker", "start", "--url", origin, "--link-token", token, "--data", join(folder, "w"), "--once"],
      { env: env("worker") }
    )
    const telemetry = Otlp.layerJson({ baseUrl: url, resource: { serviceName: "flows" } }).pipe(
      Layer.provide(NodeHttpClient.layerUndici)
    )
    const lines = await Effect.runPromise(
      Effect.gen(function* () {
        const run = yield* Effect.provide(Flow.run(traced, { process }), telemetry)
        return (yield* stepRuns(ProcessRunId.make(run))).flatMap((one) => one.console)
      }).pipe(Effect.provide(client))
    )
    await worker
    assert.strictEqual(await room.end(), 0)
    close()

    const spans = spansOf(received)
    const shown = ({ name, service }: Span) => `${service}: ${name}`
    const step = spans.find(({ name }) => name === "step run") ?? assert.fail("no span of the step run")
    assert.strictEqual(step.service, "worker")
    const above: Array<Span> = []
    for (let span: Span | undefined = step; span !== undefined;) {
      const parent: string | undefined = span.parentSpanId
      span = spans.find(({ spanId, traceId }) => spanId === parent && traceId === step.traceId)
      if (span !== undefined) above.push(span)
    }
    assert.deepStrictEqual(above.map(shown), [
      "room: POST",
      "flows: POST",
      "flows: ProcessRuns.start",
      "flows: step startRun",
      "flows: flow traced"
    ])
    // What the worker does for the step run is below it, in both.
    const below = spans.filter(({ parentSpanId }) => parentSpanId === step.spanId).map(shown)
    assert.isTrue(
      below.some((name) => name.startsWith("worker: POST")),
      below.join(", ")
    )
    assert.include(lines.join("\n"), `00-${step.traceId}-${step.spanId}-01`)

    // Polls, several each second, are not sent.
    assert.deepStrictEqual(
      spans.filter(({ name }) => name.endsWith(".tick")),
      []
    )

    const sent = received.map(({ body }) => body).join("\n")
    assert.notMatch(sent, /sb[klrwa]_[0-9a-f-]{36}_[\w-]{20}/)
    for (const secret of [token, room.ready.api_key, "payload-of-a-person"]) assert.notInclude(sent, secret)
    // Addresses of files and forms for uploads are signed.
    assert.notMatch(sent, /[?&](signature|token)=(?!REDACTED)/i)
    remove()
  })

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
      const room = await up(data, [], { ...env, ...loading }, unbundled)
      await fetch(room.ready.base_url)
      assert.strictEqual(await room.end(), 0)
      // Nor modules of other commands.
      assert.match(room.stderr(), /commands\/host\/Up\.ts/)
      assert.notMatch(room.stderr(), /TelemetryExport|observability\/Otlp|commands\/(?!host\/Up)|internal\/apply/)
    }
    const room = await up(data, [], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/own`, ...loading }, unbundled)
    await fetch(room.ready.base_url)
    assert.strictEqual(await room.end(), 0)
    assert.match(room.stderr(), /TelemetryExport/)
    close()
    assert.deepStrictEqual([...new Set(received.map(({ path }) => path))], ["/own"])
    remove()
  })
})
