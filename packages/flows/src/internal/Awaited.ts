/**
 * What an execution awaits outside of itself, as the text by which it is found: the end of another execution.
 */

/** What the subjects of executions begin with. */
export const executionPrefix = "execution "
/** What tells an execution from all else that is awaited. */
export const subjectOf = (id: string): string => executionPrefix + id
/** The execution that is awaited; null when it is something else. */
export const executionIn = (subject: string | null): string | null =>
  subject !== null && subject.startsWith(executionPrefix) ? subject.slice(executionPrefix.length) : null
