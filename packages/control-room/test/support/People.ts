/** People with a browser, as they sign in to the console. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Users from "@signalbox/api/Users"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { Secret, TOTP } from "otpauth"
import { type Answer, bodyAs } from "./Http.ts"
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

/** A second factor that is set up. */
export const Enrolment = Schema.Struct({ secret: Schema.String, url: Schema.String, pending: Schema.String })
export const Codes = Schema.Struct({ recovery_codes: Schema.Array(Schema.String) })

/** The code that an app shows. */
export const codeOf = (secret: string, at = Date.now()) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })

/** Attempts that come after the pause of those before. */
export const afterPauses = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE sign_in_pause SET until = 0`)

/** A second factor for who is signed in with these cookies. */
export const enrol = Effect.fnUntraced(function* (cookie: string) {
  const begun = bodyAs(Enrolment, yield* page("POST", "/console/account/second-factor", { password }, cookie))
  const confirmed = yield* page(
    "POST",
    "/console/account/second-factor/confirm",
    // The step before, so that the present one is still good to sign in.
    { pending: begun.pending, code: codeOf(begun.secret, Date.now() - 30_000) },
    cookie
  )
  return { ...begun, confirmed, codes: bodyAs(Codes, confirmed).recovery_codes, cookie: cookiesOf(confirmed) }
})
