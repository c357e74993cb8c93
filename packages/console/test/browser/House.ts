/** Workers linked, secrets and keys made, changed and revoked. Part of the journeys, whose room it shares. */
import { assert } from "@effect/vitest"
import * as Secrets from "@signalbox/api/Secrets"
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { hands } from "./Hands.ts"
import { Room } from "./Room.ts"
import { type Operators, person, settled, signedIn } from "./Sight.ts"

export const house = (it: Operators) => {
  for (const by of ["mouse", "keyboard"] as const) {
    it.effect(`link a worker with the token that is shown once, and rename it by ${by}`, () =>
      Effect.gen(function* () {
        const { api, origin } = yield* Room
        const { page, reports } = yield* signedIn
        const { fill, press } = hands(page, by)
        const name = `linked by ${by}`
        const command = yield* person(async () => {
          await press(page.getByRole("link", { name: "Workers", exact: true }))
          await settled(page)
          await press(page.getByRole("button", { name: "Link worker" }))
          await press(page.getByRole("button", { name: "Create command" }))
          const shown = page.getByRole("dialog").getByRole("region", { name: "Link command" })
          const command = await shown.innerText()
          await press(page.getByRole("button", { name: "Done", exact: true }))
          return command
        })
        assert.include(command, `worker start --url ${origin}`)
        const status = yield* person(async () => {
          const link_token = /SIGNALBOX_LINK_TOKEN=(\S+)/.exec(command)?.[1]
          const response = await fetch(`${origin}/worker-v1/link`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ link_token, name, tasks: [] })
          })
          return response.status
        })
        assert.strictEqual(status, 200)
        yield* person(async () => {
          await press(page.getByRole("region", { name: "Workers" }).getByRole("link", { name, exact: true }))
          await settled(page)
          await press(page.getByRole("button", { name: "Rename…" }))
          await fill(page.getByRole("dialog").getByLabel("Name", { exact: true }), `now ${name}`)
          await press(page.getByRole("dialog").getByRole("button", { name: "Rename" }))
          await page.getByRole("heading", { level: 1, name: `now ${name}` }).waitFor()
        })
        const { data } = yield* api(Workers.list())
        const worker = data.find((one) => one.name.includes(name))
        assert.include(worker?.name, "now")
        if (worker !== undefined) yield* api(Workers.remove(worker.id))
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(`create a secret, add a value, remove one, and delete it, whose values are shown nowhere, by ${by}`, () =>
      Effect.gen(function* () {
        const { api } = yield* Room
        const { page, reports } = yield* signedIn
        const { fill, press } = hands(page, by)
        const name = `shop_${by}`
        const dialog = page.getByRole("dialog")
        const valueOf = (number: number) => {
          const fields = dialog.getByRole("group", { name: `Value ${number}` })
          return { key: fields.getByLabel("Key"), value: fields.getByLabel("Value", { exact: true }) }
        }
        const keys = Effect.map(api(Secrets.get(name)), ({ item_names }) => item_names.toSorted())
        const shown = Effect.promise(() => page.content())
        /** What a press sends. */
        const sentBy = async (button: string) => {
          const sent = page.waitForRequest((request) => request.method() === "POST")
          await press(dialog.getByRole("button", { name: button }))
          const body: unknown = JSON.parse((await sent).postData() ?? "null")
          await dialog.waitFor({ state: "detached" })
          return body
        }
        yield* person(async () => {
          await press(page.getByRole("link", { name: "Vault", exact: true }))
          await settled(page)
          await press(page.getByRole("button", { name: "New secret" }))
          await fill(dialog.getByLabel("Name"), name)
          await fill(valueOf(1).key, "password")
          await fill(valueOf(1).value, "first value")
          assert.strictEqual(await valueOf(1).value.getAttribute("type"), "password")
          await sentBy("Create secret")
          await press(page.getByRole("region", { name: "Secrets" }).getByRole("link", { name, exact: true }))
          await settled(page)
        })
        assert.deepStrictEqual(yield* keys, ["password"])
        assert.notInclude(yield* shown, "first value")
        const added = yield* person(async () => {
          await press(page.getByRole("button", { name: "Edit…" }))
          await press(dialog.getByRole("button", { name: "Add value" }))
          await fill(valueOf(2).key, "token")
          await fill(valueOf(2).value, "second value")
          return sentBy("Save changes")
        })
        // The first one was left empty, so it stays as it is.
        assert.deepStrictEqual(added, { items: { token: "second value" }, description: null, remove: [] })
        assert.deepStrictEqual(yield* keys, ["password", "token"])
        yield* person(async () => {
          await page.getByRole("list", { name: "Keys" }).getByText("token").waitFor()
          await press(page.getByRole("button", { name: "Edit…" }))
          await press(dialog.getByRole("button", { name: "Remove value 1" }))
          await sentBy("Save changes")
          await page.getByRole("list", { name: "Keys" }).getByText("password").waitFor({ state: "detached" })
        })
        assert.deepStrictEqual(yield* keys, ["token"])
        assert.notMatch(yield* shown, /first value|second value/)
        yield* person(async () => {
          await press(page.getByRole("button", { name: "Delete…" }))
          await fill(dialog.getByRole("textbox"), name)
          await press(dialog.getByRole("button", { name: "Delete secret" }))
          await page.getByRole("heading", { level: 1, name: "Vault" }).waitFor()
        })
        assert.notInclude(
          (yield* api(Stream.runCollect(Secrets.stream()))).map((secret) => secret.name),
          name
        )
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )

    it.effect(`create a key that only reads, and revoke it by ${by}`, () =>
      Effect.gen(function* () {
        const { origin } = yield* Room
        const { page, reports } = yield* signedIn
        const { choose, fill, press } = hands(page, by)
        const name = `looks by ${by}`
        const statusOf = (key: string, workspace: string, method: "GET" | "POST", path: string) =>
          person(async () => {
            const headers = { authorization: `RC-WSKEY ${key}`, "content-type": "application/json" }
            const body = method === "POST" ? { body: JSON.stringify({ name: "never" }) } : {}
            return (await fetch(`${origin}/api/v1/workspaces/${workspace}/${path}`, { method, headers, ...body }))
              .status
          })
        const { key, workspace } = yield* person(async () => {
          await press(page.getByRole("link", { name: "Connect", exact: true }))
          const login = await page.getByRole("region", { name: "Log in" }).innerText()
          await press(page.getByRole("link", { name: "API keys", exact: true }))
          await settled(page)
          await press(page.getByRole("button", { name: "New key" }))
          await fill(page.getByRole("dialog").getByLabel("Name", { exact: true }), name)
          await choose(page.getByLabel("Permissions"), "read")
          await press(page.getByRole("button", { name: "Create key" }))
          const key = await page
            .getByRole("dialog")
            .getByRole("region", { name: `Key ${name}` })
            .innerText()
          await press(page.getByRole("button", { name: "Done", exact: true }))
          return { key: key.trim(), workspace: /--workspace (\S+)/.exec(login)?.[1] ?? "" }
        })
        assert.strictEqual(yield* statusOf(key, workspace, "GET", "processes"), 200)
        assert.strictEqual(yield* statusOf(key, workspace, "POST", "worker-groups"), 403)
        yield* person(async () => {
          await press(page.getByRole("button", { name: new RegExp(`^Revoke….*${name}`) }))
          await press(page.getByRole("dialog").getByRole("button", { name: "Revoke key" }))
          await page.getByText(`Key ${name} revoked.`).waitFor()
        })
        assert.strictEqual(yield* statusOf(key, workspace, "GET", "processes"), 403)
        assert.deepStrictEqual(reports, [])
      }).pipe(Effect.scoped)
    )
  }
}
