/**
 * Drives on the wire: addresses, pages, names, contents, links, changes.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking, fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const ann = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))

const location = ({ headers }: { readonly headers: Headers }) => headers.get("location") ?? ""

// In this order: pages are of the drive as it begins.
describe("a drive", { shuffle: false }, () => {
  layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("drives", (it) => {
    it.effect("reaches a file by each form of address", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const drive = (yield* ask("/me/drive")).body.id
        const docs = (yield* ask("/me/drive/root:/Docs")).body.id
        const id = (yield* ask("/me/drive/root:/Docs/a%20%231%25.txt")).body.id
        const forms = [
          "/me/drive/root:/Docs/a%20%231%25.txt:",
          "/me/drive/root:/docs/A%20%231%25.TXT",
          `/me/drives/${drive}/items/${id}`,
          `/drives/${drive}/items/${id}`,
          `/drives/${drive}/items/${docs}:/a%20%231%25.txt`,
          `/drives/${drive}/items/root:/Docs/a%20%231%25.txt:`,
          `/drives/${drive}/items/root%3A%2FDocs%2Fa%20%231%25.txt%3A`,
          `/users/ann@contoso.test/drive/items/${id}`,
          `/drives('${drive}')/items('${id}')`,
          `/drives/${drive}/root/children('Docs')/children('a%20%231%25.txt')`
        ]
        for (const form of forms) assert.strictEqual((yield* ask(form)).body.id, id, form)
        const letter = yield* ask(`/drives/${drive}/items/${docs}/children('O''Brien%20%26%20co.txt')/content`)
        assert.strictEqual(letter.status, 302)
      })
    )

    it.effect("tells an unknown item, one of another drive and an unknown address apart", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const other = (yield* ask("/users/joan@contoso.test/drive/root:/Plans")).body.id
        const missing = yield* ask("/me/drive/root:/none.txt")
        assert.deepInclude(missing.body.error, { code: "itemNotFound", message: "The resource could not be found." })
        assert.strictEqual(missing.body.error.innerError["request-id"], missing.headers.get("request-id"))
        const foreign = yield* ask(`/me/drive/items/${other}`)
        assert.strictEqual(foreign.status, 400)
        assert.match(foreign.body.error.message, /not valid for the requested drive/)
        const unknown = yield* ask("/me/drive/nothing", { headers: { "client-request-id": "mine" } })
        assert.strictEqual(unknown.headers.get("client-request-id"), "mine")
        assert.deepStrictEqual(unknown.body, {
          error: { code: "RequestBroker--ParseUri", message: "Resource not found for the segment 'nothing'." }
        })
        assert.strictEqual((yield* ask("/me/drive/root/children", { method: "PUT" })).status, 405)
        assert.strictEqual((yield* ask("/me/drive/root:/%zz")).status, 400)
      })
    )

    it.effect("gives pages whose links must be followed as they are", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const first = yield* ask("/me/drive/root/children?$top=2&$select=name")
        assert.deepStrictEqual(first.body.value, [{ name: "Docs" }, { name: "Empty" }])
        const next = first.body["@odata.nextLink"]
        assert.include(next, "%27")
        assert.deepStrictEqual(
          (yield* ask(next)).body.value.map(({ name }: { readonly name: string }) => name),
          ["Notes", "Plan of Joan.txt"]
        )
        assert.strictEqual((yield* ask(next.replace("%27", "%2527"))).status, 400)
      })
    )

    it.effect("hands contents out on another host, in parts, and only without a token", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const content = yield* ask("/me/drive/root:/Docs/a%20%231%25.txt:/content")
        assert.strictEqual(content.status, 302)
        const url = location(content)
        const whole = yield* fetched(url)
        assert.strictEqual(Buffer.from(whole.bytes).toString(), "hello world")
        assert.include(whole.headers.get("content-disposition") ?? "", "a%20%231%25.txt")
        const part = yield* fetched(url, { headers: { range: "bytes=6-" } })
        assert.deepStrictEqual([part.status, Buffer.from(part.bytes).toString()], [206, "world"])
        assert.strictEqual(part.headers.get("content-range"), "bytes 6-10/11")
        const beyond = yield* fetched(url, { headers: { range: "bytes=11-" } })
        assert.deepStrictEqual([beyond.status, beyond.headers.get("content-range")], [416, "bytes */11"])
        assert.strictEqual((yield* fetched(url, { headers: { authorization: "Bearer x" } })).status, 401)
        assert.strictEqual((yield* fetched(url.replace("tempauth=", "tempauth=-"))).status, 401)
        const etag = whole.headers.get("etag") ?? ""
        assert.strictEqual((yield* fetched(url, { headers: { "if-none-match": etag } })).status, 304)
        const same = yield* ask("/me/drive/root:/Docs/a%20%231%25.txt:/content", { headers: { "if-none-match": etag } })
        assert.strictEqual(same.status, 304)
        assert.strictEqual((yield* ask("/me/drive/root:/Docs:/content")).status, 400)
        assert.strictEqual((yield* ask("/me/drive/root:/Notes:/content")).status, 400)
      })
    )

    it.effect("does at an upload what is asked for where the name is taken", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const put = (body: string, conflict: string) =>
          ask(`/me/drive/root:/Conflict/x.txt:/content?@microsoft.graph.conflictBehavior=${conflict}`, {
            method: "PUT",
            body
          })
        assert.strictEqual((yield* put("1", "fail")).status, 201)
        const failed = yield* put("2", "fail")
        assert.deepStrictEqual([failed.status, failed.body.error.code], [409, "nameAlreadyExists"])
        const replaced = yield* put("three", "replace")
        assert.deepStrictEqual([replaced.status, replaced.body.size], [200, 5])
        assert.strictEqual((yield* put("4", "rename")).body.name, "x 1.txt")
        assert.strictEqual((yield* put("4", "other")).status, 400)
        const item = `/me/drive/items/${replaced.body.id}`
        const stale = yield* ask(`${item}/content`, { method: "PUT", body: "5", headers: { "if-match": '"{0},1"' } })
        assert.deepStrictEqual([stale.status, stale.body.error.code], [412, "resourceModified"])
        const headers = { "if-match": replaced.body.eTag }
        assert.strictEqual((yield* ask(`${item}/content`, { method: "PUT", body: "5", headers })).status, 200)
        const versions = yield* ask(`${item}/versions`)
        assert.deepStrictEqual(
          versions.body.value.map(({ id }: { readonly id: string }) => id),
          ["3.0", "2.0", "1.0"]
        )
        const old = yield* ask(`${item}/versions/2.0/content`)
        assert.strictEqual(Buffer.from((yield* fetched(location(old))).bytes).toString(), "three")
      })
    )

    it.effect("renames, moves and refuses what cannot be", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const folder = (yield* ask("/me/drive/root/children", { method: "POST", json: { name: "Tree", folder: {} } }))
          .body
        const twice = yield* ask("/me/drive/root/children", { method: "POST", json: { name: "tree", folder: {} } })
        assert.strictEqual(twice.status, 409)
        const below = (yield* ask(`/me/drive/items/${folder.id}/children`, {
          method: "POST",
          json: { name: "Below", folder: {} }
        })).body
        const patch = (id: string, json: unknown, headers = {}) =>
          ask(`/me/drive/items/${id}`, { method: "PATCH", json, headers })
        assert.strictEqual((yield* patch(folder.id, { name: "a:b" })).status, 400)
        assert.strictEqual((yield* patch(folder.id, { parentReference: { id: below.id } })).status, 400)
        assert.strictEqual((yield* patch(folder.id, { name: "Docs" })).body.error.code, "nameAlreadyExists")
        const moved = yield* patch(below.id, { parentReference: { path: "/drive/root:/Empty" }, name: "Moved" })
        assert.match(moved.body.parentReference.path, /root:\/Empty$/)
        assert.strictEqual((yield* patch(below.id, { name: "x" }, { "if-match": below.eTag })).status, 412)
        assert.strictEqual((yield* ask(`/me/drive/items/${folder.id}`, { method: "DELETE" })).status, 204)
        assert.strictEqual((yield* ask(`/me/drive/items/${folder.id}`)).status, 404)
        assert.strictEqual((yield* ask("/me/drive/root", { method: "DELETE" })).status, 400)
      })
    )

    it.effect("searches in a hierarchy, and in the drive also what is shared", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const found = (path: string) =>
          Effect.map(ask(path), ({ body }) => body.value.map(({ name }: { readonly name: string }) => name))
        assert.deepStrictEqual(yield* found("/me/drive/root/search(q='O''Brien%20%26')"), ["O'Brien & co.txt"])
        assert.deepStrictEqual(yield* found("/me/drive/root/search(q='plan')"), [])
        assert.deepStrictEqual(yield* found("/me/drive/search(q='plan')"), ["Plan of Joan.txt"])
        const shortcut = (yield* ask("/me/drive/search(q='plan')")).body.value[0]
        const target = shortcut.remoteItem
        assert.strictEqual((yield* ask(`/drives/${target.parentReference.driveId}/items/${target.id}`)).body.size, 8)
        assert.strictEqual((yield* ask("/me/drive/root/search(q='broken'x')")).status, 400)
      })
    )

    it.effect("shares by link and by invitation", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const item = "/me/drive/root:/Docs/Deep/er/x.txt:"
        const { body, status } = yield* ask(`${item}/createLink`, {
          method: "POST",
          json: { type: "view", scope: "anonymous" }
        })
        assert.strictEqual(status, 201)
        const url: string = body.link.webUrl
        const token = `u!${Buffer.from(url).toString("base64url")}`
        assert.strictEqual((yield* ask(`/shares/${token}/driveitem`)).body.name, "x.txt")
        const content = yield* ask(`/shares/${token}/driveItem/content`)
        assert.strictEqual(Buffer.from((yield* fetched(location(content))).bytes).toString(), "deep")
        assert.strictEqual(
          (yield* ask(`/shares/u!${Buffer.from(`${url}x`).toString("base64url")}/driveItem`)).status,
          404
        )
        const invited = yield* ask(`${item}/invite`, {
          method: "POST",
          json: { recipients: [{ email: "bo@contoso.test" }], roles: ["read"], requireSignIn: true }
        })
        assert.strictEqual(invited.body.value[0].grantedToV2.user.displayName, "Bo Jones")
        const sandbox = yield* GraphSandbox
        const bo = yield* asking(sandbox, "bo@contoso.test")
        assert.strictEqual((yield* bo("/me/drive/sharedWithMe")).body.value[0].remoteItem.name, "x.txt")
        const permissions = (yield* ask(`${item}/permissions`)).body.value
        assert.strictEqual(permissions.length, 3)
        yield* ask(`${item}/permissions/${body.id}`, { method: "DELETE" })
        assert.strictEqual((yield* ask(`/shares/${token}/driveItem`)).status, 404)
      })
    )

    it.effect("tells by delta what is new, in pages, and refuses a token that it did not give", () =>
      Effect.gen(function* () {
        const ask = yield* ann
        const latest = (yield* ask("/me/drive/root/delta?token=latest")).body
        assert.deepStrictEqual(latest.value, [])
        yield* ask("/me/drive/root:/New/1.txt:/content", { method: "PUT", body: "1" })
        const first = (yield* ask(`${latest["@odata.deltaLink"]}&$top=2`)).body
        assert.strictEqual(first.value.length, 2)
        const second = (yield* ask(first["@odata.nextLink"])).body
        const names = [...first.value, ...second.value].map(({ name }) => name)
        assert.sameMembers(names, ["1.txt", "New", "root"])
        const gone = yield* ask("/me/drive/root/delta(token='nonsense')")
        assert.deepStrictEqual([gone.status, gone.body.error.code], [410, "resyncRequired"])
        assert.include(gone.headers.get("location") ?? "", "/me/drive/root/delta")
      })
    )
  })
})
