/** Errors that stand where a program called a function. Without Effect, so that a function of the web alone has it. */

/** Where a function was called. The text of it is made when it is read, so that a call that succeeds pays for the frames only. */
export interface Place {
  readonly stack?: string
}

/** The place from which `door` was called: its own frame and all below are left out. */
export const placeOf = (door: (...args: never) => unknown): Place => {
  const place: { stack?: string } = {}
  // An engine without it has frames of this package on top.
  if (typeof Error.captureStackTrace === "function") Error.captureStackTrace(place, door)
  else place.stack = new Error().stack ?? ""
  return place
}

/** The frames without the line above them, which names what was captured. */
const framesOf = (stack: string): string => {
  const at = stack.search(/^\s+at /m)
  return at < 0 ? stack : stack.slice(at)
}

/**
 * Gives an error the stack of a place.
 *
 * ```ts
 * import { placeOf, standAt } from "@signalbox/transport/Place"
 *
 * export const later = async (what: () => Promise<unknown>) => {
 *   const place = placeOf(later)
 *   return what().catch((error: unknown) => {
 *     throw error instanceof Error ? standAt(error, place) : error
 *   })
 * }
 * ```
 */
export const standAt = <E extends Error>(error: E, place: Place): E => {
  // `Error.prepareStackTrace` of a program may have made something else of it.
  const { stack }: { readonly stack?: unknown } = place
  if (typeof stack === "string")
    Object.defineProperty(error, "stack", {
      value: `${error.name}: ${error.message}\n${framesOf(stack)}`,
      writable: true,
      configurable: true,
      enumerable: false
    })
  return error
}
