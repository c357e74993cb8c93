/** A program that embeds the room signs its own people in. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Users from "@signalbox/api/Users"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Administration } from "../src/Administration.ts"
import { assertError } from "./support/Http.ts"
import { linkOf, newLogin, own, page, password, signIn } from "./support/People.ts"
import { layerIn, Service, temporaryFolder } from "./support/Service.ts"

const layer = Layer.unwrap(Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: null, signIn: "own" })))

/** The cookie of a session that the program opens. */
const entered = Effect.fnUntraced(function* (subject: string, roles: ReadonlyArray<readonly [string, string]>) {
  const { openSession } = yield* Administration
  const { origin } = yield* Service
  const set = yield* openSession({
    subject,
    name: { first: "Ada", last: "Lovelace" },
    roles: roles.map(([workspace, role]) => ({ workspaceId: WorkspaceId.make(workspace), role })),
    publicUrl: origin
  })
  return Redacted.value(set).split(";")[0] ?? ""
})

const status = (cookie: string, workspace: string) =>
  Effect.flatMap(Service, ({ raw }) =>
    Effect.map(
      raw("GET", `/api/v1/workspaces/${workspace}/process-runs`, { key: null, headers: { ...own, cookie } }),
      (answer) => answer.status
    )
  )

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a session that the program opens", (it) => {
  it.effect("is of the account of its subject, with the roles of now, and of nobody with an equal login", () =>
    Effect.gen(function* () {
      const { makeWorkspace, raw, workspaceId } = yield* Service
      const other = yield* makeWorkspace
      const subject = newLogin("ada")
      const local = yield* Users.invite({ login: subject, role: "admin" })
      const first = yield* entered(subject, [[workspaceId, "viewer"]])
      const shown = JSON.parse((yield* page("GET", "/console/session", undefined, first)).text)
      assert.strictEqual(shown.user.name, "Ada Lovelace")
      assert.notStrictEqual(shown.user.id, local.id)
      assert.strictEqual(shown.user.role, "viewer")
      assert.deepInclude(yield* Users.get(shown.user.id), { state: "active", first_name: "Ada" })
      assert.deepStrictEqual([yield* status(first, workspaceId), yield* status(first, other)], [200, 403])

      const second = yield* entered(subject, [[other, "operator"]])
      assert.deepStrictEqual([yield* status(second, workspaceId), yield* status(second, other)], [403, 200])
      assert.deepStrictEqual([yield* status(first, workspaceId), yield* status(first, other)], [403, 200])
      const again = JSON.parse((yield* page("GET", "/console/session", undefined, second)).text)
      assert.strictEqual(again.user.id, shown.user.id)
      // Only pages of the console use it.
      const foreign = yield* raw("POST", "worker-groups", {
        key: null,
        json: { name: "n" },
        headers: { cookie: second }
      })
      assertError(foreign, 403, "FORBIDDEN", /only for pages of the console/)
    })
  )

  it.effect("is refused for an account that is disabled, and for a role that does not exist", () =>
    Effect.gen(function* () {
      const { rows, workspaceId } = yield* Service
      const subject = newLogin("bob")
      const cookie = yield* entered(subject, [[workspaceId, "viewer"]])
      const { user } = JSON.parse((yield* page("GET", "/console/session", undefined, cookie)).text)
      yield* Users.update(user.id, { disabled: true })
      const before = yield* rows
      const disabled = yield* Effect.flip(entered(subject, [[workspaceId, "admin"]]))
      assert.match(disabled.message, /is disabled/)
      const unknown = yield* Effect.flip(entered(newLogin("eve"), [[workspaceId, "boss"]]))
      assert.match(unknown.message, /has no role boss/)
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("leaves a workspace its last admin", () =>
    Effect.gen(function* () {
      const { makeWorkspace } = yield* Service
      const workspace = yield* makeWorkspace
      const [one, two] = [newLogin("one"), newLogin("two")]
      yield* entered(one, [[workspace, "admin"]])
      const kept = yield* entered(one, [[workspace, "viewer"]])
      const role = Effect.map(
        page("GET", "/console/session", undefined, kept),
        ({ text }) => JSON.parse(text).user.role
      )
      assert.strictEqual(yield* role, "admin")
      yield* entered(two, [[workspace, "admin"]])
      yield* entered(one, [[workspace, "viewer"]])
      assert.strictEqual(yield* role, "viewer")
    })
  )

  it.effect("is the only way in: there are no passwords and no links", () =>
    Effect.gen(function* () {
      const login = newLogin("ida")
      const { link } = yield* Users.invite({ login, role: "viewer" })
      assert.isTrue(JSON.parse((yield* page("GET", "/console/sign-in")).text).own)
      const refusal = /signed in by the application that this room belongs to/
      assertError(yield* page("POST", "/console/link", { link: linkOf(link), password }), 403, "FORBIDDEN", refusal)
      assertError(yield* signIn(login), 403, "FORBIDDEN", refusal)
    })
  )
})
