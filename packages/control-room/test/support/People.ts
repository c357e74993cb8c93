/** People with a browser, as they sign in to the console. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Users from "@signalbox/api/Users"
import type { Answer } from "./Http.ts"
import { Service } from "./Service.ts"

/** What a browser sends with requests of the console itself. */
export const own = { "sec-fetch-site": "same-origin", "x-signalbox-console": "1" }

export const password = "a lantern over the river"

/** The cookies that an answer sets, as a browser sends them back. */
export const cookiesOf = ({ headers }: Answer): string =>
  [...(headers["set-cookie"] ?? "").matchAll(/((?:__Host-)?signalbox-[^=\s,]+=[^;]*)/g)]
    .map(([, cookie]) => cookie)
    .join("; ")

/** A request of a page of the console. */
export const page = (method: string, path: string, json?: unknown, cookie = "") =>
  Effect.flatMap(Service, ({ raw }) =>
    raw(method, path, {
      key: null,
      headers: cookie === "" ? own : { ...own, cookie },
      ...(json === undefined ? {} : { json })
    })
  )

export const signIn = (login: string, given = password, more: object = {}, cookie = "") =>
  page("POST", "/console/sign-in", { login, password: given, ...more }, cookie)

const linkIn = (url: Redacted.Redacted) => Redacted.value(url).split("#link=")[1] ?? ""

/** The link of an invitation or a reset, as it stands in the fragment of its address. */
export const linkOf = (link: Users.UserLink | null) => (link === null ? "" : linkIn(link.url))

/** Invites somebody, who chooses the password; returns the user and the cookies of their browser. */
export const member = Effect.fnUntraced(function* (invitation: Users.Invitation) {
  const { link, ...user } = yield* Users.invite(invitation)
  const chosen = yield* page("POST", "/console/link", { link: linkOf(link), password })
  assert.strictEqual(chosen.status, 200, chosen.text)
  return { user, cookie: cookiesOf(chosen) }
})

/** A login that no other test has. */
export const newLogin = (name: string) => `${name}-${crypto.randomUUID().slice(0, 8)}`
