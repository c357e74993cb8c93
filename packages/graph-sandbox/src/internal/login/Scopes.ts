/**
 * Scopes as they are asked for, and as tokens have them.
 */
import * as Result from "effect/Result"
import * as OAuthFailure from "./OAuthFailure.ts"
import { supportedScopes } from "../model/SupportedScopes.ts"

const ofOpenId = new Set(["openid", "profile", "email"])
const resource = /^https:\/\/graph\.microsoft\.com\//i

export interface Scopes {
  /** Without the address of the graph. */
  readonly scopes: ReadonlyArray<string>
  /** The same, as they were asked for. */
  readonly asked: ReadonlyArray<string>
  readonly openid: boolean
  readonly offline: boolean
}

/** Names lose the address of the graph; what belongs to another resource is refused. */
export const parse = (text: string): Result.Result<Scopes, OAuthFailure.OAuthFailure> => {
  const given = text.split(/\s+/).filter((scope) => scope !== "")
  const names = given.filter((scope) => !ofOpenId.has(scope) && scope !== "offline_access")
  const foreign = names.find((scope) => scope.includes("://") && !resource.test(scope))
  if (foreign !== undefined) return Result.fail(OAuthFailure.badScope(foreign))
  const short = names.map((scope) => scope.replace(resource, ""))
  const malformed = short.find((scope) => !/^[\w.-]+$/.test(scope) || scope === "")
  if (malformed !== undefined) return Result.fail(OAuthFailure.badScope(malformed))
  const granted = short.flatMap((scope) => (scope.toLowerCase() === ".default" ? supportedScopes : [scope]))
  return Result.succeed({
    scopes: granted.length === 0 ? ["User.Read"] : [...new Set(granted)],
    asked:
      granted.length === 0 ? ["User.Read"] : names.some((name) => /(?:^|\/)\.default$/i.test(name)) ? granted : names,
    openid: given.includes("openid"),
    offline: given.includes("offline_access")
  })
}

/** As the answer names them. */
export const shown = ({ asked, openid }: Pick<Scopes, "openid" | "asked">): string =>
  [...asked, ...(openid ? ["profile", "openid", "email"] : [])].join(" ")
