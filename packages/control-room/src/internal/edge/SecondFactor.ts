/** Codes of authenticator apps (TOTP, RFC 6238) as a second factor, and recovery codes for who has lost theirs. */
import type { UserId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Secret, TOTP } from "otpauth"
import { createHash, randomBytes } from "node:crypto"
import { type Account, Accounts } from "../store/access/Accounts.ts"
import { Database } from "../store/database/Database.ts"
import { Seal } from "../store/vault/Seal.ts"

const periodSeconds = 30
const recoveryCodes = 10

const totpOf = (secret: string, label = "") =>
  new TOTP({ issuer: "Signalbox", label, secret: Secret.fromBase32(secret), digits: 6, period: periodSeconds })

/** 80 bits each, in groups that one can read aloud. */
const newRecoveryCode = () => {
  const text = new Secret({ buffer: Uint8Array.from(randomBytes(10)).buffer }).base32
  return (text.match(/.{4}/g) ?? []).join("-")
}

/** What is stored of a recovery code. Its 80 random bits cannot be guessed, so a plain hash is safe. */
const hashOf = (code: string) => createHash("sha256").update(code.replaceAll(/[\s-]/g, "").toUpperCase()).digest("hex")

const isTotp = (code: string) => /^\d{6}$/.test(code)

/** A secret that is not in use until a code of it was given. */
export interface Enrolment {
  /** As an authenticator app takes it when it is typed. */
  readonly secret: string
  /** The same as an address, for a QR code. */
  readonly url: string
  /** Comes back with the code. */
  readonly pending: string
}

const contextOf = (account: UserId) => `second factor ${account}`
const pendingOf = (account: UserId) => `second factor of ${account} before its first code`

export class SecondFactor extends Context.Service<
  SecondFactor,
  {
    /** Begins an enrolment; nothing changes before `confirm`. */
    readonly begin: (account: Account) => Effect.Effect<Enrolment>
    /**
     * Ends it with the first code; returns the recovery codes, which are shown only here. Null when the code is wrong, or the account has a
     * second factor meanwhile.
     */
    readonly confirm: (account: Account, pending: string, code: string) => Effect.Effect<ReadonlyArray<string> | null>
    /**
     * Whether a code of the app or a recovery code is right. Each is accepted once: of the app, no code of the same or an earlier time
     * step either.
     */
    readonly accept: (account: Account, code: string) => Effect.Effect<boolean>
  }
>()("@signalbox/control-room/edge/SecondFactor") {
  static readonly layer = Layer.effect(
    SecondFactor,
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const { transaction } = yield* Database
      const { open, seal } = yield* Seal

      /** The time step of a code, of this one or the step before or after; null when it is wrong. */
      const stepOf = Effect.fnUntraced(function* (secret: string, code: string) {
        const timestamp = yield* Clock.currentTimeMillis
        const delta = isTotp(code) ? totpOf(secret).validate({ token: code, timestamp, window: 1 }) : null
        return delta === null ? null : Math.floor(timestamp / 1000 / periodSeconds) + delta
      })

      return SecondFactor.of({
        begin: Effect.fnUntraced(function* ({ id, login }) {
          const secret = new Secret({ buffer: Uint8Array.from(randomBytes(20)).buffer }).base32
          return { secret, url: totpOf(secret, login).toString(), pending: yield* seal(secret, pendingOf(id)) }
        }),
        confirm: Effect.fnUntraced(function* ({ id }, pending, code) {
          // What comes back may be anything.
          const secret = yield* Effect.catchCause(open(pending, pendingOf(id)), () => Effect.succeed(null))
          const step = secret === null ? null : yield* stepOf(secret, code)
          if (secret === null || step === null) return null
          const sealed = yield* seal(secret, contextOf(id))
          const codes = Array.from({ length: recoveryCodes }, newRecoveryCode)
          return yield* transaction(
            Effect.gen(function* () {
              if (!(yield* accounts.addSecondFactor(id, sealed, step))) return null
              yield* accounts.setRecoveryCodes(id, codes.map(hashOf))
              return codes
            })
          )
        }),
        accept: Effect.fnUntraced(function* ({ id, totp_secret }, given) {
          const code = given.replaceAll(/\s/g, "")
          if (totp_secret === null) return true
          if (!isTotp(code)) return yield* accounts.useRecoveryCode(id, hashOf(code))
          const step = yield* stepOf(yield* open(totp_secret, contextOf(id)), code)
          return step !== null && (yield* accounts.acceptStep(id, step))
        })
      })
    })
  )
}
