/**
 * The journal on SQLite: in a file, which one process has to itself, or in memory.
 */
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import type { SqlClient } from "effect/sql/SqlClient"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { FlowEngineError } from "../../FlowErrors.ts"
import { Journal } from "./Journal.ts"
import { Database } from "./Database.ts"
import * as Sql from "./Sql.ts"

const failed = (message: string) => new FlowEngineError({ message })

/** A client that has the file for itself. */
const client = (file: string): Layer.Layer<SqlClient, FlowEngineError> => {
  const folder = Effect.try({
    try: () => void (file === ":memory:" || mkdirSync(dirname(file), { recursive: true })),
    catch: (cause) => failed(`cannot create the folder of ${file}: ${cause instanceof Error ? cause.message : cause}`)
  })
  const opened = Layer.catchTag(SqliteClient.layer({ filename: file }), "SqliteOpenError", ({ message }) =>
    Layer.effectContext(Effect.fail(failed(message)))
  )
  return Layer.unwrap(Effect.as(folder, opened))
}

export const layer = (file: string): Layer.Layer<Journal, FlowEngineError> =>
  Sql.layer.pipe(Layer.provide(Database.layer), Layer.provide(client(file)))

type Call = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/**
 * Nothing is waited for in memory, so a call is one operation of its caller, however many its statements take; only an open transaction
 * of the program (`Flow.submitWithin`) is waited for.
 */
const atOnce = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.suspend(() => {
      const fiber = Effect.runForkWith(context)(effect, { scheduler: new Scheduler.MixedScheduler("sync") })
      fiber.currentDispatcher.flush()
      return fiber.pollUnsafe() ?? Fiber.join(fiber)
    })
  )

/**
 * The journal in memory. Its calls end in the turn in which they are made: a `TestClock` that is adjusted once finds each execution
 * where it waits next.
 */
export const layerMemory: Layer.Layer<Journal, FlowEngineError> = Layer.effect(
  Journal,
  Effect.map(Journal, ({ changes, isPassing, once, sql, within, ...calls }) => {
    const all = Object.entries(calls).map(([name, member]) => [
      name,
      Effect.isEffect(member)
        ? atOnce<unknown, never>(member)
        : // All other members are functions that return effects.
          (...args: ReadonlyArray<unknown>) => atOnce((member as Call)(...args))
    ])
    // The members are the same ones.
    return Journal.of({ ...(Object.fromEntries(all) as typeof calls), changes, isPassing, once, sql, within })
  })
).pipe(Layer.provide(layer(":memory:")))
