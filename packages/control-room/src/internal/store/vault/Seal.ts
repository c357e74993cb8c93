/**
 * Seals texts in rows of other tables that must not be readable in the database: secrets of webhooks, tokens of
 * repositories, stored responses.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DataKeys } from "./DataKeys.ts"
import { decryptText, encrypt } from "../../vault/Encryption.ts"

/**
 * The context says where a sealed text belongs, such as `webhook secret ${id}`; it is not secret, and opens the text
 * only together with the key. Pure computation, so it may run inside transactions.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Seal } from "@signalbox/control-room/vault/Seal"
 *
 * export const roundTrip = Effect.gen(function* () {
 *   const { open, seal } = yield* Seal
 *   const sealed = yield* seal("whsec_..", "webhook secret 1")
 *   return yield* open(sealed, "webhook secret 1")
 * })
 * ```
 */
export class Seal extends Context.Service<
  Seal,
  {
    readonly seal: (text: string, context: string) => Effect.Effect<string>
    /** A text that does not open was changed or moved in the database: a defect, which names the context only. */
    readonly open: (sealed: string, context: string) => Effect.Effect<string>
  }
>()("@signalbox/control-room/store/Seal") {
  static readonly layer = Layer.effect(
    Seal,
    Effect.gen(function* () {
      const key = yield* (yield* DataKeys).get("seal")
      return Seal.of({
        seal: (text, context) => Effect.sync(() => encrypt(key, Buffer.from(text), context)),
        open: (sealed, context) => decryptText(key, sealed, context)
      })
    })
  )
}
