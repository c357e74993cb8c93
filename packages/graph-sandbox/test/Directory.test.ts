/**
 * Users, groups, sites and lists on the wire.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const ann = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))

const eventual = { headers: { ConsistencyLevel: "eventual" } }

const namesOf = (got: { readonly body: { readonly value: ReadonlyArray<{ readonly displayName: string }> } }) =>
  got.body.value.map(({ displayName }) => displayName)

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("the directory", (it) => {
  it.effect("searches by words, for those who ask for eventual consistency", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const refused = yield* ask('/users?$search="displayName:ann"')
      assert.deepStrictEqual([refused.status, refused.body.error.code], [400, "Request_UnsupportedQuery"])
      const search = (clause: string) =>
        Effect.map(ask(`/users?$search=${encodeURIComponent(clause)}`, eventual), namesOf)
      assert.deepStrictEqual(yield* search('"displayName:video"'), ["Joan OneVideo"])
      assert.deepStrictEqual(yield* search('"displayName:lee ann"'), ["Ann Lee"])
      // Each of the words, not one of them.
      assert.deepStrictEqual(yield* search('"displayName:lee jones"'), [])
      assert.deepStrictEqual(yield* search('"displayName:ideo"'), [])
      assert.deepStrictEqual(yield* search('"mail:joan" OR "displayName:bo"'), ["Joan OneVideo", "Bo Jones"])
      assert.deepStrictEqual(yield* search('"mail:joan" AND "displayName:bo"'), [])
      assert.strictEqual((yield* ask("/users?$search=displayName:ann", eventual)).status, 400)
    })
  )

  it.effect("filters, counts and selects", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const filter = (text: string, more = "", init = {}) =>
        ask(`/users?$filter=${encodeURIComponent(text)}${more}`, init)
      assert.deepStrictEqual(namesOf(yield* filter("startswith(displayName,'jo')")), ["Joan OneVideo"])
      assert.deepStrictEqual(
        namesOf(yield* filter("department eq 'Sales' and not (mail eq null)", "&$count=true", eventual)),
        ["Ann Lee"]
      )
      assert.strictEqual((yield* filter("displayName ne 'x'")).status, 400)
      assert.strictEqual((yield* filter("displayName ne 'x'", "&$count=true", eventual)).body["@odata.count"], 3)
      assert.strictEqual((yield* filter("displayName eq")).status, 400)
      assert.strictEqual((yield* ask("/users/$count")).status, 400)
      const count = yield* ask("/users/$count", eventual)
      assert.strictEqual(Buffer.from(count.bytes).toString(), "3")
      assert.deepStrictEqual((yield* ask("/me?$select=department")).body.department, "Sales")
      assert.notProperty((yield* ask("/me")).body, "department")
      assert.strictEqual((yield* ask("/users?$top=1000")).status, 400)
      assert.strictEqual((yield* ask("/me/manager")).body.displayName, "Joan OneVideo")
      assert.deepStrictEqual(namesOf(yield* ask("/groups/g1/members?$search=%22displayName:jones%22", eventual)), [
        "Bo Jones"
      ])
      assert.strictEqual((yield* ask("/users/nobody@contoso.test")).body.error.code, "Request_ResourceNotFound")
    })
  )

  it.effect("finds a site by host, path, id, group and search", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const site = (yield* ask("/sites/contoso.sharepoint.test:/sites/team")).body
      for (const form of [
        "/sites/contoso.sharepoint.test:/sites/team:",
        "/sites/contoso.sharepoint.test%3A%2Fsites%2Fteam%3A",
        `/sites/${site.id}`,
        `/sites/${encodeURIComponent(site.id)}`,
        "/groups/g1/sites/root",
        "//sites/root:/sites/team:/"
      ]) {
        assert.strictEqual((yield* ask(form)).body.id, site.id, form)
      }
      assert.strictEqual((yield* ask("/sites/root")).body.displayName, "Home")
      assert.strictEqual((yield* ask("/sites/contoso.sharepoint.test")).body.displayName, "Home")
      assert.deepStrictEqual(namesOf(yield* ask("/sites?search=tea")), ["Team"])
      const path = yield* ask("/sites/contoso.sharepoint.test:/sites/none")
      assert.deepStrictEqual(
        [path.status, path.body.error.message],
        [404, "The provided path does not exist, or does not represent a site"]
      )
      const host = yield* ask("/sites/elsewhere.test")
      assert.deepStrictEqual([host.status, host.body.error.code], [400, "invalidRequest"])
      const drives = yield* ask(`/sites/${site.id}/drives?$top=1`)
      assert.strictEqual(drives.body.value[0].name, "Documents")
      assert.strictEqual((yield* ask(drives.body["@odata.nextLink"])).body.value[0].name, "Archive")
      assert.strictEqual((yield* ask(`/sites/${site.id}/drive/root:/Report.txt`)).body.size, 2)
    })
  )

  it.effect("reads and filters a list by its awkward name", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const list = `/sites/contoso.sharepoint.test:/sites/team:/lists/${encodeURIComponent("A/B #1")}`
      const columns = (yield* ask(`${list}/columns`)).body.value
      const pages = columns.find(({ displayName }: { readonly displayName: string }) => displayName === "Page Count")
      assert.strictEqual(pages.name, "Page_x0020_Count")
      const bare = (yield* ask(`${list}/items`)).body.value
      assert.notProperty(bare[0], "fields")
      const items = (yield* ask(`${list}/items?expand=fields`)).body.value
      assert.deepInclude(items[0].fields, { Title: "one", Page_x0020_Count: 3, id: "1" })
      const some = (yield* ask(`${list}/items?$expand=fields($select=Title)`)).body.value
      assert.deepStrictEqual(Object.keys(some[0].fields).sort(), ["@odata.etag", "Title"])
      const indexed = yield* ask(`${list}/items?$expand=fields&$filter=fields/Code eq 'y'`)
      assert.deepStrictEqual(
        indexed.body.value.map(({ id }: { readonly id: string }) => id),
        ["2"]
      )
      const unindexed = `${list}/items?$expand=fields&$filter=fields/Page_x0020_Count gt 3`
      assert.match((yield* ask(unindexed)).body.error.message, /not indexed/)
      const prefer = { headers: { prefer: "HonorNonIndexedQueriesWarningMayFailRandomly" } }
      assert.strictEqual((yield* ask(unindexed, prefer)).body.value.length, 1)
    })
  )

  it.effect("creates a list and writes its items, as far as its columns allow", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const site = "/sites/contoso.sharepoint.test:/sites/team:"
      const json = {
        displayName: "Books",
        columns: [
          { name: "Author", text: {} },
          { name: "PageCount", number: {} }
        ],
        list: { template: "genericList" }
      }
      const made = yield* ask(`${site}/lists`, { method: "POST", json })
      assert.strictEqual(made.status, 201)
      assert.strictEqual((yield* ask(`${site}/lists`, { method: "POST", json })).status, 409)
      assert.strictEqual((yield* ask(`${site}/lists`, { method: "POST", json: {} })).status, 400)
      const list = `${site}/lists/${made.body.id}`
      const add = (fields: unknown) => ask(`${list}/items`, { method: "POST", json: { fields } })
      assert.match((yield* add({ Nope: 1 })).body.error.message, /Field 'Nope' is not recognized/)
      assert.match((yield* add({ PageCount: "x" })).body.error.message, /PageCount/)
      assert.match((yield* add({ Created: "now" })).body.error.message, /read-only/)
      const item = (yield* add({ Title: "Emma", PageCount: 474 })).body
      const path = `${list}/items/${item.id}`
      const patched = yield* ask(`${path}/fields`, { method: "PATCH", json: { PageCount: 475 } })
      assert.strictEqual(patched.body.PageCount, 475)
      const stale = { headers: { "if-match": item["@odata.etag"] } }
      assert.strictEqual((yield* ask(`${path}/fields`, { method: "PATCH", json: {}, ...stale })).status, 412)
      assert.strictEqual((yield* ask(path)).body.fields.Title, "Emma")
      assert.strictEqual((yield* ask(path, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* ask(path)).status, 404)
    })
  )

  it.effect("runs a batch of twenty at most, whose parts may depend on each other", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const batch = (requests: ReadonlyArray<unknown>) => ask("/$batch", { method: "POST", json: { requests } })
      const get = (id: number, url: string, more = {}) => ({ id: String(id), method: "GET", url, ...more })
      const done = yield* batch([
        get(1, "/me/drive/root:/none"),
        get(2, "/me", { dependsOn: ["1"] }),
        get(3, "/v1.0/me/drive/root:/Docs/Deep/er/x.txt:/content"),
        {
          id: "4",
          method: "PUT",
          url: "/me/drive/root:/b.bin:/content",
          headers: { "Content-Type": "application/octet-stream" },
          body: Buffer.from([0, 255]).toString("base64")
        }
      ])
      const status = Object.fromEntries(
        done.body.responses.map(({ id, status }: { id: string; status: number }) => [id, status])
      )
      assert.deepStrictEqual(status, { "1": 404, "2": 424, "3": 302, "4": 201 })
      assert.match(done.body.responses[2].headers.Location, /^http/)
      assert.strictEqual(done.body.responses[3].body.size, 2)
      assert.strictEqual((yield* batch(Array.from({ length: 21 }, (_, id) => get(id, "/me")))).status, 400)
      assert.strictEqual((yield* batch([get(1, "/me"), get(1, "/me")])).status, 400)
      assert.strictEqual((yield* batch([{ id: "1", method: "POST", url: "/me", body: {} }])).status, 400)
    })
  )
})
