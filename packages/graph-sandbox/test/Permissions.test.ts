/**
 * Scopes and roles, where the sandbox enforces them.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { fetched, type Init } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const apps = contoso.apps?.map((app) => ({ ...app, roles: ["Files.Read.All"] })) ?? []

const site = "/sites/contoso.sharepoint.test:/sites/team:"

/** Asks as Ann with a token that has these scopes. */
const asAnn = Effect.fnUntraced(function* (...scopes: ReadonlyArray<string>) {
  const sandbox = yield* GraphSandbox
  const token = yield* sandbox.accessToken("ann@contoso.test", scopes)
  return (path: string, init: Init = {}) =>
    fetched(`${sandbox.graphUrl}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } })
})

const post = (json: unknown): Init => ({ method: "POST", json })
const folder = (name: string) => post({ name, folder: {} })
const list = (displayName: string) => post({ displayName })
const books = post({ fields: { Title: "Emma" } })

/** Scopes, what is asked for, and whether they permit it. */
const cases: ReadonlyArray<readonly [string, string, Init, boolean]> = [
  ["User.Read", "/me", {}, true],
  ["User.Read", "/users/ann@contoso.test", {}, true],
  ["User.Read", "/users/bo@contoso.test", {}, false],
  ["User.ReadBasic.All", "/users/bo@contoso.test", {}, true],
  ["User.ReadBasic.All", "/me/manager", {}, false],
  ["User.Read.All", "/me/manager", {}, true],
  ["User.Read", "/groups", {}, false],
  ["GroupMember.Read.All", "/groups/g1/members", {}, true],
  ["Files.Read", "/me/drive/root/children", {}, true],
  ["Files.Read", "/users/joan@contoso.test/drive/root", {}, false],
  ["Files.Read", "/me/drive/root/children", folder("a"), false],
  ["Files.ReadWrite", "/me/drive/root/children", folder("b"), true],
  ["Files.ReadWrite", `${site}/drive/root/children`, folder("c"), false],
  ["files.readwrite.all", `${site}/drive/root/children`, folder("d"), true],
  ["Files.Read.All", `${site}/drive/root:/Report.txt:/createLink`, post({ type: "view" }), false],
  ["Files.Read.All", site, {}, false],
  ["Sites.Read.All", `${site}/drive/root`, {}, true],
  ["Sites.Read.All", `${site}/lists`, {}, true],
  ["Sites.Read.All", `${site}/lists/A%2FB%20%231/items`, books, false],
  ["Sites.ReadWrite.All", `${site}/lists/A%2FB%20%231/items`, books, true],
  ["Sites.ReadWrite.All", `${site}/lists`, list("E"), false],
  ["Sites.Manage.All", `${site}/lists`, list("F"), true],
  ["User.Read", "/me/drive/root:/lists", {}, false]
]

layer(GraphSandbox.layer({ seed: { ...contoso, apps }, enforceScopes: true }), { excludeTestServices: true })(
  "a sandbox that enforces scopes",
  (it) => {
    it.effect.each(cases)("%s for %s", ([scope, path, init, permitted]) =>
      Effect.gen(function* () {
        const ask = yield* asAnn(scope)
        const { body, status } = yield* ask(path, init)
        if (permitted) return assert.isBelow(status, 300, JSON.stringify(body))
        assert.strictEqual(status, 403)
        const isDirectory = /^\/(?:me(?!\/drive)|users(?!.*\/drive)|groups)/.test(path)
        assert.strictEqual(body.error.code, isDirectory ? "Authorization_RequestDenied" : "accessDenied")
        assert.strictEqual(
          body.error.message,
          isDirectory ? "Insufficient privileges to complete the operation." : "Access denied"
        )
      })
    )

    it.effect("knows a person's own drive by its id", () =>
      Effect.gen(function* () {
        const ask = yield* asAnn("Files.Read")
        const all = yield* asAnn("Files.Read.All")
        const { id } = (yield* ask("/me/drive")).body
        const joans = (yield* all("/users/joan@contoso.test/drive")).body
        assert.strictEqual((yield* ask(`/drives/${id}/root`)).status, 200)
        assert.strictEqual((yield* ask(`/drives/${joans.id}/root`)).status, 403)
        assert.strictEqual((yield* all(`/drives/${joans.id}/root`)).status, 200)
      })
    )

    it.effect("judges an app by the roles that it was granted, whatever belongs to a person", () =>
      Effect.gen(function* () {
        const sandbox = yield* GraphSandbox
        const headers = { authorization: `Bearer ${yield* sandbox.appToken}` }
        const read = yield* fetched(`${sandbox.graphUrl}/users/ann@contoso.test/drive/root`, { headers })
        assert.strictEqual(read.status, 200)
        const user = yield* fetched(`${sandbox.graphUrl}/users/ann@contoso.test`, { headers })
        assert.strictEqual(user.status, 403)
      })
    )

    it.effect("judges each part of a batch", () =>
      Effect.gen(function* () {
        const ask = yield* asAnn("User.Read")
        const requests = ["/me", "/me/drive"].map((url) => ({ id: url, method: "GET", url }))
        const { body } = yield* ask("/$batch", post({ requests }))
        assert.deepStrictEqual(
          body.responses.map(({ status }: { readonly status: number }) => status),
          [200, 403]
        )
      })
    )
  }
)

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("a sandbox by default", (it) => {
  it.effect("permits everything with any token", () =>
    Effect.gen(function* () {
      const ask = yield* asAnn("User.Read")
      assert.strictEqual((yield* ask("/me/drive/root/children", folder("a"))).status, 201)
    })
  )
})
