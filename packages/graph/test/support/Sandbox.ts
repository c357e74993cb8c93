/**
 * A sandbox of its own for a test, and the connection to it.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTransport from "@signalbox/transport/node"
import type { Rule } from "@signalbox/graph-sandbox/Faults"
import { GraphSandbox, type Options } from "@signalbox/graph-sandbox/GraphSandbox"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import type { Scope } from "effect/Scope"
import { AccessTokens } from "../../src/AccessTokens.ts"
import { Graph } from "../../src/Graph.ts"
import { defaultPolicy, GraphPolicy } from "../../src/Policy.ts"

export { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"

export const seed: Seed = {
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      givenName: "Ann",
      surname: "Lee",
      mail: "ann@contoso.test",
      drive: {
        "Docs/a #1%.txt": "hello world",
        "Docs/O'Brien & co.txt": "a letter",
        "Docs/Deep/er/x.txt": "deep",
        "Empty/": "",
        "nothing.bin": "",
        Notes: { package: "oneNote" },
        "Plan of Joan.txt": { shared: { from: "joan@contoso.test", path: "Plans/Plan.txt" } }
      }
    },
    {
      userPrincipalName: "joan@contoso.test",
      displayName: "Joan OneVideo",
      mail: "joan@contoso.test",
      drive: { "Plans/Plan.txt": "the plan" }
    }
  ],
  groups: [{ displayName: "Team", id: "g1", members: ["ann@contoso.test"], site: "/sites/team" }],
  sites: [
    {
      path: "/sites/team",
      displayName: "Team",
      drives: { Documents: { "Report.txt": "42", "Sub/Old.txt": "old" }, Archive: { "Old.txt": "old" } },
      lists: [
        {
          displayName: "A/B #1",
          columns: [{ name: "Page Count", number: {} }],
          items: [
            { Title: "one", Page_x0020_Count: 3 },
            { Title: "two", Page_x0020_Count: 5 }
          ]
        }
      ]
    }
  ]
}

/** Retries without long pauses. */
const quick = { ...defaultPolicy, baseMillis: 1, capMillis: 5 }

/** Transfers under a policy that gives up what stands still before long. */
export const impatient = Effect.provideService(GraphPolicy, { ...quick, idleTimeoutMillis: 500 })

export type Needs = Graph | GraphSandbox | FileSystem.FileSystem | Path.Path | Scope

/** Runs with a sandbox of its own, in real time; what the test makes lies in a folder that goes with it. */
export const inSandbox = <A, E>(effect: Effect.Effect<A, E, Needs>, options: Options = {}) => {
  const sandbox = GraphSandbox.layer({ seed, ...options })
  const connection = Layer.unwrap(
    Effect.gen(function* () {
      const { accessToken, origin } = yield* GraphSandbox
      const token = Redacted.make(yield* accessToken())
      return Graph.layerHttpClient({ graphUrl: origin, loginUrl: origin }).pipe(
        Layer.provide(AccessTokens.layerFixed(token)),
        Layer.provide(NodeTransport.layer)
      )
    })
  )
  return effect.pipe(
    Effect.provideService(GraphPolicy, quick),
    Effect.scoped,
    Effect.provide(Layer.mergeAll(Layer.provideMerge(connection, sandbox), NodeFileSystem.layer, NodePath.layer))
  )
}

/** From now on this goes wrong, and nothing else; the record of requests begins anew. */
export const faults = (...rules: ReadonlyArray<Rule>) =>
  Effect.flatMap(GraphSandbox, ({ forgetRequests, setFaults }) => Effect.andThen(setFaults({ rules }), forgetRequests))

/** What the sandbox was asked. */
export const asked = Effect.flatMap(GraphSandbox, ({ requests }) => requests)

/** Requests to the host of contents; none of them may carry a token. */
export const askedOfFiles = Effect.map(asked, (all) => all.filter(({ host }) => host === "files"))

/** Bytes that differ everywhere, the same ones each time. */
export const someBytes = (size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  let x = 123_456_789
  for (let i = 0; i < size; i++) {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    bytes[i] = x
  }
  return bytes
}
