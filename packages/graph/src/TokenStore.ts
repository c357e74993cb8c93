/**
 * Where tokens are stored between runs. Here the service and a store in memory; `FileTokenStore` and `VaultTokenStore` have the
 * others. Implement the service to keep tokens elsewhere.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { Tokens } from "./Tokens.ts"

/** The store could not be read or written; the message says which one and what to do. */
export class TokenStoreError extends TaggedError<TokenStoreError>()("TokenStoreError", {
  message: Schema.String
}) {}

export class TokenStore extends Context.Service<
  TokenStore,
  {
    /** Returns the stored tokens; none before the first authorization. */
    readonly load: Effect.Effect<Option.Option<Tokens>, TokenStoreError>
    /** Replaces what is stored, wholly or not at all. */
    readonly save: (tokens: Tokens) => Effect.Effect<void, TokenStoreError>
    /** Runs an effect exclusively: in this process and, if the store can lock, across processes. */
    readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TokenStoreError, R>
  }
>()("@signalbox/graph/TokenStore") {
  /** Tokens that end with the program; it may start with some. */
  static readonly layerMemory = (initial?: Tokens): Layer.Layer<TokenStore> =>
    Layer.effect(
      TokenStore,
      Effect.gen(function* () {
        const stored = yield* Ref.make(Option.fromUndefinedOr(initial))
        const permit = yield* Semaphore.make(1)
        return TokenStore.of({
          load: Ref.get(stored),
          save: (tokens) => Ref.set(stored, Option.some(tokens)),
          exclusive: permit.withPermits(1)
        })
      })
    )
}
