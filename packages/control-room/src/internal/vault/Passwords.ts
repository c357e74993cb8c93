/** Passwords: which may be chosen, and how they are stored and compared. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"
import { loginKey, normalise } from "../engine/Logins.ts"

interface Cost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** What scrypt costs: 2^15 blocks take 32 MB and some 250 ms. Tests take less. */
export const PasswordCost = Context.Reference<Cost>("@signalbox/control-room/vault/PasswordCost", {
  defaultValue: () => ({ N: 2 ** 15, r: 8, p: 3 })
})

const keyLength = 32
const saltLength = 16

/** At most so many at a time: each takes a thread of the pool and 32 MB. */
const atOnce = 2
const mostWaiting = 20

const shortest = 12
const longest = 128

/** What attackers try first, of those that are long enough. */
const common = [
  "password",
  "passwort",
  "qwertyuiop",
  "qwertzuiop",
  "asdfghjkl",
  "administrator",
  "letmein",
  "welcome",
  "willkommen",
  "iloveyou",
  "changeme",
  "signalbox",
  "abcdefghijkl",
  "1q2w3e4r5t6y",
  "trustno1",
  "correcthorsebatterystaple"
]

/** Letters in their place, without what people put around and between a common word. */
const bare = (text: string) => text.toLowerCase().replace(/[^\p{L}]+$|^[^\p{L}]+/gu, "")

const isRun = (text: string) =>
  [1, -1].some((step) =>
    [...text].every(
      (char, index, all) => index === 0 || char.charCodeAt(0) - (all[index - 1] ?? "").charCodeAt(0) === step
    )
  )

/** Why a password may not be chosen; null when it may. `names`: what it must not be, such as the login. */
export const refusalOf = (given: string, names: ReadonlyArray<string>): string | null => {
  const password = normalise(given)
  const length = [...password].length
  if (length < shortest || length > longest || Buffer.byteLength(password) > 1024) {
    return `password: Expected ${shortest} to ${longest} characters`
  }
  if (names.some((name) => name !== "" && loginKey(name) === password.toLowerCase())) {
    return "password: is a name that others can see; choose another one"
  }
  const letters = bare(password)
  const isCommon = common.some((word) => letters === word || letters.split(word).join("") === "")
  if (isCommon || new Set(password).size < 5 || isRun(password)) {
    return "password: is one that is tried first; choose a longer sentence, or one from a password manager"
  }
  return null
}

interface Stored {
  readonly cost: Cost
  readonly salt: Buffer
  readonly key: Buffer
}

const derive = (password: string, salt: Buffer, { N, p, r }: Cost) =>
  Effect.callback<Buffer>((resume) => {
    // Twice what it needs, which is the limit of OpenSSL that it must stay below.
    scrypt(normalise(password), salt, keyLength, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  })

const encode = ({ cost: { N, p, r }, key, salt }: Stored) =>
  `scrypt$${N}$${r}$${p}$${salt.toString("base64")}$${key.toString("base64")}`

const decode = (stored: string): Stored => {
  const [, N, r, p, salt = "", key = ""] = stored.split("$")
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64"),
    key: Buffer.from(key, "base64")
  }
}

/** Too many passwords are computed at this moment. */
export class TooManyAtOnce extends Data.TaggedError("TooManyAtOnce") {}

export class Passwords extends Context.Service<
  Passwords,
  {
    /** The stored form of a password. Fails while too many others are computed. */
    readonly hash: (password: string) => Effect.Effect<string, TooManyAtOnce>
    /**
     * Whether a password has this stored form; false, after the same time, where there is none. `isWeak`: it was stored with lower cost than
     * passwords are now.
     */
    readonly matches: (
      password: string,
      stored: string | null
    ) => Effect.Effect<{ readonly matches: boolean; readonly isWeak: boolean }, TooManyAtOnce>
  }
>()("@signalbox/control-room/vault/Passwords") {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const cost = yield* PasswordCost
      /** Compared with where there is no account, so that an answer takes as long. */
      const nobody = encode({ cost, salt: Buffer.alloc(saltLength), key: Buffer.alloc(keyLength) })
      const turns = yield* Semaphore.make(atOnce)
      let inside = 0
      const inTurn = <A>(effect: Effect.Effect<A>): Effect.Effect<A, TooManyAtOnce> =>
        Effect.suspend(() => {
          if (inside >= atOnce + mostWaiting) return new TooManyAtOnce()
          inside++
          return turns
            .withPermits(1)(effect)
            .pipe(Effect.ensuring(Effect.sync(() => inside--)))
        })
      return Passwords.of({
        hash: (password) =>
          inTurn(
            Effect.suspend(() => {
              const salt = randomBytes(saltLength)
              return Effect.map(derive(password, salt, cost), (key) => encode({ cost, salt, key }))
            })
          ),
        matches: (password, stored) => {
          const known = decode(stored ?? nobody)
          return Effect.map(inTurn(derive(password, known.salt, known.cost)), (key) => ({
            matches: stored !== null && timingSafeEqual(key, known.key),
            isWeak: known.cost.N < cost.N
          }))
        }
      })
    })
  )
}
