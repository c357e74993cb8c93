/**
 * What the examples share: the connection from the environment, the drive that they use, and signing in. Tokens and state are
 * stored in `SIGNALBOX_GRAPH_DATA`, default `.signalbox/graph`.
 */
import { endpoints, locate } from "@signalbox/graph/Cloud"
import * as Drive from "@signalbox/graph/Drive"
import * as FileTokenStore from "@signalbox/graph/FileTokenStore"
import * as Loopback from "@signalbox/graph/Loopback"
import { layerWith } from "@signalbox/graph/node"
import { OAuth } from "@signalbox/graph/OAuth"
import { getScopes, type ScopeHelper } from "@signalbox/graph/Scopes"
import * as Sites from "@signalbox/graph/Sites"
import * as Users from "@signalbox/graph/Users"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { join } from "node:path"

export const data = Config.String("SIGNALBOX_GRAPH_DATA").pipe(
  Config.withDefault(".signalbox/graph")
)

/** A separate token file for each identity provider, so that tokens of a sandbox do not replace those of the service. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { host } = new URL(locate(yield* OAuth.config).login)
    const path = join(yield* data, `token-${host.replace(":", "-")}.json`)
    return layerWith(FileTokenStore.layer({ path }))
  })
)

/** The drive of the account; with `SIGNALBOX_GRAPH_SITE` (its address) the default library of that site. */
export const drive = Effect.gen(function* () {
  const site = yield* Config.option(Config.String("SIGNALBOX_GRAPH_SITE"))
  return Option.isNone(site)
    ? Drive.me
    : Drive.of({ site: (yield* Sites.get(site.value)).id })
})

const isLocal = (url: string) =>
  ["localhost", "127.0.0.1"].includes(new URL(url).hostname)

/** A sandbox that was started with `--sign-in-as` signs in without a person, so its address need not be opened. */
const show = Effect.fnUntraced(function* (url: string) {
  yield* Console.log(`Sign in at\n${url}`)
  if (isLocal(url)) yield* HttpClient.get(url)
}, Effect.provide(FetchHttpClient.layer))

const device = Effect.fnUntraced(function* (scopes: ReadonlyArray<string>) {
  const login = yield* (yield* OAuth).deviceLogin({ scopes })
  yield* Console.log(login.message)
  yield* login.complete
})

/**
 * Signs in unless a valid token exists: in a browser on this computer, or with `SIGNALBOX_GRAPH_SIGN_IN=device` on
 * another one. An app that acts as itself (`SIGNALBOX_GRAPH_ACTS_AS=app`) needs no sign-in.
 */
export const signInFor = Effect.fnUntraced(function* (
  ...helpers: ReadonlyArray<ScopeHelper>
) {
  const { actsAs, cloud } = yield* OAuth.config
  if (actsAs === "app") return
  const how = yield* Config.Literals(
    ["browser", "device"],
    "SIGNALBOX_GRAPH_SIGN_IN"
  ).pipe(Config.withDefault("browser"))
  const scopes = getScopes(helpers, endpoints[cloud ?? "global"].graph)
  yield* Users.me({ select: ["id"] }).pipe(
    Effect.catchReason("GraphError", "Unauthenticated", () =>
      how === "device" ? device(scopes) : Loopback.signIn(show, { scopes })
    )
  )
})

/** Signs in for files and sites. */
export const signIn = signInFor("drive_all", "site_dl")
