/**
 * Requests as a bare client makes them: nothing is followed, retried or thrown.
 */
import type { Sandbox } from "../../src/GraphSandbox.ts"
import * as Effect from "effect/Effect"

export interface Got {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
  /** The body as JSON, to be looked into by name; `{}` where it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface Init {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly json?: unknown
  readonly body?: string | Uint8Array
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** An address as it stands, without a token. */
export const fetched = (url: string, { body, headers, json, method }: Init = {}) =>
  Effect.promise(async (): Promise<Got> => {
    const response = await fetch(url, {
      method: method ?? "GET",
      redirect: "manual",
      headers: { ...(json === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(json === undefined ? (body === undefined ? {} : { body: Buffer.from(body) }) : { body: JSON.stringify(json) })
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const { status } = response
    return { status, headers: response.headers, bytes, body: parsed(Buffer.from(bytes).toString()) }
  })

/** Asks the graph as a person: a path behind the version, or a link that the graph gave. */
export const asking = (sandbox: Sandbox, user?: string) =>
  Effect.map(
    sandbox.accessToken(user),
    (token) =>
      (path: string, init: Init = {}) =>
        fetched(path.startsWith("http") ? path : `${sandbox.graphUrl}${path}`, {
          ...init,
          headers: { authorization: `Bearer ${token}`, ...init.headers }
        })
  )
