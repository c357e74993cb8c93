/** Calls that change something, and what became of them. */
import { useState } from "preact/hooks"
import { addressOf, ApiError, type Query, send } from "./api.ts"
import { noteEnd, say, session } from "./state.ts"
import * as text from "./text/text.ts"

/**
 * Sends a request to a resource of the workspace. `A` is what the contract says of the response.
 * Rejects with `ApiError`; a session that has ended leads back to its beginning.
 */
export const call = async <A = unknown>(
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  { body, query, signal }: { readonly body?: unknown; readonly query?: Query; readonly signal?: AbortSignal } = {}
): Promise<A> => {
  const current = session.value
  if (current == null) throw new ApiError(401, text.frame.sessionEnded)
  try {
    // The caller names the type, since the contract is not loaded into the page.
    return (await send(method, addressOf(current, path, query), body, signal)) as A
  } catch (error) {
    noteEnd(error, current)
    throw error
  }
}

/** What went wrong, as a sentence. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export interface Action {
  readonly isBusy: boolean
  /** Why the newest try failed. */
  readonly error: string | null
  /** Runs it, says `done` when it succeeded, and returns whether it did. A second call while it runs does nothing. */
  readonly run: (work: () => Promise<unknown>, done?: string) => Promise<boolean>
}

/** What a button starts: the button is busy until it ends, and its error is shown beside the button. */
export const useAction = (): Action => {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error: string | null }>({
    isBusy: false,
    error: null
  })
  const run = async (work: () => Promise<unknown>, done?: string) => {
    if (state.isBusy) return false
    setState({ isBusy: true, error: null })
    try {
      await work()
      setState({ isBusy: false, error: null })
      if (done !== undefined) say(done)
      return true
    } catch (error) {
      setState({ isBusy: false, error: reasonOf(error) })
      return false
    }
  }
  return { ...state, run }
}
