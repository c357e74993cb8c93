/** What is asked of a room that grows. */

/** What can be asked for, and how a row of the page calls it. */
export const operations = {
  page: "A page of 100 items",
  pageOfRun: "A page of 100 items of a run, with payloads",
  pageOfFailed: "A page of the 100 failed items, the oldest of all",
  deep: "A page of 100 items, 50,000 items deep or at the end",
  runs: "A page of 100 runs",
  get: "GET one item",
  post: "POST one item",
  start: "The start of a run of 100 items",
  tick: "The timers of every second",
  gauges: "The gauges of every 15 seconds"
}

export interface Task {
  readonly operation: keyof typeof operations
  readonly calls: number
}
