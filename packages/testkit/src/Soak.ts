/** Sizes of exhaustive or large tests: a short form in `test`, a long one in `test:soak`. */

/** Whether the tests run in their long form. */
export const soak = process.env["SIGNALBOX_SOAK"] === "1"

/** Returns a number for the short form, or one for the long form. */
export const sized = (short: number, long: number): number => (soak ? long : short)
