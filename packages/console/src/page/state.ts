/** What the whole page knows: the session, where it is, and what to say in passing. */
import { signal } from "@preact/signals"
import { ApiError, send, type Session, sessionPath } from "./api.ts"

/** Undefined until it is known whether there is a session; null: there is none. */
export const session = signal<Session | null | undefined>(undefined)

/** Why there is no session, for the page that opens one. */
export const refusal = signal<string | null>(null)

export const signIn = async (opening: { readonly ticket: string } | { readonly key: string }): Promise<void> => {
  try {
    // The service sends what `Session` has.
    session.value = (await send("POST", sessionPath, opening)) as Session
    refusal.value = null
  } catch (error) {
    refusal.value = error instanceof Error ? error.message : String(error)
    session.value = null
  }
}

export const signOut = async (): Promise<void> => {
  await send("DELETE", sessionPath).catch(() => {})
  session.value = null
}

/** A ticket is exchanged immediately, and removed from the address. */
export const begin = async (): Promise<void> => {
  const ticket = /^#ticket=(sbt_\S+)$/.exec(location.hash)?.[1]
  if (ticket !== undefined) {
    history.replaceState(null, "", location.pathname)
    return signIn({ ticket })
  }
  try {
    // As above.
    session.value = (await send("GET", sessionPath)) as Session
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) refusal.value = String(error)
    session.value = null
  }
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
