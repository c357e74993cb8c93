/**
 * For `node --import`: writes every second how long the event loop of a process was blocked and how much memory it uses, as a
 * line of JSON, to the file that `LOOP_DELAY_FILE` names. So nothing of it is in the service.
 */
import { appendFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { isMainThread } from "node:worker_threads"

/** A line of the file: milliseconds, and megabytes. */
export interface Second {
  readonly longest: number
  readonly p99: number
  readonly rss: number
  readonly heap: number
}

const file = process.env["LOOP_DELAY_FILE"]

if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 2 })
  delay.enable()
  const megabytes = (bytes: number) => Math.round(bytes / 1e5) / 10
  setInterval(() => {
    const { heapUsed, rss } = process.memoryUsage()
    const longest = delay.max / 1e6
    const p99 = delay.percentile(99) / 1e6
    const second: Second = { longest, p99, rss: megabytes(rss), heap: megabytes(heapUsed) }
    delay.reset()
    appendFileSync(file, `${JSON.stringify(second)}\n`)
  }, 1000).unref()
}
