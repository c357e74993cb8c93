/**
 * API keys, secrets, workers and their groups.
 */
export const statements: ReadonlyArray<string> = []
