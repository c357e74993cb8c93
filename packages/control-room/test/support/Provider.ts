/** A provider of OpenID Connect in a child process, and a browser that signs in with it. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as IdentityProvider from "@signalbox/testkit/IdentityProvider"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { SignInProvider } from "../../src/Options.ts"
import type { Answer } from "./Http.ts"
import { own } from "./People.ts"
import { alertsByHand, layerIn, Service, temporaryFolder } from "./Service.ts"

/** A provider that has not started, with the settings of a room for it. */
export const make = (id: string, more: Pick<SignInProvider, "roles" | "subjectClaim"> = {}) =>
  Effect.map(IdentityProvider.make(id), (provider) => {
    const settings: SignInProvider = {
      id,
      name: `Provider ${id}`,
      issuer: provider.origin,
      clientId: provider.clientId,
      clientSecret: Redacted.make(provider.clientSecret),
      ...more
    }
    return { ...provider, settings }
  })
export type Provider = Effect.Success<ReturnType<typeof make>>

/** The providers of a room, by id. */
export class Real extends Context.Service<Real, Provider>()("test/Real") {}
export class Other extends Context.Service<Other, Provider>()("test/Other") {}

/** A room with two providers. Groups of the first one give roles; with the second, people sign in by invitation. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const real = yield* make("real", {
      roles: [
        { group: "admins", workspace: "test", role: "admin" },
        { group: "staff", workspace: "test", role: "viewer" },
        { group: "guests", workspace: "test", role: "viewer", createAccounts: false },
        { group: "lone", workspace: "other", role: "admin" },
        { group: "lost", workspace: "nowhere", role: "viewer" }
      ]
    })
    const other = yield* make("other", { subjectClaim: "oid" })
    const folder = yield* temporaryFolder
    const started = Effect.gen(function* () {
      const { origin } = yield* Service
      yield* Effect.all([real.start(origin), other.start(origin)], { concurrency: 2 })
      return Context.make(Real, real).pipe(Context.add(Other, other))
    })
    const room = layerIn(folder, { rateLimit: null, providers: [real.settings, other.settings] })
    return Layer.provideMerge(Layer.effectContext(started), room)
  })
).pipe(Layer.provide(alertsByHand))

/** A browser at a provider: types a login, and returns the address that the provider sends it back to. */
export const signInAt = (address: string, login: string) =>
  Effect.promise(async () => {
    const jar = new Map<string, string>()
    const go = async (url: string, form?: URLSearchParams): Promise<Response> => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
      const response = await fetch(url, {
        redirect: "manual",
        headers: { cookie },
        ...(form === undefined ? {} : { method: "POST", body: form })
      })
      for (const set of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        jar.set(name, value)
      }
      await response.text()
      return response
    }
    const locationOf = (response: Response, base: string) => {
      const location = response.headers.get("location")
      if (location === null) throw new Error(`no redirect from ${base}: ${response.status}`)
      return new URL(location, base).href
    }
    let at = locationOf(await go(address), address)
    const form = new URLSearchParams({ prompt: "login", login, password: "any" })
    if (at.includes("/interaction/")) at = locationOf(await go(at, form), at)
    while (!at.includes("/console/")) at = locationOf(await go(at), at)
    return at
  })

export const cookiesOf = ({ headers }: Answer): string =>
  [...(headers["set-cookie"] ?? "").matchAll(/(?:^|,\s*)([\w-]*signalbox-[^=\s,]+=[^;]*)/g)]
    .map(([, cookie]) => cookie)
    .join("; ")

/** A link that somebody follows on a page of the console; `cookie`: what their browser has. */
export const follow = (path: string, cookie = "", headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(Service, ({ raw }) =>
    raw("GET", path, {
      key: null,
      headers: {
        "sec-fetch-site": "same-origin",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
        ...(cookie === "" ? {} : { cookie }),
        ...headers
      }
    })
  )

/** Begins a sign-in; returns the address of the provider and the cookie for the way back. */
export const begin = Effect.fnUntraced(function* (provider: Provider, cookie = "", to = "") {
  const query = to === "" ? "" : `?to=${encodeURIComponent(to)}`
  const answer = yield* follow(`/console/sign-in/provider/${provider.id}${query}`, cookie)
  assert.strictEqual(answer.status, 303, answer.text)
  return { address: answer.headers["location"] ?? "", cookie: cookiesOf(answer) }
})

/** The provider sends a browser back, which no page of the room has asked for. */
export const comeBack = (address: string, cookie: string, headers: Readonly<Record<string, string>> = {}) => {
  const { pathname, search } = new URL(address)
  return follow(`${pathname}${search}`, cookie, { "sec-fetch-site": "cross-site", ...headers })
}

/** A whole sign-in; returns the last page and the cookies that it sets. */
export const enter = Effect.fnUntraced(function* (provider: Provider, login: string, cookie = "") {
  const begun = yield* begin(provider, cookie)
  const back = yield* signInAt(begun.address, login)
  const answer = yield* comeBack(back, begun.cookie)
  return { ...answer, cookie: cookiesOf(answer) }
})

export const sessionOf = (cookie: string) =>
  Effect.flatMap(Service, ({ raw }) => raw("GET", "/console/session", { key: null, headers: { ...own, cookie } }))
