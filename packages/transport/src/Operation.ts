/** The function of a client that a program called, as errors and events name it. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"

/**
 * Returns the function that was called, by the spans around a request: the outermost of those that begin at the innermost and are all
 * of the modules, since a function of a client may call others. `otherwise`, when the innermost is another one. `calledAs` has the name
 * of a function with promises, which has another one than its span.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { operationIn } from "@signalbox/transport/Operation"
 *
 * const operation = operationIn(new Set(["Invoices"]))
 *
 * // "Invoices.pay"
 * export const pay = Effect.fn("Invoices.pay")(() => operation("a request"))
 * ```
 */
export const operationIn =
  (modules: ReadonlySet<string>, calledAs?: (fiber: Fiber.Fiber<unknown, unknown>) => string | null) =>
  <const A>(otherwise: A): Effect.Effect<string | A> =>
    Effect.withFiberSucceed((fiber) => {
      const called = calledAs === undefined ? null : calledAs(fiber)
      if (called !== null) return called
      let found: string | A = otherwise
      let { span } = fiber.cache
      while (span?._tag === "Span") {
        const dot = span.name.indexOf(".")
        if (dot < 0 || !modules.has(span.name.slice(0, dot))) break
        found = span.name
        span = Option.getOrUndefined(span.parent)
      }
      return found
    })
