/**
 * The tokens of a program, and what each may do.
 */
import * as Mac from "effect/crypto/Mac"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { unhandled } from "effect/Types"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { SeesSecretFields } from "@signalbox/api/contract/Authorization"
import { type ForbiddenResponse, UnauthenticatedResponse } from "@signalbox/api/contract/Responses"
import type { FlowEngine } from "../../FlowEngine.ts"
import * as FlowSchedules from "../../FlowSchedules.ts"
import { engineOf } from "../engine/EngineOf.ts"
import { SeesValues } from "../operate/Seeing.ts"
import { Authorization } from "./Middleware.ts"
import { body } from "./Errors.ts"
import * as Grants from "./Grants.ts"

/** A token that may do less than all. */
export interface TokenOptions {
  /** At least 16 characters, from a secure random source. */
  readonly token: Redacted.Redacted
  /** The names of the flows whose executions and schedules it reaches; default: all. */
  readonly flows?: ReadonlyArray<string> | undefined
  /** What it may do; default: everything. Required where values are encrypted, since without `values` they are withheld. */
  readonly verbs?: ReadonlyArray<Grants.Verb> | undefined
}

export interface Tokens {
  /** The bearer token that may do everything: at least 16 characters, from a secure random source. */
  readonly token: Redacted.Redacted
  /** Tokens for some flows and verbs, such as that of a web application that only starts one. */
  readonly tokens?: ReadonlyArray<TokenOptions> | undefined
}

const shortestToken = 16

const isVerb = (verb: unknown) => Grants.verbs.some((known) => known === verb)

/** Returns what is invalid in the options, and what is expected there. `encrypts`: whether values are encrypted. */
export const refusals = ({ token, tokens = [] }: Tokens, encrypts: boolean): ReadonlyArray<string> => {
  const isShort = (one: Redacted.Redacted) => Redacted.value(one).length < shortestToken
  const all = [token, ...tokens.map((one) => one.token)].map(Redacted.value)
  return [
    ...(isShort(token) ? [`token: Expected at least ${shortestToken} characters`] : []),
    ...tokens.flatMap(({ verbs }, n) =>
      encrypts && verbs === undefined
        ? [`tokens.${n}.verbs: Expected a list with or without \`values\`, because values are encrypted`]
        : []
    ),
    ...tokens.flatMap(({ token, verbs = [] }, n) => [
      ...(isShort(token) ? [`tokens.${n}.token: Expected at least ${shortestToken} characters`] : []),
      ...(verbs.every(isVerb) ? [] : [`tokens.${n}.verbs: Expected some of ${Grants.verbs.join(", ")}`])
    ]),
    ...(new Set(all).size === all.length ? [] : ["tokens: Expected each token once"])
  ]
}

/** Compares two texts in constant time, by their digests. */
const same = Effect.fnUntraced(function* (one: string, other: string) {
  const digest = (text: string) => Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
  return Mac.timingSafeEqual(new Uint8Array(yield* digest(one)), new Uint8Array(yield* digest(other)))
})

/** Returns the flow that the path of a request names; null when it names none that exists. */
const flowOf = ({ engine }: Effect.Success<typeof engineOf>, context: Context.Context<FlowEngine>) =>
  Effect.fnUntraced(function* ({ identifier }: { readonly identifier: string }) {
    const { params } = yield* HttpRouter.RouteContext
    if (identifier === "schedules") {
      const found = FlowSchedules.get(params["name"] ?? "").pipe(Effect.provideContext(context), Effect.option)
      return Option.getOrNull(Option.map(yield* found, ({ flow }) => flow))
    }
    return params["id"] === undefined ? null : ((yield* engine.journal.find(params["id"]))?.flow ?? null)
  })

export const layer = ({ token, tokens = [] }: Tokens) =>
  Layer.effect(
    Authorization,
    Effect.gen(function* () {
      const parts = yield* engineOf
      const { encrypts } = parts.engine
      const reached = flowOf(parts, yield* Effect.context<FlowEngine>())
      const all: ReadonlyArray<TokenOptions> = [{ token }, ...tokens]
      const grantOf = (credential: Redacted.Redacted) =>
        // All of them are compared, so that the time says nothing.
        Effect.map(
          Effect.forEach(all, (one) => same(Redacted.value(credential), Redacted.value(one.token))),
          (are) => all[are.indexOf(true)] ?? null
        )
      return {
        bearer: Effect.fnUntraced(function* (
          httpEffect,
          { credential, endpoint, group }
        ): Effect.fn.Return<
          HttpServerResponse.HttpServerResponse,
          unhandled | UnauthenticatedResponse | ForbiddenResponse,
          HttpRouter.Provided
        > {
          const grant = yield* grantOf(credential)
          if (grant === null) {
            return yield* new UnauthenticatedResponse(
              body("UNAUTHENTICATED", "Expected a token of this program: `Authorization: Bearer <token>`")
            )
          }
          yield* Grants.mayDo(grant, Grants.neededFor(group, endpoint))
          const flow = grant.flows === undefined ? null : yield* reached(group)
          if (flow !== null) yield* Grants.mayReach(grant, flow)
          return yield* httpEffect.pipe(
            Effect.provideService(Grants.CurrentGrant, grant),
            Effect.provideService(SeesValues, !encrypts || Grants.seesEncrypted(grant))
          )
        })
      }
    })
  )

/** For requests that the server around the routes has authorized. */
export const layerAuthorized = Layer.succeed(Authorization, {
  bearer: (httpEffect) =>
    Effect.flatMap(SeesSecretFields, (sees) => Effect.provideService(httpEffect, SeesValues, sees))
})
