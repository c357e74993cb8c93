/**
 * How deliveries are signed, and how that is checked, by web crypto alone. Without a module of effect: receivers of webhooks bundle it.
 */

/** The headers of a delivery, in lower case. */
export const webhookHeaders = {
  /** Hex HMAC-SHA256 of the raw body under the UTF-8 bytes of the secret. */
  rcSignature: "x-rc-signature",
  /** The `id` of the event. */
  id: "webhook-id",
  /** The time of this attempt, in whole seconds since 1970. */
  timestamp: "webhook-timestamp",
  /**
   * `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>` under `standardKey`; several,
   * separated by spaces, while a secret is rotated.
   */
  signature: "webhook-signature"
} as const

/** The bytes of a text in base64 or base64url, with or without padding; undefined for anything else. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "")
  if (!/^[A-Za-z0-9+/]*$/.test(standard) || standard.length % 4 === 1) return undefined
  return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0))
}

/** The key of the Standard Webhooks signature: the decoded bytes after `whsec_`, else the UTF-8 bytes of the secret. */
export const standardKey = (secret: string): Uint8Array<ArrayBuffer> => {
  const decoded = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : undefined
  return decoded !== undefined && decoded.length > 0 ? decoded : new TextEncoder().encode(secret)
}

/** The content that the Standard Webhooks signature signs. */
export const standardContent = (id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> => {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

/** A request with an event. */
export interface Delivery {
  /** The headers of the request: a `Headers`, or a record with names in any case. */
  readonly headers: Headers | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The raw body, unchanged: parsing and stringifying it breaks the signature. */
  readonly body: Uint8Array | string
}

/** How a delivery is verified. */
export interface Scheme {
  /**
   * How much the time of a delivery may differ from now, in seconds; default 300. Does not apply to `x-rc-signature`
   * alone.
   */
  readonly toleranceSeconds?: number | undefined
  /**
   * The required scheme. Default: Standard Webhooks when its signature is present, else `x-rc-signature`, which does
   * not cover the time, so that an old delivery could be replayed. Our service always sends both: then require
   * `standard`.
   */
  readonly scheme?: "standard" | "rc" | undefined
}

/**
 * Why a delivery must not be trusted. `missing`: a header is missing; `malformed`: a header cannot be parsed; `expired`: sent too
 * long ago, or in the future; `mismatch`: not signed with this secret, or changed in transit.
 */
export interface Problem {
  readonly reason: "missing" | "malformed" | "expired" | "mismatch"
  readonly message: string
}

const utf8 = (text: string) => new TextEncoder().encode(text)

export const bytesOf = (body: Uint8Array | string): Uint8Array => (typeof body === "string" ? utf8(body) : body)

const algorithm = { name: "HMAC", hash: "SHA-256" }

const keyOf = (bytes: Uint8Array<ArrayBuffer>, use: "sign" | "verify") =>
  crypto.subtle.importKey("raw", bytes, algorithm, false, [use])

const isUnshared = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer

/** Web crypto takes only bytes that no other thread can change. */
const unshared = (bytes: Uint8Array) => (isUnshared(bytes) ? bytes : Uint8Array.from(bytes))

/** Returns the tag of the content. */
export const tagOf = async (key: Uint8Array<ArrayBuffer>, content: Uint8Array): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign(algorithm, await keyOf(key, "sign"), unshared(content)))

/** Whether one of the tags is that of the content under one of the keys, in constant time for each. */
const anyMatches = async (
  keys: ReadonlyArray<Uint8Array<ArrayBuffer>>,
  tags: ReadonlyArray<Uint8Array<ArrayBuffer>>,
  content: Uint8Array
): Promise<boolean> => {
  const signed = unshared(content)
  for (const bytes of keys) {
    const key = await keyOf(bytes, "verify")
    for (const tag of tags) if (await crypto.subtle.verify(algorithm, key, tag, signed)) return true
  }
  return false
}

const headerOf = (headers: Delivery["headers"], name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === "string" || found === undefined ? found : found[0]
}

const missing = (name: string): Problem => ({ reason: "missing", message: `the header ${name} is missing` })

const malformed = (name: string, problem: string): Problem => ({
  reason: "malformed",
  message: `the header ${name} ${problem}`
})

const mismatch: Problem = { reason: "mismatch", message: "the signature does not match this body and secret" }

/** The tags of the version v1; others are ignored. */
const tagsOf = (signatures: string) =>
  signatures
    .split(" ")
    .map((signature) => (signature.startsWith("v1,") ? fromBase64(signature.slice(3)) : undefined))
    .filter((tag) => tag !== undefined)

const standard = async (
  { body, headers, toleranceSeconds: tolerance = 300 }: Delivery & Scheme,
  secrets: ReadonlyArray<string>,
  now: number
): Promise<Problem | null> => {
  const { id: idName, signature: signatureName, timestamp: timestampName } = webhookHeaders
  const [id, timestamp, signatures] = [idName, timestampName, signatureName].map((name) => headerOf(headers, name))
  if (id === undefined) return missing(idName)
  if (timestamp === undefined) return missing(timestampName)
  if (signatures === undefined) return missing(signatureName)
  if (!/^\d{1,12}$/.test(timestamp)) return malformed(timestampName, "is not a time in seconds")
  if (Math.abs(now / 1000 - Number(timestamp)) > tolerance) {
    return { reason: "expired", message: `the delivery is not from within ${tolerance} seconds of now` }
  }
  const tags = tagsOf(signatures)
  if (tags.length === 0) return malformed(signatureName, "has no signature of the version v1")
  const content = standardContent(id, timestamp, bytesOf(body))
  return (await anyMatches(secrets.map(standardKey), tags, content)) ? null : mismatch
}

const rc = async ({ body, headers }: Delivery, secrets: ReadonlyArray<string>): Promise<Problem | null> => {
  const name = webhookHeaders.rcSignature
  const text = headerOf(headers, name)
  if (text === undefined) return missing(name)
  if (!/^([0-9a-f]{2})*$/i.test(text)) return malformed(name, "is not in hex")
  const tag = Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  return (await anyMatches(secrets.map(utf8), [tag], bytesOf(body))) ? null : mismatch
}

/** Returns why a delivery must not be trusted; null: it was signed with one of the secrets. `now` is in milliseconds since 1970. */
export const problemOf = (
  delivery: Delivery & Scheme,
  secrets: ReadonlyArray<string>,
  now: number
): Promise<Problem | null> => {
  const known = secrets.filter((secret) => secret !== "")
  const isStandard =
    delivery.scheme === undefined
      ? headerOf(delivery.headers, webhookHeaders.signature) !== undefined
      : delivery.scheme === "standard"
  return isStandard ? standard(delivery, known, now) : rc(delivery, known)
}
