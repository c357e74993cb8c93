/**
 * Idempotency keys.
 */
export const statements: ReadonlyArray<string> = []
