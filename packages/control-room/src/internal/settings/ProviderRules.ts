/** What the settings of providers can be. */
import { address, check, listOf, matching, named, OptionError, type Rule, text } from "@signalbox/transport/OptionError"
import type { SignInProvider } from "../../Options.ts"

const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)

/** Whether nobody on the way can read and change what goes to an address. */
export const isSafeAddress = (url: string): boolean => {
  const { hostname, protocol } = new URL(url)
  return protocol === "https:" || isLoopback(hostname)
}

/** One tenant: keys that are shared by all sign for everybody who has an account anywhere. */
const issuer: Rule = (value) => {
  const expected = address(value)
  if (expected !== null || typeof value !== "string") return expected
  const path = new URL(value).pathname
  if (/\{tenantid\}|%7Btenantid%7D|^\/(common|organizations|consumers)(\/|$)/i.test(path)) {
    return "expected the issuer of one tenant: put its id in place of common, organizations or {tenantid}"
  }
  return isSafeAddress(value) ? null : "expected an https address, or one of loopback"
}

const id = matching(/^[a-z0-9][a-z0-9-]{0,39}$/, "expected lower-case letters, digits and `-`, such as entra")

/**
 * Throws an `OptionError` for providers that cannot be: an issuer of many tenants, an address that others can read, two with the same id.
 * `of` names whose options they are.
 */
export const checkProviders = (
  of: string,
  providers: ReadonlyArray<SignInProvider>,
  publicUrl: string | undefined
): void => {
  for (const [index, provider] of providers.entries()) {
    const prefix = `providers[${index}].`
    const rules = {
      id,
      name: named,
      issuer,
      clientId: text,
      scopes: listOf(text),
      subjectClaim: text,
      groupsClaim: text
    }
    check(of, provider, rules, prefix)
    for (const [place, role] of (provider.roles ?? []).entries()) {
      check(of, role, { group: text, workspace: text, role: text }, `${prefix}roles[${place}].`)
    }
    if (providers.findIndex((other) => other.id === provider.id) !== index) {
      throw new OptionError(`${prefix}id`, `${of}: ${prefix}id: another provider has the same id`)
    }
    if (provider.scopes?.includes("openid") === false) {
      throw new OptionError(`${prefix}scopes`, `${of}: ${prefix}scopes: expected openid among them`)
    }
  }
  if (providers.length > 0 && publicUrl !== undefined && !isSafeAddress(publicUrl)) {
    throw new OptionError("publicUrl", `${of}: publicUrl: expected an https address, or one of loopback, for providers`)
  }
}
