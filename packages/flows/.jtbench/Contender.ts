/**
 * A contender is a separate process that runs the same flow of two steps as often as each task says. It reports that it is
 * ready, and responds to each task with its times.
 */

/** Runs flows for so long, so many of them at a time. */
export interface Task {
  readonly seconds: number
  readonly concurrency: number
}

/** Times in milliseconds. */
export interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p95: number
  /** Of the contender's own process, for each flow; what a database or another server takes comes on top. */
  readonly cpu: number
}

/** The place in a list of which so much, from 0 to 1, is smaller. */
export const quantile = (values: ReadonlyArray<number>, part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * part), values.length - 1)] ?? Number.NaN

const measure = async ({ concurrency, seconds }: Task, run: (n: number) => Promise<unknown>): Promise<Measured> => {
  const times: Array<number> = []
  let next = 0
  const cpuBefore = process.cpuUsage()
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - begin < seconds * 1000) {
        const n = next++
        const before = performance.now()
        const result = await run(n)
        times.push(performance.now() - before)
        // Both steps have run, with what they were given.
        const expected = `{"doubled":${n * 2},"text":"order ${n * 2}"}`
        if (JSON.stringify(result) !== expected) throw new Error(`${JSON.stringify(result)} is not ${expected}`)
      }
    })
  )
  const took = performance.now() - begin
  const { system, user } = process.cpuUsage(cpuBefore)
  return {
    perSecond: (next * 1000) / took,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    cpu: (system + user) / 1000 / next
  }
}

/**
 * `run` gives each number its own idempotency key within a task; `salt` differs for each task. `close` runs before the
 * process ends, which it does when its parent ends.
 */
export const serve = (
  run: (n: number, salt: string) => Promise<unknown>,
  close: () => Promise<unknown> = () => Promise.resolve()
) => {
  process.on("message", (task: Task) => {
    const salt = crypto.randomUUID()
    // A failed measurement must not look like a figure: the process ends, and the benchmark with it.
    void measure(task, (n) => run(n, salt)).then((measured) => process.send?.(measured))
  })
  process.on("disconnect", () => void close().finally(() => process.exit(0)))
  process.send?.("ready")
}

/** The two steps, which every contender wraps in its own way. */
export const double = (n: number) => ({ doubled: n * 2 })
export const describe = (doubled: number) => ({ doubled, text: `order ${doubled}` })
