/**
 * The national clouds of the service: where its API and its identity provider are.
 */
import { address } from "@signalbox/transport/OptionError"
import * as Schema from "effect/Schema"

export const Cloud = Schema.Literals(["global", "us", "dod", "china"])
/** `us`: the government cloud (L4); `dod`: that of the Department of Defense; `china`: operated by 21Vianet. */
export type Cloud = typeof Cloud.Type

/** Addresses without a trailing slash. */
export interface Endpoints {
  readonly graph: string
  readonly login: string
}

export const endpoints: Readonly<Record<Cloud, Endpoints>> = {
  global: { graph: "https://graph.microsoft.com", login: "https://login.microsoftonline.com" },
  us: { graph: "https://graph.microsoft.us", login: "https://login.microsoftonline.us" },
  dod: { graph: "https://dod-graph.microsoft.us", login: "https://login.microsoftonline.us" },
  china: { graph: "https://microsoftgraph.chinacloudapi.cn", login: "https://login.partner.microsoftonline.cn" }
}

/** Where things are: a cloud, and addresses that replace those of the cloud. */
export interface Place {
  /** Default `global`. */
  readonly cloud?: Cloud | undefined
  /** The address of the API, such as `http://127.0.0.1:4800`; a version at its end is taken away. */
  readonly graphUrl?: string | undefined
  /** The address of the identity provider. */
  readonly loginUrl?: string | undefined
}

/** What the addresses of a place can be. */
export const placeRules = { graphUrl: address, loginUrl: address }

/** An `http` or `https` address, for configuration. */
export const Address = Schema.String.check(
  Schema.makeFilter((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    expected: "an http or https address"
  })
)

/** The addresses of a place, without trailing slashes. */
export const locate = (place: Place): Endpoints => {
  const cloud = endpoints[place.cloud ?? "global"]
  return {
    graph: (place.graphUrl ?? cloud.graph).replace(/\/+$/, "").replace(/\/(v1\.0|beta)$/, ""),
    login: (place.loginUrl ?? cloud.login).replace(/\/+$/, "")
  }
}
