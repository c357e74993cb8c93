/**
 * Invitations that the service carries out in part.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Drive from "../src/Drive.ts"
import * as Sharing from "../src/Sharing.ts"
import { connect, json, make, settle } from "./support/Server.ts"

const blocked = {
  code: "notAllowed",
  message: "This account must be verified before it may send mail.",
  fixItUrl: "https://account.example/verify",
  innererror: { code: "accountVerificationRequired" }
}

const invited = (recipients: ReadonlyArray<string>, value: ReadonlyArray<unknown>, status = 207) =>
  Effect.gen(function* () {
    const server = yield* make
    server.script(json({ value }, status))
    const invite = Sharing.invite(Drive.me, { path: "/Docs" }, { recipients, roles: ["read"] })
    return yield* settle(server, Effect.provide(invite, connect(server)))
  })

describe("an invitation", () => {
  it.effect("that is carried out in part says for each recipient what was not done, and how to put it right", () =>
    Effect.gen(function* () {
      const [ann, joan] = yield* invited(
        ["ann@contoso.test", "joan@contoso.test"],
        [
          { id: "2", roles: ["read"], invitation: { email: "Joan@Contoso.test" } },
          { id: "1", roles: ["read"], grantedToV2: { user: { email: "ann@contoso.test" } }, error: blocked }
        ]
      ).pipe(Effect.map((all) => all.toSorted((a, b) => (a.recipient ?? "").localeCompare(b.recipient ?? ""))))
      assert.deepStrictEqual(ann?.problem, {
        codes: ["notAllowed", "accountVerificationRequired"],
        message: blocked.message,
        fixItUrl: blocked.fixItUrl
      })
      assert.deepInclude(ann, { recipient: "ann@contoso.test" })
      assert.strictEqual(ann?.permission.id, "1")
      assert.deepInclude(joan, { recipient: "joan@contoso.test", problem: null })
    })
  )

  it.effect("whose results name nobody are told in the order of the recipients", () =>
    Effect.gen(function* () {
      const all = yield* invited(["ann@contoso.test", "x@y.test"], [{ id: "1" }, { error: { code: "notFound" } }])
      assert.deepStrictEqual(
        all.map(({ permission, problem, recipient }) => [recipient, permission.id, problem?.codes]),
        [
          ["ann@contoso.test", "1", undefined],
          ["x@y.test", undefined, ["notFound"]]
        ]
      )
    })
  )

  it.effect("of which the service does not tell all names nobody by guessing", () =>
    Effect.gen(function* () {
      const all = yield* invited(["ann@contoso.test", "x@y.test"], [{ error: { message: "no" } }])
      assert.deepStrictEqual(
        all.map(({ problem, recipient }) => [recipient, problem?.message]),
        [[null, "no"]]
      )
    })
  )
})

it.effect("permissions without an id decode", () =>
  Effect.gen(function* () {
    const server = yield* make
    server.script(json({ value: [{ roles: ["owner"], grantedToV2: { user: { displayName: "Ann" } } }] }))
    const all = Stream.runCollect(Sharing.permissions(Drive.me, Drive.root))
    const [permission] = yield* settle(server, Effect.provide(all, connect(server)))
    assert.deepStrictEqual(permission?.roles, ["owner"])
  })
)

it.effect("options that are undefined are as if they were left out", () =>
  Effect.gen(function* () {
    const server = yield* make
    server.script(json({ id: "1" }), json({ value: [] }))
    const link = Sharing.createLink(Drive.me, { path: "/Docs" }, { type: undefined, scope: undefined })
    const invitation = {
      recipients: ["a@b.test"],
      roles: ["read"],
      requireSignIn: undefined,
      sendInvitation: undefined
    } as const
    yield* settle(server, Effect.provide(link, connect(server)))
    yield* settle(server, Effect.provide(Sharing.invite(Drive.me, { path: "/Docs" }, invitation), connect(server)))
    const [linked, invited] = server.received().map(({ body }) => JSON.parse(body))
    assert.deepStrictEqual(linked, { type: "view", scope: "organization" })
    assert.deepInclude(invited, { requireSignIn: true, sendInvitation: true })
  })
)
