/** Signed requests to a bucket, with retries and time limits. */
import * as Attempts from "@signalbox/transport/Attempts"
import { defined } from "@signalbox/transport/Defined"
import * as Gate from "@signalbox/transport/Gate"
import type { Policy } from "@signalbox/transport/Policy"
import { AwsV4Signer } from "aws4fetch"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { createHash } from "node:crypto"
import { BucketError } from "../../BlobStore.ts"
import type { S3Options } from "../../Options.ts"
import * as S3Xml from "./S3Xml.ts"

/** A request to the bucket; every one of them may be repeated. */
export interface Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE"
  /** Without the prefix; the empty one is the bucket itself. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

export interface S3Client {
  readonly prefix: string
  /** Sends a request and reads its response as text. Null: there is no such object or upload. */
  readonly text: (request: Request, how?: How) => Effect.Effect<(Response & { text: string }) | null, BucketError>
  /** Sends a request and resolves with the first byte of its response. Null: there is no such object. */
  readonly stream: (
    request: Request
  ) => Effect.Effect<(Response & { bytes: Stream.Stream<Uint8Array, BucketError> }) | null, BucketError>
}

/** How often and how long a request is tried. */
type How = keyof typeof policies

/**
 * Its requests have the idle limit alone: a slow line is no failure, and it also ends requests that cannot be interrupted.
 * An upload waits for them, so that they end before most clients give up.
 */
export const S3Policy = Context.Reference<Policy>("@signalbox/control-room/blobs/S3Policy", {
  defaultValue: () => ({
    attempts: 6,
    baseMillis: 200,
    capMillis: 5000,
    maxRetryAfterMillis: 10_000,
    attemptTimeoutMillis: 30_000,
    totalTimeoutMillis: 45_000,
    idleTimeoutMillis: 10_000
  })
})

const policies = {
  patient: (policy: Policy) => policy,
  /** For what can be left to the sweep. */
  brief: (policy: Policy) => ({ ...policy, attempts: 2, totalTimeoutMillis: 5000, idleTimeoutMillis: 2000 }),
  /** Ends before a probe of `/readyz` does. */
  once: (policy: Policy) => ({ ...policy, attempts: 1, totalTimeoutMillis: 1500, idleTimeoutMillis: 1500 })
} as const

const full = new Set(["QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "XMinioStorageFull", "ServiceQuotaExceeded"])

const missing = new Set(["NoSuchKey", "NoSuchUpload"])

/** An operator has to act on any other 301, 400, 401, 403 and on a bucket that does not exist. */
const kindOf = (status: number, code: string): BucketError["kind"] =>
  status === 507 || full.has(code)
    ? "bucketFull"
    : status === 501 || (status < 500 && status !== 408 && status !== 409 && status !== 429) || code === "NoSuchBucket"
      ? "bucketRefused"
      : "bucket"

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** `20261122T230000Z`. */
const basicTime = (millis: number) => new Date(millis).toISOString().replace(/[-:]|\.\d{3}/g, "")

/** The address of the bucket, without a slash at its end. */
export const addressOf = ({ bucket, endpoint, pathStyle = endpoint !== undefined, region }: S3Options): string => {
  const url = new URL(endpoint ?? `https://s3.${region ?? "us-east-1"}.amazonaws.com`)
  const path = url.pathname.replace(/\/*$/, "/")
  return pathStyle ? `${url.origin}${path}${bucket}` : `${url.protocol}//${bucket}.${url.host}${path.slice(0, -1)}`
}

export const make = Effect.fnUntraced(function* (options: S3Options) {
  const { accessKeyId, prefix = "", region = "us-east-1", secretAccessKey, sessionToken } = options
  const link = {
    client: yield* HttpClient.HttpClient,
    gate: Gate.make(),
    acted: Attempts.actedOn,
    pausing: new Set<number>()
  }
  const policy = yield* S3Policy
  const redacted = [...(yield* Headers.CurrentRedactedNames), "x-amz-security-token"]
  const address = addressOf(options)
  const keys = new Map<string, ArrayBuffer>()

  const sign = Effect.fnUntraced(function* ({
    body = new Uint8Array(),
    headers = {},
    key,
    method,
    query = {}
  }: Request) {
    const url = new URL(key === "" ? address : `${address}/${prefix}${key}`)
    // Not by `searchParams`, which writes a space as `+`: services differ in how they read that.
    url.search = Object.entries(query)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join("&")
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": hashOf(body) },
      accessKeyId,
      secretAccessKey: Redacted.value(secretAccessKey),
      ...defined({ sessionToken: sessionToken === undefined ? undefined : Redacted.value(sessionToken) }),
      service: "s3",
      region,
      cache: keys,
      datetime: basicTime(yield* Clock.currentTimeMillis)
    })
    const signed = yield* Effect.promise(() => signer.sign())
    const request = HttpClientRequest.make(method)(signed.url.href, { headers: Object.fromEntries(signed.headers) })
    return body.length === 0 ? request : HttpClientRequest.bodyUint8Array(request, body)
  })

  const send = Effect.fnUntraced(function* <A>(request: Request, how: How, read: Attempts.DeliverOptions<A>["read"]) {
    const what = `${request.method} of ${request.key === "" ? "the bucket" : request.key}`
    const failure = (kind: BucketError["kind"], why: string) => new BucketError({ kind, message: `${what}: ${why}` })
    const options = { repeatable: () => true, timed: false, read }
    const response = yield* Attempts.deliver(link, policies[how](policy), yield* sign(request), options).pipe(
      Effect.provideService(Headers.CurrentRedactedNames, redacted),
      Effect.mapError(({ message }) => failure("bucket", message))
    )
    // A redirect leads to the bucket of another region.
    if (response._tag === "Good" && response.status < 300) return response
    const code = response._tag === "Good" ? "Redirect" : (S3Xml.textOf(response.text, "Code") ?? "")
    if (missing.has(code) || (response.status === 404 && request.method === "HEAD")) return null
    // Not the message of the service, which may repeat what was signed.
    return yield* failure(kindOf(response.status, code), `${response.status} ${code}`.trim())
  })

  const client: S3Client = {
    prefix,
    text: Effect.fnUntraced(function* (request, how = "patient") {
      const response = yield* send(request, how, ({ text }: HttpClientResponse.HttpClientResponse) => text)
      if (response === null) return null
      const { headers, status, value } = response
      // A completion that fails late responds with 200.
      const code = value.includes("<Error>") ? S3Xml.textOf(value, "Code") : null
      return code === null
        ? { headers, status, text: value }
        : yield* new BucketError({ kind: "bucket", message: `${request.method} of ${request.key}: ${code}` })
    }),
    stream: Effect.fnUntraced(function* (request) {
      const response = yield* send(request, "patient", Effect.succeed<HttpClientResponse.HttpClientResponse>)
      if (response === null) return null
      const bytes = Stream.mapError(
        response.value.stream,
        ({ message }) => new BucketError({ kind: "bucket", message: `${request.method} of ${request.key}: ${message}` })
      )
      return { headers: response.headers, status: response.status, bytes }
    })
  }
  return client
})
