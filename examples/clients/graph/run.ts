/**
 * Runs one of these programs as the account that is signed in: `node examples/clients/graph/run.ts list-folder.promise /Inbox`.
 * An argument that is JSON is given as what it says.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import { Graph } from "@signalbox/graph/Graph"
import { OAuth } from "@signalbox/graph/OAuth"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Connection from "../../graph/connection.ts"

const argument = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const program = Effect.gen(function* () {
  yield* Connection.signIn
  const [name = "", ...args] = process.argv.slice(2)
  const { main }: { readonly main: unknown } = yield* Effect.promise(
    () => import(`./${name}.ts`)
  )
  const tokens = yield* AccessTokens
  const token = () =>
    Effect.runPromise(Effect.map(tokens.current, Redacted.value))
  const options = { ...(yield* Graph.config), token }
  const made: unknown =
    typeof main === "function" ? main(...args.map(argument), options) : main
  // The programs need nothing but the connection and local files.
  const result = Effect.isEffect(made)
    ? yield* made as Effect.Effect<unknown>
    : yield* Effect.promise(async () => made)
  yield* Console.log(result)
})

program.pipe(
  Effect.provide(Layer.provideMerge(OAuth.layerAccessTokens, Connection.layer)),
  NodeRuntime.runMain
)
