import { payment } from "./deployed.ts"

export const one = payment
export const other = { ...payment }
