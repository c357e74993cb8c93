/**
 * The embedded engine on Postgres.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { isSqlError } from "effect/sql/SqlError"
import { startError } from "../sql/Database.ts"
import * as Postgres from "../sql/Postgres.ts"
import type { Embedded } from "./Embedded.ts"
import { layerEmbedded } from "./Layers.ts"
import type { PostgresOptions } from "./Options.ts"

/** Takes the lock, in a scope of its own below the one at hand. */
const take = Effect.fnUntraced(function* (options: PostgresOptions) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const release = Scope.close(scope, Exit.void)
  const lock = yield* Postgres.lock(options).pipe(
    Scope.provide(scope),
    Effect.mapError((error) => (isSqlError(error) ? startError(error) : error)),
    Effect.onError(() => release)
  )
  return { lock, release }
})

/** Pauses the engine while the lock may be another's: when the server was restarted, or could not be reached. */
const watch = Effect.fnUntraced(function* (
  options: PostgresOptions,
  first: Effect.Success<ReturnType<typeof take>>,
  { goOn, pause }: Embedded
) {
  let held = first
  while (true) {
    yield* Effect.exit(Effect.repeat(Postgres.probe(held.lock), Schedule.spaced("3 seconds")))
    yield* Effect.logWarning("the flows pause: the connection that holds their lock was lost")
    yield* pause
    yield* held.release
    held = yield* Effect.retry(take(options), Schedule.spaced("1 second"))
    yield* Effect.logInfo("the flows go on: their lock is held again")
    yield* goOn
  }
})

export const layer = (options: PostgresOptions) =>
  Layer.unwrap(
    Effect.map(take(options), (first) =>
      layerEmbedded((embedded) => Effect.asVoid(Effect.forkScoped(watch(options, first, embedded))))
    )
  ).pipe(Layer.provide(Postgres.layer(options)))
