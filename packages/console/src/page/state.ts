/** What the whole page knows: the session, where it is, and what to say in passing. */
import { signal } from "@preact/signals"
import type { Enrolment } from "./kit/SecondFactor.tsx"
import { ApiError, linkPath, providerPath, send, type Session, sessionPath, signInPath } from "./api.ts"

/** Undefined until it is known whether there is a session; null: there is none. */
export const session = signal<Session | null | undefined>(undefined)

/** Why there is no session, for the page that opens one. */
export const refusal = signal<string | null>(null)

/** The link by which the browser was opened, to choose a password. */
export const link = signal<string | null>(null)

/**
 * What an error of a request says of its session: it has ended. `of`: the one that there was when the request was sent, since another may
 * have begun before the response came.
 */
export const noteEnd = (error: unknown, of: Session | null | undefined): void => {
  if (error instanceof ApiError && error.status === 401 && session.value === of) session.value = null
}

const sessionOf = (body: unknown) => {
  // The service sends what `Session` has.
  session.value = body as Session
  refusal.value = null
}

const refused = (error: unknown) => {
  refusal.value = error instanceof Error ? error.message : String(error)
  session.value = null
}

/** Opens a session with a ticket or a key. */
export const open = (opening: { readonly ticket: string } | { readonly key: string }): Promise<void> =>
  send("POST", sessionPath, opening).then(sessionOf, refused)

const isCodeNeeded = (body: unknown) => typeof body === "object" && body !== null && "code_needed" in body

export interface Login {
  readonly login: string
  readonly password: string
  readonly code?: string | undefined
}

/** Somebody whose workspace requires a second factor, who sets it up before there is a session. */
export interface Enrolling {
  readonly login: Login
  readonly enrolment: Enrolment
  /** Shown once, when it has been set up. */
  readonly codes: ReadonlyArray<string> | null
}

export const enrolling = signal<Enrolling | null>(null)

const isEnrolment = (body: unknown): body is { readonly enrol: Enrolment } =>
  typeof body === "object" && body !== null && "enrol" in body

/** The session, or what comes before it; returns whether that is a code. */
const entered = (body: unknown, login: Login) => {
  const isNeeded = isCodeNeeded(body)
  if (isEnrolment(body)) {
    refusal.value = null
    enrolling.value = { login, enrolment: body.enrol, codes: null }
  }
  if (isNeeded || isEnrolment(body)) session.value = null
  else sessionOf(body)
  return isNeeded
}

/** Signs a person in; resolves with whether a code is needed too. */
export const signIn = async (login: Login): Promise<boolean> => {
  try {
    return entered(await send("POST", signInPath, login), login)
  } catch (error) {
    refused(error)
    return false
  }
}

/** Chooses a password by a link, and signs in. With a second factor one then signs in as always. */
export const choose = async (login: string, password: string): Promise<void> => {
  try {
    const body = await send("POST", linkPath, { link: link.value, password, replace: true })
    link.value = null
    entered(body, { login, password })
  } catch (error) {
    refused(error)
  }
}

/** Sets up the second factor with its first code, and signs in. */
export const enrol = async (begun: Enrolling, code: string): Promise<void> => {
  try {
    const { pending } = begun.enrolment
    // The service sends the codes to who has just set it up.
    const body = (await send("POST", signInPath, { ...begun.login, code, pending })) as {
      readonly recovery_codes: ReadonlyArray<string>
    }
    refusal.value = null
    enrolling.value = { ...begun, codes: body.recovery_codes }
  } catch (error) {
    refused(error)
  }
}

/** Once the recovery codes have been seen. */
export const enrolled = async (): Promise<void> => {
  enrolling.value = null
  await load()
}

/** Where somebody goes who leaves this page for that of a provider; null: nowhere. */
const addressIn = (body: unknown, name: "address" | "continue_at"): string | null => {
  if (typeof body !== "object" || body === null) return null
  const address: unknown = Reflect.get(body, name)
  return typeof address === "string" ? address : null
}

/** Ends the session, and then that of the provider, whose page asks about it. */
export const signOut = async (): Promise<void> => {
  const closed = await send("DELETE", sessionPath).catch(() => null)
  session.value = null
  const address = addressIn(closed, "continue_at")
  if (address !== null) location.assign(address)
}

/** Accepts an invitation by signing in with a provider. */
export const acceptWith = async (provider: string): Promise<void> => {
  try {
    const begun = await send("POST", providerPath(provider), { link: link.value, replace: true })
    location.assign(addressIn(begun, "address") ?? location.pathname)
  } catch (error) {
    refusal.value = error instanceof Error ? error.message : String(error)
  }
}

/** Where the browser keeps which workspace it showed last. */
const lastWorkspace = "signalbox-workspace"

/** Shows another workspace of the person. */
export const changeTo = async (workspace: string): Promise<void> => {
  localStorage.setItem(lastWorkspace, workspace)
  location.hash = "#/"
  await load()
}

const load = async (): Promise<void> => {
  const last = localStorage.getItem(lastWorkspace)
  try {
    sessionOf(await send("GET", last === null ? sessionPath : `${sessionPath}?workspace=${encodeURIComponent(last)}`))
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) refusal.value = String(error)
    session.value = null
  }
}

/** A ticket is exchanged immediately; it and a link are removed from the address. */
export const begin = async (): Promise<void> => {
  const [, kind, value = ""] = /^#(ticket|link)=(\S+)$/.exec(location.hash) ?? []
  if (kind !== undefined) history.replaceState(null, "", location.pathname)
  if (kind === "ticket") return open({ ticket: value })
  if (kind === "link") link.value = value
  await load()
}

/** Whether the session has a permission: what it may not do is not offered. */
export const may = (...permissions: ReadonlyArray<string>): boolean =>
  permissions.every((permission) => session.value?.permissions.includes(permission) === true)

export interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: "done" | "failed"
  /** Takes back what was done. */
  readonly undo: (() => void) | null
}

export const toasts = signal<ReadonlyArray<Toast>>([])
let lastToast = 0

export const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Says it in passing; longer where there is something to take back. */
export const say = (text: string, kind: Toast["kind"] = "done", undo: Toast["undo"] = null): void => {
  const toast = { id: ++lastToast, text, kind, undo }
  toasts.value = [...toasts.value, toast]
  setTimeout(() => dismiss(toast.id), undo === null ? 6000 : 15_000)
}
