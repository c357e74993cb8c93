/** Every module under its name. What needs Node stands apart: `node`. */
export * as Attempts from "./Attempts.ts"
export * as Gate from "./Gate.ts"
export * as IdleLimit from "./IdleLimit.ts"
export * as NoResponse from "./NoResponse.ts"
export * as Policy from "./Policy.ts"
export * as Printed from "./Printed.ts"
export * as RetryAfter from "./RetryAfter.ts"
export * as SchemaProblem from "./SchemaProblem.ts"
