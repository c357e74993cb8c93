/**
 * Notifies every node of the service that there is work, that a key was revoked or a session closed, or that something
 * changed. Notifications may be lost, so each subscriber also polls.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { createHash, randomUUID } from "node:crypto"
import { Listening } from "@signalbox/sql/Listening"
import { Database } from "./Database.ts"

/** What a notification is about. */
export type Topic = "work" | "key revoked" | "session closed" | "changed"

/** Runs for each notification; null: some may have been missed. */
type Handler = (about: string | null) => Effect.Effect<void>

/**
 * The channel of the nodes of a schema. Channels are shared by all schemas of a database, and their names are short.
 */
export const channelOf = (schema = "signalbox"): string =>
  `signalbox_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`

export class Notifier extends Context.Service<
  Notifier,
  {
    /** Notifies when the current transaction commits; does nothing if it is rolled back. */
    readonly notify: (topic: Topic, about: string) => Effect.Effect<void>
    /** Subscribes until the scope closes. The handler must be quick. */
    readonly subscribe: (topic: Topic, handler: Handler) => Effect.Effect<void, never, Scope.Scope>
    /** Whether other nodes may change data without notifying this one. */
    readonly shared: boolean
  }
>()("@signalbox/control-room/store/Notifier") {
  /** For a database that only this process uses. */
  static readonly layerLocal = Layer.effect(
    Notifier,
    Effect.gen(function* () {
      const { sql } = yield* Database
      const { subscribe, publish } = makeHandlers()
      return Notifier.of({ subscribe, shared: false, notify: (topic, about) => sql.afterCommit(publish(topic, about)) })
    })
  )

  /**
   * Over the notifications of Postgres, which arrive with the commit. This node's own subscribers do not wait for them.
   */
  static readonly layerPostgres = ({ schema }: { readonly schema?: string }) =>
    Layer.effect(
      Notifier,
      Effect.gen(function* () {
        const { sql } = yield* Database
        const listening = yield* Listening
        const { subscribe, missed, publish } = makeHandlers()
        const node = randomUUID()
        const channel = channelOf(schema)
        const received = (text: string) => {
          const [from = "", topic = "", about = ""] = text.split("\n")
          return from === node ? Effect.void : publish(topic, about)
        }
        let connected = false
        const begun = Effect.andThen(
          Effect.sync(() => {
            connected = true
          }),
          missed
        )
        const lost = (error: SqlError) =>
          Effect.suspend(() => {
            const log = connected ? Effect.logWarning : Effect.logDebug
            connected = false
            return log(`the connection for notifications of other nodes failed, retrying: ${error.message}`)
          })
        yield* Effect.suspend(() => Stream.runForEach(listening.texts(channel, begun), received)).pipe(
          Effect.catch(lost),
          Effect.repeat(Schedule.spaced("500 millis")),
          Effect.forkScoped
        )
        return Notifier.of({
          subscribe,
          shared: true,
          notify: (topic, about) =>
            sql`SELECT pg_notify(${channel}, ${`${node}\n${topic}\n${about}`})`.pipe(
              Effect.andThen(sql.afterCommit(publish(topic, about)))
            )
        })
      })
    )
}

const makeHandlers = () => {
  const handlers = new Set<{ readonly topic: Topic; readonly handler: Handler }>()
  const publish = (topic: string, about: string) =>
    Effect.forEach([...handlers], (known) => (known.topic === topic ? known.handler(about) : Effect.void), {
      discard: true
    })
  const missed = Effect.suspend(() => Effect.forEach([...handlers], ({ handler }) => handler(null), { discard: true }))
  const subscribe = (topic: Topic, handler: Handler) =>
    Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => {
          const known = { topic, handler }
          handlers.add(known)
          return known
        }),
        (known) => Effect.sync(() => handlers.delete(known))
      )
    )
  return { subscribe, missed, publish }
}
