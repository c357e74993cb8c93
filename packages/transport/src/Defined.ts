/**
 * Members that may be undefined, for what tells an absent key from an undefined one.
 */

/** Each member of `A` as an optional one that is never undefined. */
export type Defined<A> = { [Key in keyof A]?: Exclude<A[Key], undefined> }

/**
 * The members that are not undefined. Payloads of the contract have optional keys, which are absent and never undefined, since a codec
 * writes an undefined one as `null`; and an undefined member would replace a default that it is spread over.
 *
 * ```ts
 * import { defined } from "@signalbox/transport/Defined"
 *
 * interface Webhook {
 *   readonly name: string
 *   readonly endpoint?: string
 * }
 *
 * const ofWebhook = (name: string, endpoint?: string): Webhook => ({
 *   name,
 *   ...defined({ endpoint })
 * })
 * ```
 */
export const defined = <const A extends object>(members: A): Defined<A> =>
  // A cast, since the entries that are left are members of `A`, under their own keys.
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<A>
