/**
 * What a queue is to do, and what its jobs are, whoever does them.
 */

export interface Work {
  /** `rate`: all items at once; `latency`: one after the other, each alone; `counts`: what was done to the database so far. */
  readonly what: "rate" | "latency" | "counts"
  readonly kind: "quiet" | "output" | "failing"
  readonly items: number
  readonly concurrency: number
  /** Whether an item that fails is tried again, three times in all: a step without a retry begins none ahead. Default: yes, unless each fails. */
  readonly retry?: boolean
  /** Of a peer: how its worker is made. */
  readonly options?: Readonly<Record<string, unknown>>
}

/** A peer that is slow counts what it has done by then. */
export const limitSeconds = 3

/** How often an item is tried. */
export const attempts = ({ kind, retry = kind !== "failing" }: Work) => (retry ? 3 : 1)

export const payload = (n: number) => ({ order: n, customer: "Ada" })
export const outputOf = (item: { readonly order: number }) => ({ order: item.order, total: item.order * 2 })

/** Counts what is worked, and says when all is, or when the time is over. */
export const counting = (items: number) => {
  const cpu = process.cpuUsage()
  let first: number | undefined
  let last = 0
  let count = 0
  let timer: NodeJS.Timeout | undefined
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  return {
    begin: () => {
      if (first !== undefined) return
      first = performance.now()
      timer = setTimeout(finish, limitSeconds * 1000)
    },
    completed: (more = 1) => {
      count += more
      last = performance.now()
      if (count >= items) finish()
    },
    finished,
    measured: () => {
      clearTimeout(timer)
      const { system, user } = process.cpuUsage(cpu)
      return { perSecond: (count * 1000) / (last - (first ?? 0)), cpu: (system + user) / 1000 / count }
    }
  }
}
