/** Streams as async iterables, which close what is open however they end. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ControlRoom } from "../../ControlRoom.ts"
import type { CallOptions } from "./CallOptions.ts"
import { type Call, rejection } from "./Failure.ts"
import { closed, servicesOf, type Session, timedOut } from "./Session.ts"

type Source<A> = Stream.Stream<A, unknown, ControlRoom>

const done = { done: true, value: undefined } as const

class Iteration<A> implements AsyncIterableIterator<A> {
  readonly #session: Session
  readonly #source: Source<A>
  readonly #call: Call
  readonly #options: CallOptions
  #inner: AsyncIterator<A> | undefined
  /** Whether it has ended, and with what, which the next `next` is to throw. */
  #isDone = false
  #failure: { readonly thrown: unknown } | undefined
  #turn: Promise<unknown> = Promise.resolve()
  /** What is to be undone at the end: listeners and timers. */
  readonly #undo: Array<() => void> = []

  constructor(session: Session, source: Source<A>, call: Call, options: CallOptions) {
    this.#session = session
    this.#source = source
    this.#call = call
    this.#options = options
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** One after the other, as an async generator does it. */
  next(): Promise<IteratorResult<A, undefined>> {
    const result = this.#turn.then(() => this.#pull())
    this.#turn = result.catch(() => undefined)
    return result
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#end()
    return done
  }

  async throw(error: unknown): Promise<never> {
    await this.#end()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
  }

  async #pull(): Promise<IteratorResult<A, undefined>> {
    if (!this.#isDone) {
      try {
        this.#inner ??= await this.#start()
        const result = await this.#inner?.next()
        if (!this.#isDone && result?.done === false) return result
        await this.#end()
      } catch (error) {
        await this.#end({ thrown: error })
      }
    }
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.thrown
    return done
  }

  /** Undefined when it was ended in the meantime. */
  async #start(): Promise<AsyncIterator<A> | undefined> {
    const { signal, timeout } = this.#options
    const { iterating } = this.#session
    const context = await this.#context()
    if (this.#isDone) return undefined
    if (this.#session.isClosed) throw closed(this.#call)
    signal?.throwIfAborted()
    const failing = Stream.catchCause(this.#source, (cause) => Stream.fail(rejection(cause, this.#call)))
    const onClose = () => this.#end({ thrown: closed(this.#call) })
    iterating.add(onClose)
    this.#undo.push(() => iterating.delete(onClose))
    if (signal !== undefined) {
      const onAbort = () => void this.#end({ thrown: signal.reason })
      signal.addEventListener("abort", onAbort, { once: true })
      this.#undo.push(() => signal.removeEventListener("abort", onAbort))
    }
    if (timeout !== undefined) {
      const end = Effect.sync(() => void this.#end({ thrown: timedOut(timeout, this.#call) }))
      this.#undo.push(Effect.runCallbackWith(context)(Effect.delay(end, timeout)))
    }
    return Stream.toAsyncIterableWith(failing, context)[Symbol.asyncIterator]()
  }

  async #context(): Promise<Context.Context<ControlRoom>> {
    if (this.#session.isClosed) throw closed(this.#call)
    try {
      const context = await this.#session.runtime.context()
      return Context.merge(context, servicesOf(this.#session, this.#options, this.#call))
    } catch (error) {
      throw this.#session.isClosed ? closed(this.#call) : rejection(Cause.fail(error), this.#call)
    }
  }

  async #end(failure?: { readonly thrown: unknown }): Promise<void> {
    if (this.#isDone) return
    this.#isDone = true
    this.#failure = failure
    for (const undo of this.#undo.splice(0)) undo()
    await this.#inner?.return?.()
  }
}

/** Each iteration runs the stream anew, from its first `next` on. */
export const iterate = <A>(
  session: Session,
  source: Source<A>,
  call: Call,
  options: CallOptions
): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => new Iteration(session, source, call, options)
})
