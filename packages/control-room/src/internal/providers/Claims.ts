/** What the claims of a provider say: who somebody is, how they are called, and their groups. */
import { namesOf, normalise } from "../engine/Logins.ts"
import type { GroupRole } from "../../Options.ts"

/** The claims of an ID token, with those of the user info that it lacks. */
export type Claims = Readonly<Record<string, unknown>>

const textOf = (claims: Claims, name: string): string | undefined => {
  const value = claims[name]
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

/** The value of the claim that identifies a person; null: it is missing. Some providers have numbers there. */
export const subjectOf = (claims: Claims, claim: string): string | null => {
  const value = claims[claim]
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value
  return typeof text === "string" && text !== "" && text.length <= 255 ? text : null
}

/** The groups of a person, or why they are not known. */
export type Groups =
  | { readonly kind: "known"; readonly names: ReadonlyArray<string> }
  /** The provider sent none of this claim. */
  | { readonly kind: "missing" }
  /** The provider has more than it puts into a token, and refers to elsewhere. */
  | { readonly kind: "too many" }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

export const groupsOf = (claims: Claims, claim: string): Groups => {
  const value = claims[claim]
  if (Array.isArray(value)) {
    return { kind: "known", names: value.filter((name): name is string => typeof name === "string") }
  }
  if (typeof value === "string") return { kind: "known", names: [value] }
  const elsewhere = claims["_claim_names"]
  const isElsewhere = isObject(elsewhere) && claim in elsewhere
  return isElsewhere || claims["hasgroups"] === true || claims["hasgroups"] === "true"
    ? { kind: "too many" }
    : { kind: "missing" }
}

/** In each workspace the first role whose group is among these. */
export const rolesOf = (roles: ReadonlyArray<GroupRole>, groups: ReadonlyArray<string>): ReadonlyArray<GroupRole> => {
  const held = new Set(groups)
  const chosen = new Map<string, GroupRole>()
  for (const role of roles) {
    if (held.has(role.group) && !chosen.has(role.workspace)) chosen.set(role.workspace, role)
  }
  return [...chosen.values()]
}

/** As the contract has a login: without spaces and control characters. */
const loginFrom = (text: string | undefined) => {
  const bare = normalise(text ?? "").replaceAll(/[\s\p{C}]+/gu, "")
  return bare === "" ? undefined : bare.slice(0, 80)
}

/** A person without an account, as it is made: names, and logins of which the first that nobody has is taken. */
export const personOf = (claims: Claims, provider: string, subject: string) => {
  const email = textOf(claims, "email")
  const login = loginFrom(textOf(claims, "preferred_username")) ?? loginFrom(email) ?? loginFrom(subject) ?? provider
  const [first, ...rest] = (textOf(claims, "name") ?? "").split(/\s+/).filter((part) => part !== "")
  const given = textOf(claims, "given_name") ?? first
  const family = textOf(claims, "family_name") ?? (rest.length === 0 ? undefined : rest.join(" "))
  return {
    logins: [login, `${login}+${provider}`, ...(loginFrom(`${provider}:${subject}`)?.split(" ") ?? [])],
    ...namesOf(login, given?.slice(0, 100), family?.slice(0, 100)),
    email: email === undefined || email.length > 254 ? null : email
  }
}
