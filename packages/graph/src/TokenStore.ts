/**
 * Where tokens are kept between runs. The service may be implemented by anyone; here are the rules.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Tokens } from "./Tokens.ts"

/** The store could not be read or written; the message says which one and what to do. */
export class TokenStoreError extends Schema.TaggedError<TokenStoreError>()("TokenStoreError", {
  message: Schema.String
}) {}

export class TokenStore extends Context.Service<
  TokenStore,
  {
    /** What is stored; none: nobody has authorized yet. */
    readonly load: Effect.Effect<Option.Option<Tokens>, TokenStoreError>
    /** Replaces what is stored, wholly or not at all. */
    readonly save: (tokens: Tokens) => Effect.Effect<void, TokenStoreError>
    /** Runs while nobody else does, in this process or, where the store can tell, in another one. */
    readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TokenStoreError, R>
  }
>()("@signalbox/graph/TokenStore") {}
