/** Files of robots in the console: what is shown, as what, and to whom. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assertError } from "./support/Http.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** The paths in the console of a failed robot's files, by their names. */
const robotFiles = Effect.fnUntraced(function* (files: Readonly<Record<string, Uint8Array>>, more: object = {}) {
  const { origin } = yield* Service
  const task = `files ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name: task, steps: [{ name: "s", task: { name: task } }], ...more })
  yield* ProcessRuns.start(process.id)
  const worker = yield* linkWorker([task])
  const { lease } = yield* worker.take
  const reports = yield* WorkerProtocol.makeReports(origin, worker.identity)
  for (const [name, content] of Object.entries(files)) {
    yield* reports.uploadArtifact(lease, { name, size: content.length, stream: Stream.succeed(content) })
  }
  const listed = yield* Stream.runCollect(StepRuns.artifacts(lease.step_run_id))
  return (name: string) => `/console/files/${listed.find((file) => file.name === name)?.id ?? assert.fail(name)}`
})

const signedIn = Effect.fnUntraced(function* (permissions: ReadonlyArray<Permission>, workspace?: "other") {
  const { makeKey, makeWorkspace, raw } = yield* Service
  const key = yield* makeKey(permissions, ...(workspace === undefined ? [] : [yield* makeWorkspace]))
  const headers = { "sec-fetch-site": "same-origin", "x-signalbox-console": "1" }
  const opened = yield* raw("POST", "/console/session", { key: null, json: { key }, headers })
  const cookie = opened.headers["set-cookie"]?.split(";")[0] ?? ""
  return (path: string, more: Readonly<Record<string, string>> = {}) =>
    raw("GET", path, { key: null, headers: { cookie, "sec-fetch-site": "same-origin", ...more } })
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a file of a robot", (it) => {
  it.effect("that is its log runs in an origin of its own, without network, in a frame of the console alone", () =>
    Effect.gen(function* () {
      const pathOf = yield* robotFiles({ "log.html": bytes("<script>alert(1)</script>") })
      const get = yield* signedIn(["Processes.read_run_outputs"])
      const shown = yield* get(pathOf("log.html"), { "sec-fetch-dest": "iframe" })
      assert.strictEqual(shown.status, 200, shown.text)
      assert.strictEqual(shown.text, "<script>alert(1)</script>")
      assert.strictEqual(shown.headers["content-type"], "text/html; charset=utf-8")
      assert.strictEqual(shown.headers["content-disposition"], "inline")
      const policy = shown.headers["content-security-policy"] ?? ""
      assert.match(policy, /^sandbox allow-scripts; default-src 'none';/)
      assert.include(policy, "frame-ancestors 'self'")
      assert.notMatch(policy, /allow-same-origin|connect-src|https?:/)
      const opened = yield* get(pathOf("log.html"), { "sec-fetch-dest": "document" })
      assert.match(opened.headers["content-disposition"] ?? "", /^attachment/)
    })
  )

  it.effect("of a process with secret fields is shown to who may see them alone", () =>
    Effect.gen(function* () {
      const pathOf = yield* robotFiles({ "log.txt": bytes("secret") }, { sensitive: ["/ssn"] })
      const hidden = yield* signedIn(["Processes.read_run_outputs"])
      assertError(yield* hidden(pathOf("log.txt")), 403, "FORBIDDEN", /Processes\.read_sensitive/)
      const shown = yield* signedIn(["Processes.read_run_outputs", "Processes.read_sensitive"])
      assert.strictEqual((yield* shown(pathOf("log.txt"))).text, "secret")
    })
  )

  it.effect("is shown as its name says, whatever is in it, and nothing else is shown", () =>
    Effect.gen(function* () {
      const evil = bytes("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
      const large = bytes("x".repeat(1024 * 1024 + 1))
      const pathOf = yield* robotFiles({
        "shots/1.PNG": evil,
        "a.jpeg": evil,
        "b.webp": evil,
        "c.json": evil,
        "d.svg": evil,
        "e.xhtml": evil,
        "f.js": evil,
        'g"; filename=x.exe': evil,
        "h.txt": large
      })
      const get = yield* signedIn(["Processes.read_run_outputs"])
      const types = {
        "shots/1.PNG": "image/png",
        "a.jpeg": "image/jpeg",
        "b.webp": "image/webp",
        "c.json": "text/plain; charset=utf-8"
      }
      for (const [name, type] of Object.entries(types)) {
        const { headers } = yield* get(pathOf(name))
        assert.deepStrictEqual([headers["content-type"], headers["content-disposition"]], [type, "inline"], name)
        assert.strictEqual(headers["x-content-type-options"], "nosniff")
        assert.match(headers["content-security-policy"] ?? "", /^sandbox; default-src 'none'/)
      }
      for (const name of ["d.svg", "e.xhtml", "f.js", 'g"; filename=x.exe', "h.txt"]) {
        const { headers } = yield* get(pathOf(name))
        assert.strictEqual(headers["content-type"], "application/octet-stream", name)
        assert.match(headers["content-disposition"] ?? "", /^attachment; filename\*=UTF-8''[\w.%-]+$/, name)
      }
    })
  )

  it.effect("is for sessions of its workspace that may read it, and for pages of the console", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const pathOf = yield* robotFiles({ "log.html": bytes("log") })
      const path = pathOf("log.html")
      assertError(yield* raw("GET", path), 401, "UNAUTHENTICATED", /no session/)
      const blind = yield* signedIn(Permission.literals.filter((one) => one !== "Processes.read_run_outputs"))
      assertError(yield* blind(path), 403, "FORBIDDEN", /Processes.read_run_outputs/)
      const stranger = yield* signedIn(Permission.literals, "other")
      assertError(yield* stranger(path), 404, "NOT_FOUND", /the file does not exist/)
      const get = yield* signedIn(Permission.literals)
      assertError(
        yield* get(path, { "sec-fetch-site": "cross-site" }),
        403,
        "FORBIDDEN",
        /only for pages of the console/
      )
      assertError(yield* get("/console/files/nothing"), 404, "NOT_FOUND", /the file does not exist/)
      assert.strictEqual((yield* raw("POST", path)).status, 405)
    })
  )
})
