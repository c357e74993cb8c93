/**
 * `authorize`: who signs in, and what goes back to the app.
 */
import * as Effect from "effect/Effect"
import type { App, User } from "../model/Model.ts"
import * as OAuthFailure from "./OAuthFailure.ts"
import * as Scopes from "./Scopes.ts"
import { Tokens } from "./Tokens.ts"
import { World } from "../world/World.ts"

export type Parameters = ReadonlyMap<string, string>

/** The provider's answer to a browser. */
export type Answer =
  | { readonly kind: "pick"; readonly app: App; readonly scopes: ReadonlyArray<string> }
  | {
      readonly kind: "query" | "fragment" | "form_post"
      readonly to: string
      readonly fields: Readonly<Record<string, string>>
    }

const isLoopback = (url: URL) => ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)

/** The same address; of this machine any port will do. */
const isRegistered = (app: App, redirect: string): boolean =>
  app.redirectUris.some((registered) => {
    if (registered === redirect) return true
    if (!URL.canParse(redirect) || !URL.canParse(registered)) return false
    const [given, known] = [new URL(redirect), new URL(registered)]
    return (
      isLoopback(known) &&
      given.hostname === known.hostname &&
      given.protocol === known.protocol &&
      given.pathname === known.pathname
    )
  })

const isMode = (mode: string): mode is "query" | "fragment" | "form_post" =>
  ["query", "fragment", "form_post"].includes(mode)

/** Everything about the request that a user has no part in. A failure before `redirect` is known is shown on a page. */
export const check = Effect.fnUntraced(function* (parameters: Parameters) {
  const { apps } = yield* World
  const clientId = parameters.get("client_id")
  if (clientId === undefined) return yield* OAuthFailure.missing("client_id")
  const app = apps.get(clientId)
  if (app === undefined) return yield* OAuthFailure.unknownApp(clientId)
  const redirect = parameters.get("redirect_uri") ?? app.redirectUris[0] ?? ""
  if (!isRegistered(app, redirect)) return yield* OAuthFailure.redirectMismatch(redirect)
  const mode = parameters.get("response_mode") ?? "query"
  if (!isMode(mode)) return yield* OAuthFailure.badResponseMode(mode)
  return { app, redirect, mode }
})

type Checked = Effect.Success<ReturnType<typeof check>>

const send = (
  { mode, redirect }: Checked,
  parameters: Parameters,
  fields: Readonly<Record<string, string>>
): Answer => {
  const state = parameters.get("state")
  return { kind: mode, to: redirect, fields: state === undefined ? fields : { ...fields, state } }
}

/** A failure that is reported to the app. */
export const failed = (checked: Checked, parameters: Parameters, failure: OAuthFailure.OAuthFailure): Answer =>
  send(checked, parameters, {
    error: failure.error,
    error_description: `AADSTS${failure.code}: ${failure.message}`
  })

/** `who` has been picked on the page, or declined; without it the hint or the setting decides, or the page is shown. */
export const answer = Effect.fnUntraced(function* (
  checked: Checked,
  parameters: Parameters,
  who: User | "declined" | undefined,
  automatic: string | null,
  now: number
) {
  const { userBy } = yield* World
  const tokens = yield* Tokens
  const { app, redirect } = checked
  if (parameters.get("response_type") !== "code") return yield* OAuthFailure.badResponseType
  const challenge = parameters.get("code_challenge") ?? null
  const method = parameters.get("code_challenge_method") ?? "plain"
  if (challenge !== null && method !== "S256") return yield* OAuthFailure.badChallengeMethod
  if (challenge === null && app.platform === "spa") return yield* OAuthFailure.challengeWanted
  const text = parameters.get("scope")
  if (text === undefined) return yield* OAuthFailure.missing("scope")
  const scopes = yield* Effect.fromResult(Scopes.parse(text))
  if (who === "declined") return yield* OAuthFailure.declined

  const prompt = parameters.get("prompt")
  const asksFor = prompt === "login" || prompt === "select_account" || prompt === "consent"
  const hinted = asksFor ? undefined : userBy(parameters.get("login_hint") ?? automatic ?? "")
  const user = who ?? hinted
  if (user === undefined) {
    if (prompt === "none") return yield* OAuthFailure.signInWanted
    return { kind: "pick", app, scopes: scopes.scopes } satisfies Answer
  }
  const grant = { app, user, ...scopes, nonce: parameters.get("nonce") ?? null }
  return send(checked, parameters, {
    code: tokens.newCode({ grant, redirectUri: redirect, challenge, method }, now),
    session_state: app.clientId
  })
})
