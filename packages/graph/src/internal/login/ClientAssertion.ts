/**
 * A text that an app signs with its private key in the place of a secret (RFC 7523), by web crypto.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { InvalidClient, OAuthError, own } from "../../OAuthError.ts"

/** A certificate that is registered with the app, and the key that belongs to it. */
export interface Certificate {
  /** The certificate in PEM, `-----BEGIN CERTIFICATE-----`. */
  readonly certificate: string
  /** Its private key in PEM, PKCS#8, without a password: `-----BEGIN PRIVATE KEY-----`. */
  readonly privateKey: Redacted.Redacted
  /** Default `PS256`, which the identity provider recommends. */
  readonly algorithm?: "PS256" | "RS256" | undefined
}

/** How each algorithm is called by web crypto, and under which name the header has the thumbprint, of which hash. */
const algorithms = {
  PS256: { name: "RSA-PSS", saltLength: 32, thumbprint: "x5t#S256", hash: "SHA-256" },
  RS256: { name: "RSASSA-PKCS1-v1_5", thumbprint: "x5t", hash: "SHA-1" }
} as const

/** Longer than any clock is wrong, and shorter than the provider's limit. */
const livesSeconds = 600

const failure = (message: string) => new OAuthError({ reason: new InvalidClient(own(message)) })

/** The bytes of the first block with this label. */
const blockOf = (pem: string, label: string): Uint8Array<ArrayBuffer> | undefined => {
  const text = new RegExp(`-----BEGIN ${label}-----([^-]+)-----END ${label}-----`).exec(pem)?.[1]
  if (text === undefined) return undefined
  return Result.getOrUndefined(Result.map(Base64.decode(text.replaceAll(/\s/g, "")), (bytes) => Uint8Array.from(bytes)))
}

const keyProblem = (pem: string): string =>
  /BEGIN (RSA|EC|ENCRYPTED) PRIVATE KEY/.test(pem)
    ? "privateKey: convert it with `openssl pkcs8 -topk8 -nocrypt`"
    : "privateKey: give the text of a PEM file that begins with -----BEGIN PRIVATE KEY-----"

const encoded = (value: unknown): string => Base64Url.encode(new TextEncoder().encode(JSON.stringify(value)))

/** A maker of assertions, each for some minutes. Fails when the texts are no certificate and no key. */
export const signer = Effect.fnUntraced(function* (
  clientId: string,
  audience: string,
  certificate: Certificate
): Effect.fn.Return<Effect.Effect<Redacted.Redacted, OAuthError>, OAuthError> {
  const algorithm = certificate.algorithm ?? "PS256"
  const { hash, thumbprint, ...how } = algorithms[algorithm]
  const der = blockOf(certificate.certificate, "CERTIFICATE")
  if (der === undefined) {
    return yield* failure("certificate: give the text of a PEM file that begins with -----BEGIN CERTIFICATE-----")
  }
  const pem = Redacted.value(certificate.privateKey)
  const pkcs8 = blockOf(pem, "PRIVATE KEY")
  if (pkcs8 === undefined) return yield* failure(keyProblem(pem))
  const key = yield* Effect.tryPromise({
    try: () => crypto.subtle.importKey("pkcs8", pkcs8, { name: how.name, hash: "SHA-256" }, false, ["sign"]),
    catch: () => failure("privateKey: this is no RSA key")
  })
  const digest = yield* Effect.promise(() => crypto.subtle.digest(hash, der))
  const header = { alg: algorithm, typ: "JWT", [thumbprint]: Base64Url.encode(new Uint8Array(digest)) }
  return Effect.gen(function* () {
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const claims = {
      aud: audience,
      iss: clientId,
      sub: clientId,
      jti: crypto.randomUUID(),
      iat: now,
      nbf: now,
      exp: now + livesSeconds
    }
    const text = `${encoded(header)}.${encoded(claims)}`
    const signature = yield* Effect.promise(() => crypto.subtle.sign(how, key, new TextEncoder().encode(text)))
    return Redacted.make(`${text}.${Base64Url.encode(new Uint8Array(signature))}`)
  })
})
