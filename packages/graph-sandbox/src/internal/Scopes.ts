/**
 * Scopes as they are asked for, and as tokens have them.
 */
import * as Result from "effect/Result"
import * as OAuthFailure from "./OAuthFailure.ts"

const ofOpenId = new Set(["openid", "profile", "email"])
const resource = /^https:\/\/graph\.microsoft\.com\//i

/** What `.default` stands for: all that a user of the sandbox may allow. */
const all = ["User.Read", "User.ReadBasic.All", "Files.ReadWrite.All", "Sites.ReadWrite.All", "Sites.Manage.All"]

export interface Scopes {
  readonly scopes: ReadonlyArray<string>
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
  const granted = short.flatMap((scope) => (scope.toLowerCase() === ".default" ? all : [scope]))
  return Result.succeed({
    scopes: granted.length === 0 ? ["User.Read"] : [...new Set(granted)],
    openid: given.includes("openid"),
    offline: given.includes("offline_access")
  })
}

/** As the answer names them. */
export const shown = ({ openid, scopes }: Pick<Scopes, "openid" | "scopes">): string =>
  [...scopes, ...(openid ? ["profile", "openid", "email"] : [])].join(" ")
