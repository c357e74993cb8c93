/**
 * How errors are shown by `console.log` of Node.
 */
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Schema from "effect/Schema"

/** What Node gives to a method named `Inspectable.NodeInspectSymbol`; others call it with nothing. */
type InspectArguments =
  | readonly []
  | readonly [depth: number, options: object, inspect: (value: unknown, options: object) => string]

/** As Node shows an uncaught error. */
function printed(this: Error, ...[, options, inspect]: InspectArguments): string {
  return inspect === undefined ? (this.stack ?? String(this)) : inspect(this, { ...options, customInspect: false })
}

type Make = (...args: ReadonlyArray<unknown>) => { readonly prototype: object }

/** The class, with the method. */
const withPrinted = <A extends { readonly prototype: object }>(made: A): A => {
  Object.defineProperty(made.prototype, NodeInspectSymbol, { value: printed, configurable: true, writable: true })
  return made
}

/**
 * `Schema.TaggedError` whose errors are shown as Node shows an uncaught one: class, message and place, then what else they hold and
 * their cause. Errors of effect are shown as data otherwise.
 *
 * ```ts
 * import { TaggedError } from "@signalbox/transport/Printed"
 * import * as Schema from "effect/Schema"
 *
 * export class Refused extends TaggedError<Refused>()("Refused", {
 *   message: Schema.String
 * }) {}
 * ```
 */
export const TaggedError = ((identifier?: string) => {
  // A cast, since only the signature below knows the types of a call: here its arguments are passed on as they are, and of
  // the class nothing is read but its prototype.
  const make = Schema.TaggedError(identifier) as unknown as Make
  return (...args: ReadonlyArray<unknown>) => withPrinted(make(...args))
  // A cast, since it takes and returns exactly what `Schema.TaggedError` does: all that is added is a method of the
  // prototype, which no type shows.
}) as unknown as typeof Schema.TaggedError
