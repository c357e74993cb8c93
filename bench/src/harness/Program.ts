/**
 * A program of its own that a suite measures: it says that it is ready, and answers each task with its figures. So nothing that is
 * measured shares an event loop with the bench or with another contender.
 */

/** What a program sends to the bench. */
export type Message = { readonly ready: unknown } | { readonly answer: unknown } | { readonly failed: string }

const say = (message: Message) => process.send?.(message)
const failed = (cause: unknown) =>
  say({ failed: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) })

/** Every program answers this one: what it needs while nothing is asked of it for so long. Only with `--expose-gc`. */
export interface Idle {
  readonly idleSeconds: number
}

const idle = async ({ idleSeconds }: Idle) => {
  const before = process.cpuUsage()
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000))
  const { system, user } = process.cpuUsage(before)
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed / 2 ** 20, resident: rss / 2 ** 20, cpu: ((system + user) / 1000 / idleSeconds) * 60 }
}

const isIdle = (task: unknown): task is Idle => typeof task === "object" && task !== null && "idleSeconds" in task

/**
 * Answers tasks, one at a time, until the bench ends; `close` runs then. `ready` is what the bench is told first, such as an address.
 */
export const serve = <Task, Answer>(
  run: (task: Task) => Promise<Answer>,
  {
    close = () => Promise.resolve(),
    ready = null
  }: { readonly close?: () => Promise<unknown>; readonly ready?: unknown } = {}
) => {
  process.on("message", (task: Task) => {
    const answered: Promise<unknown> = isIdle(task) ? idle(task) : run(task)
    void answered.then((answer) => say({ answer }), failed)
  })
  process.on("disconnect", () => {
    setTimeout(() => process.exit(0), 5000).unref()
    void close().finally(() => process.exit(0))
  })
  say({ ready })
}

export interface Times {
  readonly seconds: number
  readonly concurrency: number
}

/** Calls for so long, so many at a time. Milliseconds, and those of the processor for each call. */
export const timed = async ({ concurrency, seconds }: Times, call: (n: number) => Promise<unknown>) => {
  const times: Array<number> = []
  let next = 0
  const cpu = process.cpuUsage()
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - begin < seconds * 1000) {
        const before = performance.now()
        await call(next++)
        times.push(performance.now() - before)
      }
    })
  )
  const took = performance.now() - begin
  const { system, user } = process.cpuUsage(cpu)
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.min(Math.floor(times.length * part), times.length - 1)] ?? Number.NaN
  return { perSecond: (next * 1000) / took, p50: at(0.5), p99: at(0.99), cpu: (system + user) / 1000 / next }
}
