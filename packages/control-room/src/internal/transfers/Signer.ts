/** Signs what the service issues and later accepts: download addresses, upload forms, cursors. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto"
import { MasterKey } from "../vault/MasterKey.ts"

export class Signer extends Context.Service<
  Signer,
  {
    readonly sign: (text: string) => string
    readonly verify: (text: string, signature: string) => boolean
  }
>()("@signalbox/control-room/transfers/Signer") {
  static readonly layer = Layer.effect(
    Signer,
    Effect.gen(function* () {
      // As a key of OpenSSL, which it would be made into at each signature.
      const key = createSecretKey((yield* MasterKey).derive("signing/v1"))
      const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url")
      return Signer.of({
        sign,
        verify: (text, signature) => {
          const expected = Buffer.from(sign(text))
          const given = Buffer.from(signature)
          return expected.length === given.length && timingSafeEqual(expected, given)
        }
      })
    })
  )
}
