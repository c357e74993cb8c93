/** Files of robots in the console: what is shown, as what, and to whom. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Roles from "@signalbox/api/Roles"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Users from "@signalbox/api/Users"
import * as WorkItems from "@signalbox/api/WorkItems"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assertError } from "./support/Http.ts"
import { member, newLogin, own } from "./support/People.ts"
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

  it.effect("is signed for an hour for a key, and for five minutes for a session", () =>
    Effect.gen(function* () {
      const { key, raw } = yield* Service
      const process = yield* Processes.create({ name: newLogin("p"), steps: [{ name: "s", task: { name: "t" } }] })
      const { id } = yield* WorkItems.create({ process: process.id })
      yield* WorkItems.attachFile(id, { name: "a.txt", bytes: bytes("text") })
      const minutes = (headers: { readonly [K in string]: string }, given: string | null) =>
        Effect.map(raw("GET", `work-items/${id}`, { key: given, headers }), ({ text }) => {
          const expires = Number(new URL(JSON.parse(text).files[0].download.url).searchParams.get("expires"))
          return Math.round((expires - Date.now()) / 60_000)
        })
      const opened = yield* raw("POST", "/console/session", { key: null, json: { key }, headers: own })
      const cookie = opened.headers["set-cookie"]?.split(";")[0] ?? ""
      assert.strictEqual(yield* minutes({}, key), 60)
      assert.strictEqual(yield* minutes({ ...own, cookie }, null), 5)
    })
  )

  // Last: from the first account on, keys open no sessions.
  it.effect("is for people whose role may read it, in each workspace of theirs", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const path = (yield* robotFiles({ "log.html": bytes("log") }))("log.html")
      const as = (cookie: string) => raw("GET", path, { key: null, headers: { ...own, cookie } })
      const viewer = yield* member({ login: newLogin("viewer"), role: "viewer" })
      assert.strictEqual((yield* as(viewer.cookie)).text, "log")
      yield* Roles.put("blind", ["Processes.read_runs"])
      const blind = yield* member({ login: newLogin("blind"), role: "blind" })
      assertError(yield* as(blind.cookie), 403, "FORBIDDEN", /this session lacks the permission/)
      // Another workspace, where the role permits it, lets nobody see files of this one.
      const other = yield* makeWorkspace
      const key = yield* makeKey(Permission.literals, other)
      const joined = yield* raw("POST", `/api/v1/workspaces/${other}/users`, {
        key,
        json: { login: blind.user.login, role: "admin" }
      })
      assert.strictEqual(joined.status, 200, joined.text)
      assertError(yield* as(blind.cookie), 403, "FORBIDDEN", /this session lacks the permission/)
      yield* Users.remove(blind.user.id)
      assertError(yield* as(blind.cookie), 404, "NOT_FOUND", /the file does not exist/)
      yield* Users.update(viewer.user.id, { disabled: true })
      assertError(yield* as(viewer.cookie), 401, "UNAUTHENTICATED", /no session/)
    })
  )
})
