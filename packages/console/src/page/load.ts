/** Loading of what a screen shows, again and again while it is looked at. */
import { useEffect, useRef, useState } from "preact/hooks"
import { ApiError, addressOf, type Query, send } from "./api.ts"
import { session } from "./state.ts"

export interface Loaded<A> {
  /** Undefined until the first response. */
  readonly data: A | undefined
  /** Why the newest request failed; what was there before is still shown. */
  readonly error: string | null
  /** Loads it again at once. */
  readonly reload: () => void
}

/** How often what is on the screen is loaded again, in milliseconds. */
const interval = 3000

/** Loads a resource of the workspace, and again every few seconds while the page is visible. Null: nothing is loaded. */
export const useResource = <A>(path: string | null, query: Query = {}): Loaded<A> => {
  const current = session.value
  const address = current == null || path === null ? null : addressOf(current, path, query)
  const [state, setState] = useState<{ readonly of: string | null; readonly data?: A; readonly error: string | null }>({
    of: null,
    error: null
  })
  const again = useRef(() => {})
  useEffect(() => {
    if (address === null) return
    const ended = new AbortController()
    let timer = 0
    const load = async () => {
      clearTimeout(timer)
      try {
        // The contract says what this address returns; the caller names it.
        const data = (await send("GET", address, undefined, ended.signal)) as A
        if (!ended.signal.aborted) setState({ of: address, data, error: null })
      } catch (error) {
        if (ended.signal.aborted) return
        if (error instanceof ApiError && error.status === 401) session.value = null
        const message = error instanceof Error ? error.message : String(error)
        setState((before) => (before.of === address ? { ...before, error: message } : { of: address, error: message }))
      }
      if (!ended.signal.aborted && document.visibilityState === "visible") timer = window.setTimeout(load, interval)
    }
    const wake = () => {
      if (document.visibilityState === "visible") void load()
    }
    again.current = () => void load()
    document.addEventListener("visibilitychange", wake)
    void load()
    return () => {
      ended.abort()
      clearTimeout(timer)
      document.removeEventListener("visibilitychange", wake)
    }
  }, [address])
  const isCurrent = state.of === address
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : null,
    reload: () => again.current()
  }
}
