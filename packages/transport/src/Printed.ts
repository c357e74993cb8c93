/**
 * How errors are shown by `console.log` of Node.
 */
/** What Node gives to a method named `Inspectable.NodeInspectSymbol`; others call it with nothing. */
export type InspectArguments =
  | readonly []
  | readonly [depth: number, options: object, inspect: (value: unknown, options: object) => string]

/**
 * Shows an error as Node shows an uncaught one: its class, message and place, then what else it holds and its cause. Errors of
 * effect are shown as data otherwise.
 *
 * ```ts
 * import { type InspectArguments, printed } from "@signalbox/transport/Printed"
 * import { NodeInspectSymbol } from "effect/Inspectable"
 * import * as Schema from "effect/Schema"
 *
 * export class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {
 *   override [NodeInspectSymbol](...args: InspectArguments) {
 *     return printed(this, args)
 *   }
 * }
 * ```
 */
export const printed = (error: Error, [, options, inspect]: InspectArguments): string =>
  inspect === undefined ? (error.stack ?? String(error)) : inspect(error, { ...options, customInspect: false })
