/** People invited, signed in, given another role and removed, in a room of their own: from the first account on, nobody is a key there. */
import { assert } from "@effect/vitest"
import * as FileSystem from "effect/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import * as IdentityProvider from "@signalbox/testkit/IdentityProvider"
import type { Page } from "playwright-core"
import * as Embedded from "signalbox/Embedded"
import * as Files from "../../src/Files.ts"
import { createHmac } from "node:crypto"
import { hands } from "./Hands.ts"
import { type Operators, person, settled, signedOut, violations } from "./Sight.ts"

const password = "a lantern over the river"

/** The code that an authenticator app shows for a secret (RFC 6238). */
const codeOf = (secret: string) => {
  const bits = [...secret]
    .map((char) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char).toString(2).padStart(5, "0"))
    .join("")
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const mac = createHmac("sha1", key).update(step).digest()
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, "0")
}

/** A room that nobody has an account of. */
const fresh = Effect.fnUntraced(function* (more: Pick<Embedded.ServiceOptions, "providers"> = {}) {
  const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const room = Embedded.layerService({ data, port: 0, rateLimit: null, console: yield* Files.read, ...more })
  // Nothing of the room that the other journeys share.
  const built = Layer.buildWithMemoMap(room, yield* Layer.makeMemoMap, yield* Effect.scope)
  return Context.get(yield* built, Embedded.Embedded)
})

/** The page of the provider asks another site for a font. */
const withoutFonts = (page: Page) =>
  page.route(/^https:/, (route) => route.fulfill({ contentType: "text/css", body: "" })).then(() => {})

/** Invites somebody on the screen of people; returns the link. */
const inviteBy = (page: Page, one: ReturnType<typeof hands>) => async (login: string, name: string, role: string) => {
  await one.press(page.getByRole("button", { name: "Invite…" }))
  const dialog = page.getByRole("dialog")
  await one.fill(dialog.getByLabel("Login"), login)
  await one.fill(dialog.getByLabel("First name"), name)
  await dialog.getByRole("option", { name: role }).waitFor({ state: "attached" })
  await one.choose(dialog.getByLabel("Role"), role)
  await one.press(dialog.getByRole("button", { name: "Create link" }))
  const link = await page
    .getByRole("dialog")
    .getByRole("region", { name: `Link for ${login}` })
    .innerText()
  await one.press(page.getByRole("button", { name: "Done", exact: true }))
  await page.getByRole("region", { name: "People" }).getByText(name, { exact: true }).waitFor()
  return /http\S+#link=\S+/.exec(link)?.[0] ?? ""
}

export const people = (it: Operators) => {
  for (const by of ["mouse", "keyboard"] as const) {
    it.effect(`make the first account, invite somebody, and see what their role permits, by ${by}`, () =>
      Effect.gen(function* () {
        const { credentials, origin } = yield* fresh()
        const first = yield* signedOut({}, origin)
        const one = hands(first.page, by)
        const invite = inviteBy(first.page, one)
        const link = yield* person(async () => {
          const { page } = first
          await one.fill(page.getByLabel("Key"), credentials.api_key)
          await one.press(page.getByRole("button", { name: "Sign in" }))
          await one.press(page.getByRole("link", { name: "People", exact: true }))
          await settled(page)
          return invite("ada", "Ada", "admin")
        })
        // The link is opened in another browser, which is then signed in.
        const second = yield* signedOut({}, origin)
        const two = hands(second.page, by)
        const found = yield* person(async () => {
          const { page } = second
          await page.goto("about:blank")
          await page.goto(link)
          await two.fill(page.getByLabel("Password"), password)
          const onForm = await violations(page)
          await two.press(page.getByRole("button", { name: "Save and sign in" }))
          await page.getByText("Signed in as Ada").waitFor()
          assert.notInclude(page.url(), "link=")
          await two.press(page.getByRole("button", { name: "Sign out" }))
          await two.fill(page.getByLabel("Login"), "Ada")
          await two.fill(page.getByLabel("Password"), "not the password")
          await two.press(page.getByRole("button", { name: "Sign in", exact: true }))
          await page.getByText(/login, password or code is wrong/).waitFor()
          await two.fill(page.getByLabel("Password"), password)
          await two.press(page.getByRole("button", { name: "Sign in", exact: true }))
          await two.press(page.getByRole("link", { name: "Ada", exact: true }))
          await page.getByRole("heading", { name: "Browsers" }).waitFor()
          return [...onForm, ...(await violations(page))]
        })
        assert.deepStrictEqual(found, [])
        const viewer = yield* person(() => invite("vera", "Vera", "viewer"))
        yield* person(async () => {
          const { page } = second
          await page.goto("about:blank")
          await page.goto(viewer)
          await page.getByText("Ada is signed in in this browser, and will be signed out.").waitFor()
          await two.fill(page.getByLabel("Password"), password)
          await two.press(page.getByRole("button", { name: "Save and sign in" }))
          await page.getByText("Signed in as Vera").waitFor()
          // What a viewer may not do is not there.
          await page.getByRole("link", { name: "API keys" }).waitFor({ state: "detached" })
          await two.press(page.getByRole("link", { name: "People", exact: true }))
          await page.getByRole("region", { name: "People" }).getByText("Vera", { exact: true }).waitFor()
          assert.strictEqual(await page.getByRole("button", { name: "Invite…" }).count(), 0)
        })
        // From now on a second factor is required: who has none is signed out, and sets one up.
        const onSetUp = yield* person(async () => {
          await first.page.getByLabel("Require a second factor").press("Space")
          await first.page.getByText("Sign-in rules saved.").waitFor()
          const { page } = second
          await two.fill(page.getByLabel("Login"), "vera")
          await two.fill(page.getByLabel("Password"), password)
          await two.press(page.getByRole("button", { name: "Sign in", exact: true }))
          await page.getByRole("img", { name: "Code for the app to scan" }).waitFor()
          const onForm = await violations(page)
          const secret = await page.getByRole("region", { name: "Key for the app" }).innerText()
          await two.fill(page.getByLabel("Code", { exact: true }), codeOf(secret.trim()))
          await two.press(page.getByRole("button", { name: "Confirm" }))
          await page.getByRole("heading", { name: "Recovery codes" }).waitFor()
          await two.press(page.getByRole("button", { name: "Done", exact: true }))
          await page.getByText("Signed in as Vera").waitFor()
          return onForm
        })
        assert.deepStrictEqual(onSetUp, [])
        yield* person(async () => {
          const { page } = first
          await one.press(page.getByRole("button", { name: /^Remove\s*, vera/ }))
          await one.press(page.getByRole("dialog").getByRole("button", { name: "Remove" }))
          await page.getByText("vera removed.").waitFor()
          await second.page.getByLabel("Login").waitFor()
        })
        assert.deepStrictEqual([...first.reports, ...second.reports], [])
      }).pipe(Effect.scoped)
    )

    it.effect(`sign in with a provider, accept an invitation by it, and sign out there too, by ${by}`, () =>
      Effect.gen(function* () {
        const identities = yield* IdentityProvider.make("work")
        const provider = {
          id: "work",
          name: "Work account",
          issuer: identities.origin,
          clientId: identities.clientId,
          clientSecret: Redacted.make(identities.clientSecret),
          roles: [{ group: "staff", workspace: "default", role: "admin" }]
        }
        const { credentials, origin } = yield* fresh({ providers: [provider] })
        yield* identities.start(credentials.base_url)
        const first = yield* signedOut({}, origin, withoutFonts)
        const one = hands(first.page, by)
        /** The page of the provider, which is of another site. */
        const signInAt = async (page: Page, login: string) => {
          const own = hands(page, by)
          await own.fill(page.getByPlaceholder("Enter any login"), login)
          await own.fill(page.getByPlaceholder("and password"), "any")
          await own.press(page.getByRole("button", { name: "Sign-in" }))
        }
        const found = yield* person(async () => {
          const { page } = first
          await page.goto(`${origin}/console/#/people`)
          await page.reload()
          const onSignIn = await violations(page)
          await one.press(page.getByRole("link", { name: "Sign in with Work account" }))
          await signInAt(page, "eve~strangers")
          await page.getByText("You have no access to this control room").waitFor()
          await page.getByText("strangers").waitFor()
          const onRefusal = await violations(page)
          await page.context().clearCookies()
          await one.press(page.getByRole("link", { name: "Sign in with Work account again" }))
          await signInAt(page, "ada~staff")
          await page.getByText("Signed in as ada Person").waitFor()
          // Where the address had led to.
          await page.getByRole("heading", { name: "People" }).waitFor()
          return [...onSignIn, ...onRefusal]
        })
        assert.deepStrictEqual(found, [])
        const link = yield* person(() => inviteBy(first.page, one)("vera", "Vera", "viewer"))
        const second = yield* signedOut({}, origin, withoutFonts)
        const two = hands(second.page, by)
        yield* person(async () => {
          const { page } = second
          await page.goto("about:blank")
          await page.goto(link)
          await two.press(page.getByRole("button", { name: "Continue with Work account" }))
          await signInAt(page, "someone")
          await page.getByText("Signed in as Vera").waitFor()
          await two.press(page.getByRole("link", { name: "Vera", exact: true }))
          await page.getByText("You sign in with a provider").waitFor()
          await two.press(page.getByRole("button", { name: "Sign out", exact: true }).first())
          await two.press(page.getByRole("button", { name: "Yes, sign me out" }))
          await page.getByRole("link", { name: "Sign in with Work account" }).waitFor()
        })
        assert.deepStrictEqual([...first.reports, ...second.reports], [])
      }).pipe(Effect.scoped)
    )
  }
}
