/**
 * What an app shows in the place of a secret: a text that is signed by the key of one of its certificates, or by somebody whom it
 * trusts.
 */
import * as Effect from "effect/Effect"
import { constants, createHash, createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto"
import type { App } from "../model/Model.ts"
import * as OAuthFailure from "./OAuthFailure.ts"

export const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** The audience of what others sign. */
const exchangeAudience = "api://AzureADTokenExchange"

const algorithms: Readonly<Record<string, object>> = {
  RS256: { padding: constants.RSA_PKCS1_PADDING },
  PS256: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
}

type Claims = Readonly<Record<string, unknown>>

const parse = (part: string | undefined): Claims | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? "", "base64url").toString())
    return typeof value === "object" && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** The certificate that a header names, by one of its thumbprints. */
const certificateOf = (app: App, header: Claims): X509Certificate | undefined =>
  app.certificates
    .map((pem) => new X509Certificate(pem))
    .find(({ raw }) => {
      const thumbprint = (hash: string) => createHash(hash).update(raw).digest("base64url")
      return header["x5t#S256"] === thumbprint("sha256") || header["x5t"] === thumbprint("sha1")
    })

interface Signer {
  readonly key: KeyObject
  readonly hasAudience: (audience: unknown) => boolean
}

const signerOf = (app: App, header: Claims, claims: Claims, issuer: string): Signer | undefined => {
  if ("x5t" in header || "x5t#S256" in header) {
    const isOwn = claims["iss"] === app.clientId && claims["sub"] === app.clientId
    const certificate = isOwn ? certificateOf(app, header) : undefined
    const hasAudience = (audience: unknown) =>
      typeof audience === "string" && audience.startsWith(`${issuer}/`) && audience.endsWith("/oauth2/v2.0/token")
    return certificate === undefined ? undefined : { key: certificate.publicKey, hasAudience }
  }
  const trusted = app.federated.find(({ issuer, subject }) => claims["iss"] === issuer && claims["sub"] === subject)
  if (trusted === undefined) return undefined
  return { key: createPublicKey(trusted.publicKey), hasAudience: (audience) => audience === exchangeAudience }
}

/** Fails unless the assertion is one of the app's. */
export const check = Effect.fnUntraced(function* (app: App, assertion: string, issuer: string, now: number) {
  const [head, body, signature = ""] = assertion.split(".")
  const header = parse(head)
  const claims = parse(body)
  const options = algorithms[String(header?.["alg"])]
  if (header === undefined || claims === undefined || options === undefined) return yield* OAuthFailure.badAssertion
  const signer = signerOf(app, header, claims, issuer)
  if (signer === undefined) return yield* OAuthFailure.unknownSigner
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${body}`),
    { key: signer.key, ...options },
    Buffer.from(signature, "base64url")
  )
  if (!isSigned) return yield* OAuthFailure.badSignature
  if (!signer.hasAudience(claims["aud"])) return yield* OAuthFailure.badAudience
  const [from, until] = [Number(claims["nbf"] ?? 0), Number(claims["exp"] ?? 0)]
  if (from * 1000 > now + 300_000 || until * 1000 <= now) return yield* OAuthFailure.assertionExpired
})
