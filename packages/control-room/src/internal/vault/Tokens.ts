/**
 * Keys and tokens: `sb<kind>_<id>_<secret>`. The secret has 256 random bits, so a plain SHA-256 of it is safe to store;
 * comparisons take constant time.
 */
import { hash as digest, randomBytes, timingSafeEqual } from "node:crypto"

const kinds = {
  apiKey: "sbk",
  worker: "sbw",
  stepRun: "sbr",
  assistantRun: "sba",
  link: "sbl",
  ticket: "sbt",
  session: "sbs",
  userSession: "sbu",
  accountLink: "sbi",
  providerSignIn: "sbp",
  hook: "sbh"
} as const
export type TokenKind = keyof typeof kinds

const kindOf: ReadonlyMap<string, TokenKind> = new Map(
  // `Object.keys` loses the keys, which are those of `kinds`.
  (Object.keys(kinds) as Array<TokenKind>).map((kind) => [kinds[kind], kind])
)

export interface Token {
  readonly kind: TokenKind
  readonly id: string
  readonly secret: string
}

/** What is stored of a secret. */
export const hash = (secret: string): string => digest("sha256", secret)

/** A new token for a row: the text to show once, and the hash to store. */
export const make = (kind: TokenKind, id: string): { readonly token: string; readonly hash: string } => {
  const secret = randomBytes(32).toString("base64url")
  return { token: `${kinds[kind]}_${id}_${secret}`, hash: hash(secret) }
}

/** Null when the text is not a token of a control room. */
export const parse = (text: string): Token | null => {
  const match = /^(sb[kwraltsuiph])_([0-9a-f-]{36})_([A-Za-z0-9_-]{43})$/.exec(text)
  if (match === null) return null
  const [, prefix, id = "", secret = ""] = match
  const kind = kindOf.get(prefix ?? "")
  return kind === undefined ? null : { kind, id, secret }
}

/** Whether a secret belongs to a stored hash. */
export const matches = (secret: string, stored: string): boolean => {
  const given = Buffer.from(hash(secret), "latin1")
  const expected = Buffer.from(stored, "latin1")
  return given.length === expected.length && timingSafeEqual(given, expected)
}
