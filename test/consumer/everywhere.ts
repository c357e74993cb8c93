/**
 * The client in each runtime: the programs of `project/everywhere`, the same text in all of them, against one room. The page is of
 * another origin than the room, as pages are.
 */
import { spawn } from "node:child_process"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { root } from "../../tooling/src/tarballs.ts"
import { type Consumer, expected } from "./consumer.ts"
import { up } from "./rooms.ts"

/** A webhook as a room sends it, signed now. */
const deliveryOf = (key: string) => {
  const [id, timestamp] = ["event-1", String(Math.floor(Date.now() / 1_000))]
  const body = JSON.stringify({
    id,
    webhookEventTimestamp: "2026-11-20T00:00:00.000Z",
    event: "process_run",
    action: "completed",
    payload: { workspaceId: "w", processId: "p", processRunId: "r", state: "completed" }
  })
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
  return {
    headers: { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` },
    body,
    secret: `whsec_${Buffer.from(key).toString("base64")}`
  }
}

const givenOf = (room: string) => {
  const { api_key: apiKey, base_url: baseUrl, workspace_id: workspaceId } = JSON.parse(room)
  return JSON.stringify({ room: { baseUrl, apiKey, workspaceId }, delivery: deliveryOf("a key of webhooks") })
}

/** Serves the page and what it is given, once that is known. */
const startPage = async (script: string) => {
  let given = ""
  const bodies: Readonly<Record<string, () => readonly [type: string, body: string]>> = {
    "/": () => [
      "text/html",
      '<!doctype html><link rel="icon" href="data:,"><script type="module" src="page.js"></script>'
    ],
    "/page.js": () => ["text/javascript", readFileSync(script, "utf8")],
    "/given.json": () => ["application/json", given]
  }
  const server = createServer(({ url = "" }, response) => {
    const [type, body] = bodies[url]?.() ?? ["text/plain", ""]
    response.writeHead(body === "" ? 404 : 200, { "content-type": type }).end(body)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the page has no port")
  return {
    origin: `http://127.0.0.1:${address.port}`,
    give: (text: string) => (given = text),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const visit = join(root, "packages/console/test/browser/visit.ts")

/** Runs a program in each runtime, all of them at once. */
const runAll = async (runtimes: Readonly<Record<string, () => Promise<unknown>>>) => {
  const failures = await Promise.all(
    Object.entries(runtimes).map(([name, run]) =>
      run().then(
        () => [],
        (error: unknown) => [`${name}: ${String(error)}`]
      )
    )
  )
  if (failures.flat().length > 0) throw new Error(failures.flat().join("\n"))
}

/** Those that have the modules of Node. */
const servers = ({ bin, sh }: Consumer, program: string, GIVEN: string) => ({
  Node: () => sh(process.execPath, [program], { GIVEN }),
  Deno: () => sh(bin("deno"), ["run", "-A", program], { GIVEN }),
  Bun: () => sh(bin("bun"), [program], { GIVEN })
})

/** What is tested has its place in the tables of these pages. */
const namesVersions = (versions: Readonly<Record<string, string>>) => {
  const tested = {
    Node: process.versions.node,
    Deno: versions["deno"],
    Bun: versions["bun"],
    Workers: versions["workerd"]
  }
  for (const page of ["packages/api/README.md", "docs/without-effect.md"]) {
    const cells = readFileSync(join(root, page), "utf8")
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()))
    for (const [name, version] of Object.entries(tested))
      expected(`the version of ${name} in ${page}`, cells.find(([, first]) => first === name)?.[2], version)
  }
}

/** Bundles a program, as for a page. */
const bundle = ({ bin, sh }: Consumer, program: string, file: string) =>
  sh(bin("rolldown"), [`everywhere/${program}.ts`, "--platform=browser", `--file=everywhere/${file}.js`])

/** Runs what was bundled as `worker`. */
const workers = ({ bin, sh }: Consumer, GIVEN: string) =>
  sh(bin("workerd"), ["test", "everywhere/worker.capnp"], { GIVEN })

/** Runs the programs of the client in Node, Deno, Bun, Workers and a browser. */
export const everywhere = async (consumer: Consumer, versions: Readonly<Record<string, string>>) => {
  namesVersions(versions)
  const { binary, folder, sh } = consumer
  await Promise.all([bundle(consumer, "page", "page"), bundle(consumer, "worker", "worker")])
  await using page = await startPage(join(folder, "everywhere/page.js"))
  const inBrowser = async () => {
    const title = await sh(process.execPath, [visit, page.origin])
    expected("the title of the page", title.trim(), "passed")
  }
  const programs = (room: string) => {
    const GIVEN = givenOf(room)
    page.give(GIVEN)
    return runAll({
      ...servers(consumer, "everywhere/main.ts", GIVEN),
      Workers: () => workers(consumer, GIVEN),
      "a browser": inBrowser
    })
  }
  await up(consumer, process.execPath, [binary], programs, { SIGNALBOX_CORS: page.origin })
}

/** Runs the programs of the graph against a sandbox: with promises in Node, Deno and Bun, with Effect in Workers. */
export const graphEverywhere = async (consumer: Consumer) => {
  const { binary, environment, folder } = consumer
  const sandbox = spawn(process.execPath, [binary, "graph-sandbox", "--port=0", "--json"], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "inherit"]
  })
  try {
    const [line] = await once(createInterface(sandbox.stdout), "line")
    await bundle(consumer, "graphWorker", "worker")
    await runAll({
      ...servers(consumer, "everywhere/graph.ts", String(line)),
      Workers: () => workers(consumer, String(line))
    })
  } finally {
    sandbox.kill()
  }
}
