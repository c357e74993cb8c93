/** What is asked of an engine of flows that grows. */

/** What can be asked for, and how a row of the page calls it. */
export const operations = {
  flow: "A flow of 2 steps",
  lists: "A list of the executions that need attention",
  ended: "A list of the failed executions of one flow"
}

export interface Task {
  readonly operation: keyof typeof operations
  readonly calls: number
}
