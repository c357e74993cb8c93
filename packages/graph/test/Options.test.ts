import { assert, describe, it } from "@effect/vitest"
import { OptionError } from "@signalbox/transport/OptionError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { AccessTokens } from "../src/AccessTokens.ts"
import { Graph } from "../src/Graph.ts"
import * as Loopback from "../src/Loopback.ts"
import { OAuth } from "../src/OAuth.ts"
import { defaultPolicy, GraphPolicy } from "../src/Policy.ts"
import { TokenStore } from "../src/TokenStore.ts"
import * as Users from "../src/Users.ts"

const graph = (options: object) =>
  Effect.asVoid(Layer.build(Graph.layer(options).pipe(Layer.provide(AccessTokens.layerFixed(Redacted.make("token"))))))
const oauth = (options: object) =>
  Effect.asVoid(
    Layer.build(
      OAuth.layer({ clientId: "id", ...options }).pipe(
        Layer.provide(Layer.merge(FetchHttpClient.layer, TokenStore.layerMemory()))
      )
    )
  )
const policy = (options: object) =>
  Users.me().pipe(
    Effect.provideService(GraphPolicy, { ...defaultPolicy, ...options }),
    Effect.provide(Graph.layer().pipe(Layer.provide(AccessTokens.layerFixed(Redacted.make("token"))))),
    Effect.asVoid
  )
const loopback = (options: object) => Effect.asVoid(Loopback.listenForRedirect(options))

describe("options that cannot be", () => {
  for (const [name, make, options, said] of [
    ["Graph", graph, { graphUrl: "graph" }, "Graph.layer: graphUrl: expected an absolute http or https address"],
    ["Graph", graph, { userAgent: "" }, "Graph.layer: userAgent: expected a text that is not empty"],
    ["the policy", policy, { capMillis: -1 }, "GraphPolicy: capMillis: expected a length of time of 0 or more"],
    ["OAuth", oauth, { clientId: "" }, "OAuth.layer: clientId: expected a text that is not empty"],
    ["OAuth", oauth, { loginUrl: "//login" }, "OAuth.layer: loginUrl: expected an absolute http or https address"],
    ["Loopback", loopback, { port: NaN }, "Loopback: port: expected a whole number from 0 to 65535, not NaN"],
    ["Loopback", loopback, { timeout: 0 }, "Loopback: timeout: expected a length of time above 0"]
  ] as const) {
    it.effect(`of ${name} are refused where they are given: ${Object.keys(options).join()}`, () =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Effect.scoped<void, unknown, Scope.Scope>(make(options)))
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : null
        assert.instanceOf(error, OptionError)
        assert.include(error instanceof OptionError ? error.message : "", said)
      })
    )
  }
})
