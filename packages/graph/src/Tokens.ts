/**
 * The tokens of one account, and the shapes in which they are stored.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

export interface Tokens {
  /** Null when only a refresh token is known. */
  readonly accessToken: Redacted.Redacted | null
  /** Null for an app that signs in as itself. */
  readonly refreshToken: Redacted.Redacted | null
  /** When the access token ends, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** What was granted, as the identity provider names it. */
  readonly scopes: ReadonlyArray<string>
}

/** Only a refresh token: the first call fetches an access token. */
export const fromRefreshToken = (refreshToken: Redacted.Redacted): Tokens => ({
  accessToken: null,
  refreshToken,
  expiresAt: 0,
  scopes: []
})

/**
 * A stored token as other programs of this field write it too: the answer of the identity provider, with `expires_at` in
 * seconds since the epoch, and `scope` as a text or a list.
 */
export const StoredToken = Schema.Struct({
  token_type: Schema.optionalKey(Schema.String),
  access_token: Schema.optionalKey(Schema.NullOr(Schema.String)),
  refresh_token: Schema.optionalKey(Schema.NullOr(Schema.String)),
  scope: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, Schema.Array(Schema.String)]))),
  expires_at: Schema.optionalKey(Schema.NullOr(Schema.Finite))
})
export interface StoredToken extends Schema.Schema.Type<typeof StoredToken> {}

/** The token as a value, or as its JSON. */
const StoredTokenOrText = Schema.Union([StoredToken, Schema.fromJsonString(StoredToken)])

/** The items of a secret: a whole token, or its parts on their own. */
const StoredItems = Schema.Struct({
  ...StoredToken.fields,
  token: Schema.optionalKey(Schema.NullOr(StoredTokenOrText))
})

const secret = (text: string | null | undefined): Redacted.Redacted | null =>
  text === undefined || text === null || text === "" ? null : Redacted.make(text)

const decodeItems = Schema.decodeUnknownOption(StoredItems, { reportInput: false })

/**
 * The tokens in what was stored: `{token: {...}}` or the parts themselves. None when there is neither an access token nor a
 * refresh token; fails to `"unreadable"` when it is of another shape.
 */
export const fromStored = (stored: unknown): Option.Option<Tokens> | "unreadable" => {
  const decoded = decodeItems(stored)
  if (Option.isNone(decoded)) return "unreadable"
  const items = decoded.value
  const token = { ...items, ...items.token }
  const { scope } = token
  const tokens: Tokens = {
    accessToken: secret(token.access_token),
    // Beside a whole token, its own refresh token is the newer one.
    refreshToken: secret(token.refresh_token) ?? secret(items.refresh_token),
    expiresAt: Math.round((token.expires_at ?? 0) * 1000),
    scopes: typeof scope === "string" ? scope.split(" ").filter((name) => name !== "") : (scope ?? [])
  }
  return tokens.accessToken === null && tokens.refreshToken === null ? Option.none() : Option.some(tokens)
}

/** What is stored: secrets in plain text, for a place that only their owner can read. */
export const toStored = (tokens: Tokens): StoredToken => ({
  token_type: "Bearer",
  ...defined({
    access_token: tokens.accessToken === null ? undefined : Redacted.value(tokens.accessToken),
    refresh_token: tokens.refreshToken === null ? undefined : Redacted.value(tokens.refreshToken)
  }),
  scope: tokens.scopes,
  expires_at: tokens.expiresAt / 1000
})
