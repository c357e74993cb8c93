/**
 * Webhooks, callbacks and their deliveries.
 */
export const statements: ReadonlyArray<string> = []
