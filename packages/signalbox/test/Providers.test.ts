/** The file of providers: what it says, and what is refused in it. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as IdentityProvider from "@signalbox/testkit/IdentityProvider"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Providers from "../src/internal/settings/Providers.ts"
import { signalbox, temporaryFolder, up } from "./support/Cli.ts"

const entra = {
  id: "entra",
  name: "Microsoft",
  issuer: "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0",
  client_id: "room",
  subject_claim: "oid",
  roles: [{ group: "g", workspace: "default", role: "viewer", create_accounts: false }]
}

const inFolder = Effect.acquireRelease(
  Effect.sync(() => temporaryFolder("providers")),
  ({ remove }) => Effect.sync(remove)
)

const read = Effect.fnUntraced(
  function* (content: unknown, publicUrl: string | null = null) {
    const { folder } = yield* inFolder
    const file = join(folder, "providers.json")
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
    writeFileSync(join(folder, "secret"), "of a file\n")
    return yield* Providers.read({ providers: file, publicUrl })
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer),
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord({ ENTRA_SECRET: "of a variable" }))
)

describe("the file of providers", () => {
  it.effect("has the secret in a variable or a file of its own", () =>
    Effect.gen(function* () {
      const [first, second] = yield* read([
        { ...entra, client_secret_variable: "ENTRA_SECRET" },
        { ...entra, id: "other", client_secret_file: "secret" }
      ])
      assert.deepStrictEqual(
        first && { ...first, clientSecret: Redacted.value(first.clientSecret ?? Redacted.make("")) },
        {
          id: "entra",
          name: "Microsoft",
          issuer: entra.issuer,
          clientId: "room",
          clientSecret: "of a variable",
          subjectClaim: "oid",
          roles: [{ group: "g", workspace: "default", role: "viewer", createAccounts: false }]
        }
      )
      assert.strictEqual(Redacted.value(second?.clientSecret ?? Redacted.make("")), "of a file")
    })
  )

  const tenants = ["common", "organizations", "{tenantid}"]
  const wrong: ReadonlyArray<readonly [content: unknown, message: RegExp, publicUrl?: string]> = [
    ...tenants.map(
      (tenant) =>
        [
          [{ ...entra, issuer: `https://login.microsoftonline.com/${tenant}/v2.0` }],
          /providers\[0\]\.issuer: expected the issuer of one tenant: put its id in place of common/
        ] as const
    ),
    [[{ ...entra, issuer: "http://id.example.com" }], /issuer: expected an https address, or one of loopback/],
    [[entra, entra], /providers\[1\]\.id: another provider has the same id/],
    [[{ ...entra, id: "../x" }], /providers\[0\]\.id: expected lower-case letters/],
    [[{ ...entra, client_secret: "hunter2" }], /0\.client_secret/],
    [[{ ...entra, client_secret_variable: "NOT_SET" }], /entra: the variable NOT_SET is not set/],
    [[{ ...entra, scopes: ["email"] }], /scopes: expected openid among them/],
    [[entra], /publicUrl: expected an https address, or one of loopback, for providers/, "http://room.example.com"],
    ["{", /providers\.json: /]
  ]
  for (const [content, message, publicUrl] of wrong) {
    it.effect(`refuses ${message.source}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(content, publicUrl))
        assert.match(error.message, /^--providers or SIGNALBOX_PROVIDERS: /)
        assert.match(error.message, message)
        assert.notInclude(error.message, "hunter2")
      })
    )
  }

  it("that is not there is said in one line", async () => {
    const { status, stderr } = await signalbox(["up", "--port", "0", "--providers", "nowhere.json"])
    assert.strictEqual(status, 1)
    assert.match(stderr, /^signalbox: --providers or SIGNALBOX_PROVIDERS: cannot read \S+nowhere\.json[^\n]*\n$/)
  })

  it.live("leads people of `up` to the provider", () =>
    Effect.gen(function* () {
      const { folder } = yield* inFolder
      const work = yield* IdentityProvider.make("work")
      const file = join(folder, "providers.json")
      const provider = {
        id: work.id,
        name: "Work",
        issuer: work.origin,
        client_id: work.clientId,
        client_secret_variable: "WORK_SECRET"
      }
      writeFileSync(file, JSON.stringify([provider]))
      const args = ["--workers", "0", "--port", "0", "--providers", file]
      const room = yield* Effect.acquireRelease(
        Effect.promise(() => up(join(folder, "data"), args, { WORK_SECRET: work.clientSecret })),
        (room) => Effect.promise(() => room.end())
      )
      const { origin } = new URL(room.ready.base_url)
      yield* work.start(origin)
      const ask = (path: string) =>
        Effect.promise(() => fetch(`${origin}/console/sign-in${path}`, { redirect: "manual" }))
      const ways = yield* Effect.flatMap(ask(""), (response) => Effect.promise(() => response.json()))
      assert.deepStrictEqual(ways, { accounts: false, own: false, providers: [{ id: "work", name: "Work" }] })
      const begun = yield* ask("/provider/work")
      assert.strictEqual(begun.status, 303)
      assert.match(begun.headers.get("location") ?? "", new RegExp(`^${work.origin}/auth\\?`))
    }).pipe(Effect.scoped)
  )
})
