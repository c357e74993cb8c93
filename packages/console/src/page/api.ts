/** Calls of the control room by the session's cookie. */

import { parse as exact, written } from "./exact.ts"
import * as text from "./text/text.ts"

/** A response that is an error, or none at all: then `status` is 0. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What the session may see and do. */
export interface Session {
  readonly workspace: { readonly id: string; readonly name: string }
  /** The path of the interface below the address of the service. */
  readonly api: string
  /** Null for the session of a person. */
  readonly key: { readonly id: string; readonly name: string } | null
  /** Null for the session of a key. */
  readonly user: {
    readonly id: string
    readonly login: string
    readonly name: string
    readonly role: string | null
    readonly manages_room: boolean
  } | null
  /** Those that one may change to. */
  readonly workspaces: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly permissions: ReadonlyArray<string>
  /** Whether the program that serves the control room has mounted durable flows. */
  readonly flows: boolean
  readonly expires_at: string
}

/** The folder of the page is `console/`, wherever the service is mounted. */
const root = new URL("..", document.baseURI).pathname.replace(/\/$/, "")

/** The address of the service as this browser reaches it, without a slash at its end. */
export const roomAddress = new URL("..", document.baseURI).href.replace(/\/$/, "")

export const sessionPath = `${root}/console/session`
export const signInPath = `${root}/console/sign-in`
/** Where a browser begins to sign in with a provider, and afterwards comes back to this screen. */
export const providerPath = (id: string) => `${signInPath}/provider/${id}`
export const linkPath = `${root}/console/link`
export const accountPath = `${root}/console/account`

/** The address at which a file of a robot is shown, or downloaded where it is no log, picture or text. */
export const consoleFile = (id: string) => `${root}/console/files/${id}`

/** What a response that is an error says. */
export const messageOf = (body: unknown, status: number) =>
  typeof body === "object" && body !== null && "message" in body && typeof body.message === "string"
    ? body.message
    : text.frame.badStatus(status)

/** A body for `A`, in which what is optional may be undefined: JSON leaves it out. */
export type Body<A> = {
  readonly [Key in keyof A]: Record<never, never> extends Pick<A, Key> ? A[Key] | undefined : A[Key]
}

/** Sends a request and returns the JSON of its response. Rejects with `ApiError`. */
export const send = async (method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<unknown> => {
  const headers = new Headers()
  if (method !== "GET") headers.set("x-signalbox-console", "1")
  if (body !== undefined) headers.set("content-type", "application/json")
  const response = await fetch(url, {
    method,
    headers,
    credentials: "same-origin",
    body: body === undefined ? null : written(body),
    signal: signal ?? null
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new ApiError(0, text.frame.unreachable)
  })
  const received = await response.text()
  const json: unknown = received === "" ? null : parse(received)
  if (!response.ok) throw new ApiError(response.status, messageOf(json, response.status))
  return json
}

const parse = (text: string): unknown => {
  try {
    return exact(text)
  } catch {
    return null
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** The address of a resource of the workspace. */
export const addressOf = (session: Session, path: string, query: Query = {}) => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return `${root}${session.api}/workspaces/${session.workspace.id}/${path}${text === "" ? "" : `?${text}`}`
}

/** A page of a list. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next: string | null
}

/** The cursor of the page after this one. */
export const cursorOf = (page: Page<unknown>): string | undefined =>
  page.next === null ? undefined : (new URL(page.next, document.baseURI).searchParams.get("cursor") ?? undefined)
