/** People invited, signed in, given another role and removed, in a room of their own: from the first account on, nobody is a key there. */
import { assert } from "@effect/vitest"
import * as FileSystem from "effect/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Context from "effect/Context"
import * as Embedded from "signalbox/Embedded"
import * as Files from "../../src/Files.ts"
import { hands } from "./Hands.ts"
import { type Operators, person, settled, signedOut, violations } from "./Sight.ts"

const password = "a lantern over the river"

/** A room that nobody has an account of. */
const fresh = Effect.gen(function* () {
  const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const room = Embedded.layerService({ data, port: 0, rateLimit: null, console: yield* Files.read })
  // Nothing of the room that the other journeys share.
  const built = Layer.buildWithMemoMap(room, yield* Layer.makeMemoMap, yield* Effect.scope)
  return Context.get(yield* built, Embedded.Embedded)
})

export const people = (it: Operators) => {
  for (const by of ["mouse", "keyboard"] as const) {
    it.effect(`make the first account, invite somebody, and see what their role permits, by ${by}`, () =>
      Effect.gen(function* () {
        const { credentials, origin } = yield* fresh
        const first = yield* signedOut({}, origin)
        const one = hands(first.page, by)
        const invite = async (login: string, name: string, role: string) => {
          const { page } = first
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
        yield* person(async () => {
          const { page } = first
          await one.press(page.getByRole("button", { name: /^Remove.*vera/ }))
          await one.press(page.getByRole("dialog").getByRole("button", { name: "Remove" }))
          await page.getByText("vera removed.").waitFor()
          await second.page.getByLabel("Login").waitFor()
        })
        assert.deepStrictEqual([...first.reports, ...second.reports], [])
      }).pipe(Effect.scoped)
    )
  }
}
