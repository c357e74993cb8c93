/**
 * What clients with promises have in common: errors that stand where the program called, calls and streams that a signal
 * ends, and what programs without Effect give instead of effects and streams.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

export { type Place, placeOf, standAt } from "./Place.ts"

/** Either of two signals, where there are two. */
export const eitherSignal = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one === undefined ? other : other === undefined ? one : AbortSignal.any([one, other])

/** How a call runs, and what it rejects with. */
export interface Calling<R> {
  readonly runtime: ManagedRuntime.ManagedRuntime<R, unknown>
  readonly signal: AbortSignal | undefined
  readonly rejection: (cause: Cause.Cause<unknown>) => unknown
  /** What it rejects with once the signal is aborted; default: the reason of the signal. */
  readonly aborted?: (reason: unknown) => unknown
}

const reasonOf = <R>({ aborted, signal }: Calling<R>): unknown =>
  aborted === undefined ? signal?.reason : aborted(signal?.reason)

const isAborted = <R>({ signal }: Calling<R>): boolean => signal?.aborted === true

/** Runs an effect as a promise. */
export const execute = async <A, R>(effect: Effect.Effect<A, unknown, R>, calling: Calling<R>): Promise<A> => {
  const { rejection, runtime, signal } = calling
  if (isAborted(calling)) throw reasonOf(calling)
  const exit = await runtime.runPromiseExit(effect, { signal })
  if (Exit.isSuccess(exit)) return exit.value
  throw isAborted(calling) ? reasonOf(calling) : rejection(exit.cause)
}

/** Fails once the signal is aborted. */
const whenAborted = <R>(signal: AbortSignal, calling: Calling<R>): Effect.Effect<never, unknown> =>
  Effect.callback((resume) => {
    const fail = () => resume(Effect.fail(reasonOf(calling)))
    if (signal.aborted) return fail()
    signal.addEventListener("abort", fail, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", fail))
  })

/** A stream as an async iterable: each iteration runs it anew, and its end, also an early one, closes what is open. */
export const iterate = <A, R>(stream: Stream.Stream<A, unknown, R>, calling: Calling<R>): AsyncIterable<A> => ({
  async *[Symbol.asyncIterator]() {
    const { rejection, signal } = calling
    const context = await execute(Effect.context<R>(), calling)
    const failing = Stream.catchCause(stream, (cause) => Stream.fail(rejection(cause)))
    const bounded = signal === undefined ? failing : Stream.interruptWhen(failing, whenAborted(signal, calling))
    yield* Stream.toAsyncIterableWith(bounded, context)
  }
})

type Listener = (...args: ReadonlyArray<unknown>) => unknown

/**
 * Functions of a program such as `onProgress`, as the effects that modules take: what one throws or rejects with is a defect. Other
 * members stay as they are. `names`: those that are such functions besides `on…`.
 */
export const adaptListeners = (options: object, names: ReadonlyArray<string> = []): object => {
  const isListener = (name: string, value: unknown): value is Listener =>
    typeof value === "function" && (/^on[A-Z]/.test(name) || names.includes(name))
  const entries = Object.entries(options)
  if (!entries.some(([name, value]) => isListener(name, value))) return options
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      isListener(name, value) ? (...args: ReadonlyArray<unknown>) => Effect.promise(async () => value(...args)) : value
    ])
  )
}

/** The blob behind a `File`, a `Blob`, or `{ name, blob }`; undefined: it is none of these. */
export const blobOf = (source: unknown): { readonly name: string | null; readonly blob: Blob } | undefined => {
  if (source instanceof Blob) return { name: "name" in source ? String(source.name) : null, blob: source }
  if (!Predicate.isObject(source) || !("blob" in source && source.blob instanceof Blob)) return undefined
  return { name: "name" in source ? String(source.name) : null, blob: source.blob }
}

/** The bytes of a blob from an offset on, as often as they are wanted. */
export const bytesOfBlob = <E>(
  blob: Blob,
  offset: number,
  failed: (error: unknown) => E
): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() =>
    Stream.fromReadableStream<Uint8Array, E>({
      evaluate: () => (offset === 0 ? blob : blob.slice(offset)).stream(),
      onError: failed
    })
  )
