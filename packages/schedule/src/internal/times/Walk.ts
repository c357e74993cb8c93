/** Iterates over the occurrences of a schedule. */

/** Instants after one and up to another, in their order, each once. */
export type Walk = (after: number, limit: number) => Generator<number, void>

/** Earlier, zones have local mean times. */
export const firstInstant = Date.UTC(1900, 0, 1)

/** Years with four digits, as keys of occurrences are ISO dates. */
export const lastInstant = Date.UTC(9999, 11, 30)
