/**
 * The rules of every list of the contract: limits, cursors, parents and filters. (`PageWalks.test.ts` has order and
 * walks, `HttpEdge.test.ts` the pages of work items.)
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { Page } from "@signalbox/api/contract/Common"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Endpoint, fill, lists, parametersOf } from "./support/Endpoints.ts"
import { assertError, bodyAs } from "./support/Http.ts"
import { quiet, seed, type Seed } from "./support/Seed.ts"
import { layerIn, Service, temporaryFolder } from "./support/Service.ts"

const nobody = "01900000-0000-7000-8000-000000000000"
const anyPage = Page(Schema.Record(Schema.String, Schema.Json))

/** Lists of resources of a run take the run in the query. */
const inQuery: Readonly<Record<string, string>> = { listOutputs: "process_run_id", listStepRuns: "process_run_id" }

/** Their pages have 1,000 items, and they have no `limit`. */
const withoutLimit = new Set(["listSecrets", "listStepRunConsoleMessages"])

const hasNames = new Set([
  "listAssets",
  "listProcesses",
  "listSecrets",
  "listTaskPackages",
  "listWorkerGroups",
  "listWorkers"
])

const addressOf = (list: Endpoint, of: Seed, query: Readonly<Record<string, string>> = {}): string => {
  const parent = inQuery[list.identifier]
  const all = { ...(parent === undefined ? {} : { [parent]: of.ids[parent] ?? "" }), ...query }
  const path = fill(list.path, (name) => of.ids[name] ?? "")
  return `${path}?${new URLSearchParams(all)}`
}

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("every list", (it) => {
  it.effect("takes a limit of 1 and more, clamps it to 500, and refuses what is no such number", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      assert.isAtLeast(lists.length, 15)
      for (const list of lists) {
        const ask = (limit: string) => raw("GET", addressOf(list, of, { limit }))
        for (const limit of ["1", "2.0", "2e0", "500", "501", "9007199254740991"]) {
          const answer = yield* ask(limit)
          assert.strictEqual(answer.status, 200, `${list.identifier} ${limit}: ${answer.text}`)
          const { data } = bodyAs(anyPage, answer)
          if (limit === "1" && !withoutLimit.has(list.identifier)) assert.isAtMost(data.length, 1, list.identifier)
        }
        for (const limit of ["0", "-1", "1.5", "two", "", "1e999", "NaN", "0x10", "1,000"]) {
          const answer = yield* ask(limit)
          if (withoutLimit.has(list.identifier)) assert.strictEqual(answer.status, 200, answer.text)
          else assertError(answer, 400, "INVALID_REQUEST", /^limit/)
        }
      }
    })
  )

  it.effect("takes a parameter that is there twice with one value; of two values it shows both", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const twice = yield* raw("GET", "assets?limit=2&limit=2&name=a%20b&name=a+b")
      assert.strictEqual(twice.status, 200, twice.text)
      assertError(
        yield* raw("GET", "assets?limit=2&limit=3&limit=2"),
        400,
        "INVALID_REQUEST",
        /^limit: given more than once, as "2" and "3"; give it once$/
      )
      assertError(
        yield* raw("GET", "assets?name=a&name=b"),
        400,
        "INVALID_REQUEST",
        /^name: given more than once, as "a" and "b"/
      )
    })
  )

  it.effect("takes its own cursors and no others", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const of = yield* seed
      yield* seed
      const paged = lists.filter(({ identifier }) => !withoutLimit.has(identifier))
      const cursors = new Map<string, string>()
      for (const list of paged) {
        const { next } = bodyAs(anyPage, yield* raw("GET", addressOf(list, of, { limit: "1" })))
        if (next === null) continue
        const cursor = new URL(next).searchParams.get("cursor") ?? assert.fail(next)
        cursors.set(list.identifier, cursor)
        assert.strictEqual((yield* raw("GET", next)).status, 200, next)
        // Opaque: neither an offset nor an id in plain text.
        assert.notMatch(cursor, /^\d+$|[0-9a-f]{8}-/, list.identifier)
      }
      assert.isAtLeast(cursors.size, 10)
      const other = yield* makeWorkspace
      const key = yield* makeKey(["Workers.read_workers", "Processes.read_processes"], other)
      for (const list of lists) {
        const foreign = [...cursors]
          .filter(([identifier]) => identifier !== list.identifier)
          .map(([, cursor]) => cursor)
        const own = cursors.get(list.identifier)
        const broken =
          own === undefined ? [] : [own.slice(0, -1), `${own}A`, own.toUpperCase(), own.split(".")[0] ?? ""]
        for (const cursor of ["", "x", ".", "\0", "AAAA.AAAA", nobody, ...foreign.slice(0, 3), ...broken]) {
          const answer = yield* raw("GET", addressOf(list, of, { cursor }))
          assertError(answer, 400, "INVALID_REQUEST", /^cursor/)
        }
      }
      for (const identifier of ["listWorkers", "listProcesses"]) {
        const { path } = lists.find((list) => list.identifier === identifier) ?? assert.fail(identifier)
        const cursor = encodeURIComponent(cursors.get(identifier) ?? "")
        const answer = yield* raw("GET", `${fill(path, () => other)}?cursor=${cursor}`, { key })
        assertError(answer, 400, "INVALID_REQUEST", /^cursor/)
      }
    })
  )

  it.effect("of what has a name is filtered by exactly that name", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      const named = lists.filter(({ identifier }) => hasNames.has(identifier))
      assert.strictEqual(named.length, hasNames.size)
      for (const list of named) {
        const ask = (query: Readonly<Record<string, string>>) =>
          Effect.map(raw("GET", addressOf(list, of, query)), (answer) => bodyAs(anyPage, answer))
        const all = (yield* ask({})).data
        const name = String(all.at(-1)?.["name"])
        const found = (yield* ask({ name })).data
        assert.deepStrictEqual(
          found,
          all.filter((one) => one["name"] === name),
          list.identifier
        )
        assert.isAtLeast(found.length, 1, list.identifier)
        for (const other of [`${name}x`, name.slice(0, -1) || "x", "%", "nobody' OR 1=1"]) {
          assert.deepStrictEqual(yield* ask({ name: other }), { data: [], has_more: false, next: null }, other)
        }
        for (const wrong of ["", "x".repeat(256), "a\0b"]) {
          assertError(yield* raw("GET", addressOf(list, of, { name: wrong })), 400, "INVALID_REQUEST", /^name/)
        }
      }
    })
  )

  it.effect("binds its cursors to the filters", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      yield* seed
      const cursorOf = Effect.fnUntraced(function* (path: string) {
        const { next } = bodyAs(anyPage, yield* raw("GET", path))
        return encodeURIComponent(new URL(next ?? assert.fail(path)).searchParams.get("cursor") ?? "")
      })
      const process = of.ids["process_id"]
      const bound: ReadonlyArray<readonly [list: string, filter: string, others: ReadonlyArray<string>]> = [
        ["process-runs", "state=in_progress", ["", "state=new", `state=in_progress&process_id=${process}`]],
        ["assistant-runs", "", [`assistant_id=${of.ids["assistant_id"]}`]],
        ["work-items", "state=pending", ["", "state=done", `state=pending&process_run_id=${of.ids["process_run_id"]}`]],
        ["work-items", "include_data=true", ["", "include_data=false"]]
      ]
      for (const [list, filter, others] of bound) {
        const cursor = yield* cursorOf(`${list}?limit=1&${filter}`)
        // The order of the parameters and unknown ones do not count.
        const same = yield* raw("GET", `${list}?cursor=${cursor}&unknown=1&${filter}&limit=3`)
        assert.strictEqual(same.status, 200, same.text)
        for (const other of others) {
          const answer = yield* raw("GET", `${list}?cursor=${cursor}&${other}`)
          assertError(answer, 400, "INVALID_REQUEST", /^cursor/)
        }
      }
    })
  )

  it.effect("of a parent that is not there is a 404, and of a filter that is not there empty", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      const below = lists.filter(
        ({ identifier, path }) => identifier in inQuery || parametersOf(path).some((name) => name !== "workspace_id")
      )
      assert.isAtLeast(below.length, 7)
      for (const list of below) {
        for (const parent of [nobody, "no-uuid", "a\0b", of.ids["workspace_id"] ?? ""]) {
          const path = fill(list.path, (name) =>
            name === "workspace_id" ? (of.ids[name] ?? "") : encodeURIComponent(parent)
          )
          const query = inQuery[list.identifier] === undefined ? "" : `?process_run_id=${encodeURIComponent(parent)}`
          assertError(yield* raw("GET", path + query), 404, "NOT_FOUND", /./)
        }
      }
      for (const path of Object.keys(inQuery)) {
        const list = lists.find(({ identifier }) => identifier === path) ?? assert.fail(path)
        const without = fill(list.path, (name) => of.ids[name] ?? "")
        assertError(yield* raw("GET", without), 400, "INVALID_REQUEST", /process_run_id/)
      }
      const filters = [
        "process-runs?process_id",
        "assistant-runs?assistant_id",
        "work-items?process_id",
        "work-items?process_run_id",
        `work-items?process_id=${of.ids["process_id"]}&process_run_id`,
        `work-items?process_run_id=${of.ids["process_run_id"]}&process_id`
      ]
      for (const filter of filters) {
        for (const id of [nobody, "no-uuid", "%00", of.ids["asset_id"] ?? ""]) {
          const answer = yield* raw("GET", `${filter}=${id}`)
          assert.strictEqual(answer.text, '{"data":[],"has_more":false,"next":null}', filter)
        }
      }
    })
  )

  it.effect("of work items carries payload and files when asked to", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const of = yield* seed
      const filter = `work-items?process_run_id=${of.ids["process_run_id"]}&state=in_progress`
      for (const query of ["", "&include_data=false"]) {
        const [item] = bodyAs(anyPage, yield* raw("GET", filter + query)).data
        assert.notProperty(item, "payload")
        assert.notProperty(item, "files")
      }
      const withData = yield* raw("GET", `${filter}&include_data=true`)
      const [item] = bodyAs(anyPage, withData).data
      assert.strictEqual(item?.["payload"], 1)
      assert.match(withData.text, /"files":\[\{"id":"[^"]+","name":"seed.txt","size":4,"download":\{"url":"http/)
      for (const value of ["1", "yes", "TRUE", ""]) {
        const answer = yield* raw("GET", `${filter}&include_data=${value}`)
        assertError(answer, 400, "INVALID_REQUEST", /include_data/)
      }
    })
  )
})

const behindProxy = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) =>
    layerIn(folder, { publicUrl: "https://rooms.example/below/", rateLimit: null })
  )
)

withLayer(behindProxy, { excludeTestServices: true, timeout: "4 minutes" })("behind a proxy", (it) => {
  it.effect("`next` and the addresses of files lead to the public address, whatever the request says", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      for (const name of ["a", "b"]) yield* raw("POST", "assets", { json: { name } })
      const uploads = yield* raw("POST", "assets/name:a/uploads", { json: { content_type: "text/plain" } })
      assert.include(uploads.text, '"upload_url":"https://rooms.example/below/transfer/v1/')
      for (const headers of [
        { host: "127.9.9.9:1" },
        { "x-forwarded-host": "evil.example", "x-forwarded-proto": "ftp", forwarded: "host=evil.example" }
      ]) {
        const { next } = bodyAs(anyPage, yield* raw("GET", "assets?limit=1&unknown=%20kept", { headers }))
        const start = `https://rooms.example/below/api/v1/workspaces/${workspaceId}/assets?`
        assert.isTrue(next?.startsWith(start), next ?? "null")
        const cursor = new URL(next ?? "").search
        assert.strictEqual(bodyAs(anyPage, yield* raw("GET", `assets${cursor}`)).data.length, 1)
      }
    })
  )
})

const inNetwork = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) =>
    layerIn(folder, { publicUrl: "https://rooms.example", internalUrl: "http://room:4700/", rateLimit: null })
  )
)

withLayer(inNetwork, { excludeTestServices: true, timeout: "4 minutes" })("with an internal address", (it) => {
  it.effect("`next` and the addresses of files lead to the address that the client uses", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      for (const name of ["a", "b"]) yield* raw("POST", "assets", { json: { name } })
      for (const [host, origin] of [
        ["room:4700", "http://room:4700"],
        ["ROOM:4700", "http://room:4700"],
        ["localhost:4700", "https://rooms.example"],
        ["rooms.example", "https://rooms.example"]
      ] as const) {
        const headers = { host }
        const json = { content_type: "text/plain" }
        const upload = yield* raw("POST", "assets/name:a/uploads", { headers, json })
        assert.strictEqual(upload.status, 200, upload.text)
        assert.include(upload.text, `"upload_url":"${origin}/transfer/v1/assets/`)
        const { next } = bodyAs(anyPage, yield* raw("GET", "assets?limit=1", { headers }))
        assert.isTrue(next?.startsWith(`${origin}/api/v1/`), next ?? "null")
      }
    })
  )
})
