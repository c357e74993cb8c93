/**
 * The subjects of waits for the end of another execution.
 */

/** The prefix of the subjects of executions. */
export const executionPrefix = "execution "
/** Returns the subject of an execution. */
export const subjectOf = (id: string): string => executionPrefix + id
/** Returns the execution of a subject; null for other subjects. */
export const executionIn = (subject: string | null): string | null =>
  subject !== null && subject.startsWith(executionPrefix) ? subject.slice(executionPrefix.length) : null
