/**
 * The flows that every contender runs, each in its own way: a chain of steps, each of which adds one to the result of the one before; and a fan
 * of steps that run at the same time.
 */
import { serve, timed, type Times } from "../../harness/Program.ts"
import type { Counts } from "../../harness/Postgres.ts"

export interface Task extends Times {
  /** `counts`: what was done to the database so far. */
  readonly shape: "chain" | "fan" | "counts"
  /** How many steps a flow has. */
  readonly size: number
  /** At most so many flows, instead of so many seconds. */
  readonly flows?: number
}

export const add = (n: number) => n + 1

export const numbers = (size: number) => Array.from({ length: size }, (_, n) => n)
export const sum = (some: ReadonlyArray<number>) => some.reduce((all, one) => all + one, 0)

/** Every step has run, with what it was given. */
const expected = ({ shape, size }: Task) => (shape === "chain" ? size : sum(numbers(size).map(add)))

/** `run` gives each flow its own idempotency key; a repeated call would join its execution. */
export const compete = (
  run: (shape: "chain" | "fan", size: number, key: string) => Promise<unknown>,
  close: () => Promise<unknown> = () => Promise.resolve(),
  counts: () => Counts = () => ({ statements: 0, syncs: 0, walBytes: 0 })
) =>
  serve(
    async (task: Task) => {
      const { flows, shape, size } = task
      if (shape === "counts") return counts()
      const salt = crypto.randomUUID()
      const one = async (n: number) => {
        const result = await run(shape, size, `${salt}/${n}`)
        if (result !== expected(task)) throw new Error(`${JSON.stringify(result)} is not ${expected(task)}`)
      }
      if (flows === undefined) return timed(task, one)
      for (let n = 0; n < flows; n++) await one(n)
      return null
    },
    { close }
  )
