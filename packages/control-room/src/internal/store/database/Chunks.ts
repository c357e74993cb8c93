/**
 * Commands on very many rows, in chunks: `node:sqlite` is synchronous, so a statement blocks the event loop while it
 * runs. The event loop continues between chunks, even inside a transaction, for which other writers wait and readers do
 * not.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"

/** Rows that one statement reads or writes at most: some milliseconds of work, and few enough parameters. */
export const rowsPerChunk = 500

/** Runs `use` with a chunk of the values at a time, in their order. */
export const forEach = <A, B, E, R>(
  values: ReadonlyArray<A>,
  use: (chunk: Arr.NonEmptyReadonlyArray<A>) => Effect.Effect<B, E, R>
): Effect.Effect<ReadonlyArray<B>, E, R> =>
  Effect.forEach(Arr.chunksOf(values, rowsPerChunk), (chunk, index) =>
    index === 0 ? use(chunk) : Effect.andThen(Effect.yieldNow, use(chunk))
  )

/** Like `forEach`, and returns the results of all chunks in one array. */
export const flatMap = <A, B, E, R>(
  values: ReadonlyArray<A>,
  use: (chunk: Arr.NonEmptyReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
): Effect.Effect<ReadonlyArray<B>, E, R> => Effect.map(forEach(values, use), (chunks) => chunks.flat())

/**
 * Repeats `use` until it returns fewer ids than `rowsPerChunk`, and returns all of them. `use` receives the last id it
 * returned, at first the empty string, and continues after it.
 */
export const walk = <Id extends string, E, R>(
  use: (after: string) => Effect.Effect<ReadonlyArray<Id>, E, R>
): Effect.Effect<ReadonlyArray<Id>, E, R> =>
  Effect.gen(function* () {
    const all: Array<Id> = []
    for (;;) {
      const ids = yield* use(all.at(-1) ?? "")
      for (const id of ids) all.push(id)
      if (ids.length < rowsPerChunk) return all
      yield* Effect.yieldNow
    }
  })

/** Repeats a deletion of up to `limit` rows until it deletes fewer. */
export const sweep = <E, R>(some: (limit: number) => Effect.Effect<number, E, R>): Effect.Effect<void, E, R> =>
  Effect.asVoid(
    Effect.repeat(Effect.tap(some(rowsPerChunk), Effect.yieldNow), { while: (count) => count >= rowsPerChunk })
  )
