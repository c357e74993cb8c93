/**
 * Sign-ins that have begun and not ended, stored beside the token: the person may come back to another object or process than the
 * one that sent them. Each is found by its state, and ends after an hour.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as HttpClient from "effect/http/HttpClient"
import { OAuthError, own, StateMismatch } from "../../OAuthError.ts"
import type { TokenStoreError } from "../../TokenStore.ts"
import * as PrivateFile from "./PrivateFile.ts"
import { PendingAuthorization } from "./Redirect.ts"
import * as VaultItems from "./VaultItems.ts"

const lifeMillis = 3_600_000
/** Of more sign-ins within an hour that were not completed, the oldest are dropped. */
const most = 20

const Kept = Schema.Array(Schema.Struct({ ...PendingAuthorization.fields, until: Schema.Finite }))
type Kept = typeof Kept.Type

const decode = Schema.decodeUnknownOption(Kept, { reportInput: false })
const encode = Schema.encodeEffect(Schema.toCodecJson(Kept))

/** Where they are: JSON that is read and written as a whole. */
interface Keeper {
  readonly read: Effect.Effect<unknown, TokenStoreError>
  readonly write: (value: Schema.Json) => Effect.Effect<void, TokenStoreError>
  readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TokenStoreError, R>
}

const unknown = new OAuthError({
  reason: new StateMismatch(
    own(
      "this address belongs to no sign-in that was begun here within the last hour: begin one with the same place for the token, and open its new address"
    )
  )
})

const over = ({ exclusive, read, write }: Keeper) => {
  // Unreadable contents count as none: the person signs in once more.
  const load = Effect.gen(function* () {
    const kept: Kept = Option.getOrElse(decode(yield* read), () => [])
    const now = yield* Clock.currentTimeMillis
    return kept.filter(({ until }) => until > now)
  })
  const change = (update: (kept: Kept) => Kept) =>
    exclusive(Effect.flatMap(load, (kept) => Effect.flatMap(Effect.orDie(encode(update(kept).slice(-most))), write)))
  return PendingAuthorizations.of({
    keep: Effect.fnUntraced(function* (pending) {
      const until = (yield* Clock.currentTimeMillis) + lifeMillis
      yield* change((kept) => [...kept, { ...pending, until }])
    }),
    find: Effect.fnUntraced(function* (state) {
      const found = (yield* load).find((pending) => pending.state === state)
      return found ?? (yield* unknown)
    }),
    forget: (state) => change((kept) => kept.filter((pending) => pending.state !== state))
  })
}

export class PendingAuthorizations extends Context.Service<
  PendingAuthorizations,
  {
    readonly keep: (pending: PendingAuthorization) => Effect.Effect<void, TokenStoreError>
    /** Fails as `StateMismatch` when none has this state. */
    readonly find: (state: string) => Effect.Effect<PendingAuthorization, OAuthError | TokenStoreError>
    readonly forget: (state: string) => Effect.Effect<void, TokenStoreError>
  }
>()("@signalbox/graph/PendingAuthorizations") {
  /** In a file that only its owner can read. */
  static readonly layerFile = (path: string): Layer.Layer<PendingAuthorizations, never, FileSystem.FileSystem> =>
    Layer.effect(
      PendingAuthorizations,
      Effect.map(PrivateFile.make("the file of sign-ins that have begun", path), ({ exclusive, read, replace }) =>
        over({
          read: Effect.map(read, (text) => Option.getOrNull(Option.flatMap(text, parse))),
          write: (value) => replace(`${JSON.stringify(value, null, 1)}\n`),
          exclusive
        })
      )
    )

  /** In an item of the secret that has the token. */
  static readonly layerVault = (
    options: VaultItems.Options
  ): Layer.Layer<PendingAuthorizations, never, HttpClient.HttpClient> =>
    Layer.effect(
      PendingAuthorizations,
      Effect.map(VaultItems.make(options), ({ exclusive, merge, read }) =>
        over({
          read: Effect.map(read, (items) => Option.getOrUndefined(items)?.[item]),
          write: (value) => merge({ [item]: value }),
          exclusive
        })
      )
    )
}

const item = "pending_authorizations"
const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
