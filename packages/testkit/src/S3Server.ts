/**
 * A bucket of S3 on a free port, in memory: what the service uses of the interface, strict where real ones are. It checks
 * signatures by itself, after the specification of Signature Version 4, and can fail as real ones do.
 */
import { createHash, createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** A request as the server got it, for tests that look at what was sent. */
export interface S3Request {
  readonly method: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
}

/**
 * How a request fails: with a status and a code of S3; its connection is cut before it has an effect, or after; a download
 * is cut after some bytes; nothing ever responds.
 */
export type S3Fault =
  | { readonly status: number; readonly code: string }
  | "cut"
  | "cut after effect"
  | "silence"
  | { readonly cutAfterBytes: number }

export interface S3Server {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly credentials: S3Credentials
  /** The committed objects by key. */
  readonly objects: Map<string, S3Object>
  /** The keys of unfinished uploads by id. */
  readonly uploads: Map<string, S3Upload>
  /** Every request that was received. */
  readonly requests: Array<S3Request>
  /** Decides how a request fails; null: it does not. */
  fault: (request: S3Request) => S3Fault | null
  /** How many objects and uploads a page of a list has at most. */
  pageSize: number
  /** Makes everything that is there now older. */
  readonly age: (millis: number) => void
  readonly close: () => Promise<void>
}

export interface S3Object {
  readonly bytes: Buffer
  modified: number
}

export interface S3Upload {
  readonly key: string
  readonly parts: Map<number, Buffer>
  initiated: number
}

const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest("hex")
const hmac = (key: Uint8Array | string, data: string) => createHmac("sha256", key).update(data).digest()
const md5 = (data: Uint8Array) => createHash("md5").update(data).digest("hex")

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** The signature that a request should have, after the specification. */
export const signatureOf = (
  request: {
    readonly method: string
    /** With its query. */
    readonly path: string
    readonly headers: Readonly<Record<string, string | undefined>>
    readonly signedHeaders: ReadonlyArray<string>
  },
  secretAccessKey: string,
  scope: string
): string => {
  const { headers, method, path, signedHeaders } = request
  const [pathname = "", search = ""] = path.split("?", 2)
  const query = search
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [name = "", value = ""] = pair.split("=", 2)
      return `${encode(decodeURIComponent(name))}=${encode(decodeURIComponent(value))}`
    })
    .toSorted()
  const canonical = [
    method,
    pathname
      .split("/")
      .map((part) => encode(decodeURIComponent(part)))
      .join("/"),
    query.join("&"),
    ...signedHeaders.map((name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders.join(";"),
    headers["x-amz-content-sha256"] ?? ""
  ].join("\n")
  const [date = "", region = "", service = ""] = scope.split("/")
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"] ?? "", scope, sha256(canonical)].join("\n")
  const key = [date, region, service, "aws4_request"].reduce<Uint8Array | string>(hmac, `AWS4${secretAccessKey}`)
  return hmac(key, text).toString("hex")
}

class Refusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

const escape = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
const tag = (name: string, ...content: ReadonlyArray<string>) => `<${name}>${content.join("")}</${name}>`
const document = (body: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${body}`
const iso = (millis: number) => new Date(millis).toISOString()

/** The smallest part of an upload that is not its last. */
const minPart = 5 * 1024 * 1024

const read = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

interface Settings {
  readonly bucket?: string
  readonly region?: string
  readonly credentials?: S3Credentials
}

/** Starts a server with one bucket. */
export const startS3 = async (settings: Settings = {}): Promise<S3Server> => {
  const {
    bucket = "files",
    credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" },
    region = "eu-central-1"
  } = settings
  const objects = new Map<string, S3Object>()
  const uploads = new Map<string, S3Upload>()
  const requests: Array<S3Request> = []
  let ids = 0

  const checkSignature = (request: IncomingMessage, body: Buffer) => {
    const { authorization = "" } = request.headers
    const [, id, scope = "", names = "", signature] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
        authorization
      ) ?? []
    if (id !== credentials.accessKeyId) throw new Refusal(403, "InvalidAccessKeyId")
    const headers = headersOf(request)
    if (headers["x-amz-security-token"] !== credentials.sessionToken) throw new Refusal(403, "InvalidToken")
    const { method = "", url: path = "" } = request
    const expected = { method, path, headers, signedHeaders: names.split(";") }
    const isOurs = scope === `${(headers["x-amz-date"] ?? "").slice(0, 8)}/${region}/s3/aws4_request`
    if (!isOurs) throw new Refusal(400, "AuthorizationHeaderMalformed")
    for (const name of ["host", "x-amz-date", "x-amz-content-sha256"]) {
      if (!expected.signedHeaders.includes(name)) throw new Refusal(403, "AccessDenied")
    }
    if (signatureOf(expected, credentials.secretAccessKey, scope) !== signature) {
      throw new Refusal(403, "SignatureDoesNotMatch")
    }
    if (headers["x-amz-content-sha256"] !== sha256(body)) throw new Refusal(400, "XAmzContentSHA256Mismatch")
  }

  const page = <A extends { readonly at: string }>(all: ReadonlyArray<A>, after: string | null) => {
    const left = all.filter(({ at }) => after === null || at > after).toSorted((a, b) => (a.at < b.at ? -1 : 1))
    const some = left.slice(0, server.pageSize)
    return { some, next: left.length > some.length ? (some.at(-1)?.at ?? null) : null }
  }

  const listObjects = (query: URLSearchParams) => {
    const prefix = query.get("prefix") ?? ""
    const all = [...objects].filter(([key]) => key.startsWith(prefix)).map(([at, object]) => ({ at, object }))
    const token = query.get("continuation-token")
    // As real ones have them, with characters that have to be encoded.
    const { next, some } = page(all, token === null ? null : Buffer.from(token.slice(2), "base64").toString())
    return document(
      tag(
        "ListBucketResult",
        tag("IsTruncated", String(next !== null)),
        next === null ? "" : tag("NextContinuationToken", `+/${Buffer.from(next).toString("base64")}`),
        ...some.map(({ at, object }) =>
          tag(
            "Contents",
            tag("Key", escape(at)),
            tag("LastModified", iso(object.modified)),
            tag("Size", String(object.bytes.length))
          )
        )
      )
    )
  }

  const listUploads = (query: URLSearchParams) => {
    const prefix = query.get("prefix") ?? ""
    const all = [...uploads]
      .filter(([, { key }]) => key.startsWith(prefix))
      .map(([id, upload]) => ({ at: `${upload.key} ${id}`, id, upload }))
    const marker = query.get("key-marker")
    const { next, some } = page(all, marker === null ? null : `${marker} ${query.get("upload-id-marker") ?? ""}`)
    const [key = "", id = ""] = next?.split(" ") ?? []
    return document(
      tag(
        "ListMultipartUploadsResult",
        tag("IsTruncated", String(next !== null)),
        next === null ? "" : tag("NextKeyMarker", escape(key)) + tag("NextUploadIdMarker", id),
        ...some.map(({ id, upload }) =>
          tag("Upload", tag("Key", escape(upload.key)), tag("UploadId", id), tag("Initiated", iso(upload.initiated)))
        )
      )
    )
  }

  const complete = (key: string, id: string, body: string) => {
    const upload = uploads.get(id)
    if (upload === undefined || upload.key !== key) throw new Refusal(404, "NoSuchUpload")
    const named = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)]
    const parts = named.map(([, number, etag = ""], index) => {
      const part = upload.parts.get(Number(number))
      const plain = etag.replaceAll("&#34;", '"')
      if (part === undefined || plain !== `"${md5(part)}"`) throw new Refusal(400, "InvalidPart")
      if (index > 0 && Number(number) <= Number(named[index - 1]?.[1])) throw new Refusal(400, "InvalidPartOrder")
      if (index < named.length - 1 && part.length < minPart) throw new Refusal(400, "EntityTooSmall")
      return part
    })
    if (parts.length === 0) throw new Refusal(400, "MalformedXML")
    uploads.delete(id)
    objects.set(key, { bytes: Buffer.concat(parts), modified: upload.initiated })
    return document(tag("CompleteMultipartUploadResult", tag("Key", escape(key))))
  }

  const put = (request: IncomingMessage, key: string, query: URLSearchParams, body: Buffer) => {
    if (request.headers["content-length"] === undefined) throw new Refusal(411, "MissingContentLength")
    const id = query.get("uploadId")
    if (id === null) objects.set(key, { bytes: body, modified: Date.now() })
    else {
      const upload = uploads.get(id)
      if (upload === undefined || upload.key !== key) throw new Refusal(404, "NoSuchUpload")
      upload.parts.set(Number(query.get("partNumber")), body)
    }
    return { status: 200, headers: { etag: `"${md5(body)}"` }, body: "" }
  }

  const get = (request: IncomingMessage, key: string) => {
    const object = objects.get(key)
    if (object === undefined) throw new Refusal(404, "NoSuchKey")
    const { bytes } = object
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? []
    if (first === undefined) return { status: 200, headers: {}, body: bytes }
    const [from, to] = [Number(first), last === "" ? bytes.length - 1 : Math.min(Number(last), bytes.length - 1)]
    if (from > to) throw new Refusal(416, "InvalidRange")
    const headers = { "content-range": `bytes ${from}-${to}/${bytes.length}` }
    return { status: 206, headers, body: bytes.subarray(from, to + 1) }
  }

  const begin = (key: string) => {
    ids += 1
    uploads.set(`upload-${ids}`, { key, parts: new Map(), initiated: Date.now() })
    return document(tag("InitiateMultipartUploadResult", tag("UploadId", `upload-${ids}`)))
  }

  const remove = (key: string, id: string | null) => {
    if (id === null) objects.delete(key)
    else if (!uploads.delete(id)) throw new Refusal(404, "NoSuchUpload")
    return { status: 204, headers: {}, body: "" }
  }

  const act = (request: IncomingMessage, key: string, query: URLSearchParams, body: Buffer) => {
    const { method = "" } = request
    const xml = (body: string) => ({ status: 200, headers: { "content-type": "application/xml" }, body })
    if (key === "" && method === "GET") return xml(query.has("uploads") ? listUploads(query) : listObjects(query))
    if (method === "PUT") return put(request, key, query, body)
    if (method === "GET" || method === "HEAD") return get(request, key)
    if (method === "DELETE") return remove(key, query.get("uploadId"))
    if (method === "POST" && query.has("uploads")) return xml(begin(key))
    if (method === "POST") return xml(complete(key, query.get("uploadId") ?? "", body.toString()))
    throw new Refusal(405, "MethodNotAllowed")
  }

  const respond = (response: ServerResponse, answer: ReturnType<typeof act>, fault: S3Fault | null) => {
    const body = Buffer.from(answer.body)
    const headers = answer.status === 204 ? answer.headers : { ...answer.headers, "content-length": body.length }
    response.writeHead(answer.status, headers)
    if (typeof fault === "object" && fault !== null && "cutAfterBytes" in fault) {
      response.write(body.subarray(0, fault.cutAfterBytes), () => response.socket?.destroySoon())
    } else response.end(response.req.method === "HEAD" ? undefined : body)
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "", "http://localhost")
    const [, name = "", ...rest] = decodeURIComponent(url.pathname).split("/")
    const key = rest.join("/")
    const received = { method: request.method ?? "", key, query: url.searchParams, headers: headersOf(request) }
    requests.push(received)
    const fault = server.fault(received)
    if (fault === "silence") return
    if (fault === "cut") return void request.socket.resetAndDestroy()
    try {
      const body = await read(request)
      checkSignature(request, body)
      if (name !== bucket) throw new Refusal(404, "NoSuchBucket")
      if (typeof fault === "object" && fault !== null && "status" in fault) throw new Refusal(fault.status, fault.code)
      const answer = act(request, key, url.searchParams, body)
      if (fault === "cut after effect") return void request.socket.resetAndDestroy()
      respond(response, answer, fault)
    } catch (error) {
      if (!(error instanceof Refusal)) return void request.socket.destroy()
      // Real ones say what was signed, with the id of the key.
      const said = `${request.headers.authorization} ${credentials.secretAccessKey}`
      const body = document(tag("Error", tag("Code", error.code), tag("Message", escape(said))))
      response.writeHead(error.status, { "content-type": "application/xml" })
      response.end(request.method === "HEAD" ? undefined : body)
    }
  }

  const http = createServer((request, response) => {
    request.on("error", () => {})
    void handle(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  // A server that listens on a port has such an address.
  const { port } = http.address() as AddressInfo
  const server: S3Server = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    region,
    credentials,
    objects,
    uploads,
    requests,
    fault: () => null,
    pageSize: 1000,
    age: (millis) => {
      for (const object of objects.values()) object.modified -= millis
      for (const upload of uploads.values()) upload.initiated -= millis
    },
    close: () => {
      http.closeAllConnections()
      return new Promise((resolve) => http.close(() => resolve()))
    }
  }
  return server
}

const headersOf = (request: IncomingMessage): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
