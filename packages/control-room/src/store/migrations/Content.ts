/**
 * Assets, assistants, task packages, artifacts and console messages.
 */
export const statements: ReadonlyArray<string> = []
