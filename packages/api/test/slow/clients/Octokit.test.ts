/**
 * Programs of examples/clients/room whose shape octokit has too, as they are written with it, against a server with its answers:
 * docs/compare-clients.md counts their lines.
 */
import { assert, describe, it } from "@effect/vitest"
import { startHttpProxy } from "@signalbox/testkit/HttpProxy"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { afterAll, beforeAll, vi } from "vitest"
import * as errors from "./programs/errors.octokit.ts"
import * as ownFetch from "./programs/own-fetch.octokit.ts"
import * as pages from "./programs/pages.octokit.ts"
import * as timeLimits from "./programs/time-limits.octokit.ts"

/** What becomes of the deletion of a repository. */
const refusals: Readonly<Record<string, readonly [status: number, headers: Readonly<Record<string, string>>]>> = {
  missing: [404, {}],
  busy: [409, {}],
  often: [429, { "retry-after": "3600" }],
  foreign: [403, { "x-github-request-id": "req-1" }]
}

/** The few answers of the service that the programs ask for. */
const answer = (request: IncomingMessage, response: ServerResponse) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://github.test")
  const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
  const name = pathname.split("/").at(-1) ?? ""
  if (request.method === "DELETE") {
    const refusal = refusals[name]
    return refusal === undefined
      ? response.writeHead(204).end()
      : send(refusal[0], { message: "not yours" }, refusal[1])
  }
  if (name === "user") return send(200, { login: "ann" })
  if (name === "issues") {
    const page = Number(searchParams.get("page"))
    const data = [1, 2, 3, 4, 5].slice(2 * page - 2, 2 * page).map((number) => ({ number, state: "open" }))
    return send(200, data, page < 3 ? { link: '<http://github.test/next>; rel="next"' } : {})
  }
  return send(200, { id: 7, status: "in_progress", conclusion: null })
}

describe("programs with octokit", () => {
  const seen: Array<IncomingMessage["headers"]> = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    answer(request, response)
  })
  let port = 0
  // Otherwise it waits for seconds before it tries again, and between two requests that change something.
  const options = () => ({
    baseUrl: `http://127.0.0.1:${port}`,
    retry: { enabled: false },
    throttle: { enabled: false }
  })
  beforeAll(async () => {
    vi.spyOn(console, "log").mockImplementation(() => {})
    vi.spyOn(console, "error").mockImplementation(() => {})
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    port = typeof address === "object" && address !== null ? address.port : assert.fail("it does not listen")
  })
  afterAll(() => {
    vi.restoreAllMocks()
    server.closeAllConnections()
    server.close()
  })

  it("read pages, and go on later where they stopped", async () => {
    const first = await pages.main("ann", "invoices", undefined, options())
    assert.deepStrictEqual(first, { ids: [1, 2, 3, 4], later: 3 })
    assert.deepStrictEqual(await pages.main("ann", "invoices", 3, options()), { ids: [5], later: undefined })
  })

  it("tell errors apart", async () => {
    assert.strictEqual(await errors.main("ann", "invoices", options()), "deleted")
    assert.strictEqual(await errors.main("ann", "missing", options()), "there was none")
    assert.strictEqual(await errors.main("ann", "busy", options()), "it is in use")
    assert.strictEqual(await errors.main("ann", "often", options()), "too early, in 3600000 ms again")
    const error = await errors.main("ann", "foreign", options()).catch((error: unknown) => error)
    assert.match(String(error), /not yours/)
    assert.deepStrictEqual(vi.mocked(console.error).mock.lastCall, [403, "not yours", "req-1"])
  })

  it("wait no longer than they want to", async () => {
    const { signal } = new AbortController()
    assert.strictEqual(await timeLimits.main("ann", "invoices", 7, 50, signal, options()), "still running")
  })

  it("end when a person cancels", async () => {
    const abort = new AbortController()
    const waiting = timeLimits.main("ann", "invoices", 7, 60_000, abort.signal, options())
    abort.abort()
    assert.strictEqual(await waiting, "cancelled")
  })

  it("use a fetch of their own, with headers and a name", async () => {
    let calls = 0
    const own: typeof fetch = async (input, init) => {
      calls++
      return fetch(input, init)
    }
    assert.strictEqual(await ownFetch.throughFetch(own, options()), "ann")
    assert.strictEqual(calls, 1)
    assert.strictEqual(seen.at(-1)?.["x-team"], "billing")
    assert.match(seen.at(-1)?.["user-agent"] ?? "", /^invoices\/2\.1 /)
  })

  it("use a proxy", async () => {
    const between = await startHttpProxy({ hosts: { "github.test": port } })
    try {
      const baseUrl = `http://github.test:${port}`
      assert.strictEqual(await ownFetch.throughProxy(between.url, { ...options(), baseUrl }), "ann")
      assert.lengthOf(between.asked(), 1)
    } finally {
      await between.close()
    }
  })
})
