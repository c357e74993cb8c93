import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../../../src/internal/journal/Database.ts"

/** A database that carries out every statement and loses its first response, so that each is repeated. */
export const losingAnswers = Layer.effect(
  Database,
  Effect.map(Database, (database) => ({
    ...database,
    persist: (effect) => database.persist(Effect.andThen(effect, effect)),
    transaction: (effect) => {
      const whole = database.sql.withTransaction(effect)
      return database.persist(Effect.andThen(whole, whole))
    }
  }))
).pipe(Layer.provide(Database.layer))
