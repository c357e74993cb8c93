/**
 * The two forms of what is exhaustive or large: a short one in `test`, a long one in `test:soak`.
 */

/** Whether the tests run in their long form. */
export const soak = process.env["SIGNALBOX_SOAK"] === "1"

/** A number of the short form, and of the long one. */
export const sized = (short: number, long: number): number => (soak ? long : short)
