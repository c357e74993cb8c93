import { count } from "../../format.ts"

/** Such as `1 item` and `2 items`. */
export const several = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? "" : "s"}`
