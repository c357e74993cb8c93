/**
 * Requests of one kind that are made at the same time share a statement, and so a round trip and a commit. What comes while a statement
 * is on its way goes with the next one; what comes alone goes alone, at once.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

interface Options<A, B> {
  /** The services of shared statements. */
  readonly context: Context.Context<never>
  /** Runs a shared statement; returns an answer to each request, or null for one that must be repeated alone. */
  readonly run: (all: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B | null>, unknown>
  /** A statement that takes longer, for example because a row is locked, lets others pass. Default: a tenth of a second. */
  readonly passedAfterMillis?: number
}

interface Waiting<A, B> {
  readonly request: A
  /** With null it runs alone; `ended` is called after that. */
  readonly answer: (answer: B | null, ended: () => void) => void
}

/** How many requests share a statement. */
const most = 100

const nothing = () => {}

/** Returns a function that answers a request: by a shared statement, or by `alone`, which must do the same. */
export const make = <A, B>({ context, passedAfterMillis = 100, run }: Options<A, B>) => {
  const fork = Effect.runForkWith(context)
  const waiting = new Set<Waiting<A, B>>()
  /** The statement that is on its way. */
  let current: object | null = null
  let isPlanned = false

  /** Lets the others wait until the result is called. */
  const begun = () => {
    const mine = {}
    current = mine
    const over = () => {
      clearTimeout(timer)
      if (current !== mine) return
      current = null
      plan()
    }
    const timer = setTimeout(over, passedAfterMillis)
    return over
  }

  /** After all events of this turn of the event loop: the answers of one statement lead to as many requests. */
  const plan = () => {
    if (isPlanned || waiting.size === 0 || current !== null) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      send()
    })
  }

  const send = () => {
    const some = [...waiting].slice(0, most)
    for (const one of some) waiting.delete(one)
    const [first, ...others] = some
    if (first === undefined) return
    const over = begun()
    if (others.length === 0) first.answer(null, over)
    else {
      fork(Effect.suspend(() => run(some.map(({ request }) => request)))).addObserver((exit) => {
        over()
        // What a failed statement was to do is done alone, so that no request fails for another one.
        const answers = Exit.isSuccess(exit) ? exit.value : []
        for (const [n, { answer }] of some.entries()) answer(answers[n] ?? null, nothing)
      })
    }
  }

  return <C, E, R>(request: A, alone: Effect.Effect<C, E, R>): Effect.Effect<B | C, E, R> =>
    Effect.flatten(
      Effect.callback<Effect.Effect<B | C, E, R>>((resume) => {
        const one: Waiting<A, B> = {
          request,
          answer: (answer, ended) =>
            resume(
              Effect.succeed(answer === null ? Effect.ensuring(alone, Effect.sync(ended)) : Effect.succeed(answer))
            )
        }
        waiting.add(one)
        plan()
        return Effect.sync(() => void waiting.delete(one))
      })
    )
}
