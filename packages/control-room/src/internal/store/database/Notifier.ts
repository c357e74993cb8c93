/**
 * Notifies every node of the service that there is work, that a limit may have room, that a key was revoked or a session closed, or
 * that something changed. Notifications may be lost, so each subscriber also polls.
 *
 * On Postgres what transactions have committed is sent in a separate statement, all that has gathered since the last one: a NOTIFY
 * inside of a transaction costs it a round trip, and makes its commit wait for those of all others that notify.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { createHash, randomUUID } from "node:crypto"
import { Listening } from "@signalbox/sql/Listening"
import { steady } from "../../background/BackgroundTask.ts"
import { Database } from "./Database.ts"

/** What a notification is about. */
export type Topic =
  | "work"
  | "limits"
  | "key revoked"
  | "session closed"
  | "permissions changed"
  | "authorization"
  | "changed"

/** Runs for each notification; null: some may have been missed. */
type Handler = (about: string | null) => Effect.Effect<void>

/** Bytes of a notification; Postgres takes less than 8,000. */
const mostBytes = 7900

/** Texts of lines: the node that sends them, then topics, each followed by what it is about. */
const textsOf = (node: string, outbox: Iterable<string>): ReadonlyArray<string> => {
  const texts: Array<string> = []
  let text = node
  for (const one of outbox) {
    if (text !== node && text.length + one.length >= mostBytes) {
      texts.push(text)
      text = node
    }
    text += `\n${one}`
  }
  return text === node ? texts : [...texts, text]
}

/**
 * The channel of the nodes of a schema. Channels are shared by all schemas of a database, and their names are short.
 */
export const channelOf = (schema = "signalbox"): string =>
  `signalbox_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`

export class Notifier extends Context.Service<
  Notifier,
  {
    /** Notifies when the current transaction commits; does nothing if it is rolled back. Texts are of ASCII, without line breaks. */
    readonly notify: (topic: Topic, about: string) => Effect.Effect<void>
    /** Subscribes until the scope closes. The handler must be quick. */
    readonly subscribe: (topic: Topic, handler: Handler) => Effect.Effect<void, never, Scope.Scope>
    /** Runs the handlers of these topics as after notifications that may have been missed. */
    readonly suspect: (topics: ReadonlyArray<Topic>) => Effect.Effect<void>
    /** Whether other nodes may change data without notifying this one. */
    readonly shared: boolean
  }
>()("@signalbox/control-room/store/Notifier") {
  /** For a database that only this process uses. */
  static readonly layerLocal = Layer.effect(
    Notifier,
    Effect.gen(function* () {
      const { sql } = yield* Database
      const { publish, subscribe, suspect } = makeHandlers()
      return Notifier.of({
        subscribe,
        suspect,
        shared: false,
        notify: (topic, about) => sql.afterCommit(publish(topic, about))
      })
    })
  )

  /**
   * Over the notifications of Postgres, after the commit. This node's own subscribers do not wait for them.
   */
  static readonly layerPostgres = ({ schema }: { readonly schema?: string }) =>
    Layer.effect(
      Notifier,
      Effect.gen(function* () {
        const { sql } = yield* Database
        const listening = yield* Listening
        const { missed, publish, subscribe, suspect } = makeHandlers()
        const node = randomUUID()
        const channel = channelOf(schema)
        const received = Effect.fnUntraced(function* (text: string) {
          const [from, ...lines] = text.split("\n")
          if (from === node) return
          for (let i = 0; i < lines.length; i += 2) yield* publish(lines[i] ?? "", lines[i + 1] ?? "")
        })

        const outbox = new Set<string>()
        const isFilled = Latch.makeUnsafe(false)
        const send = Effect.suspend(() => {
          const texts = textsOf(node, outbox)
          outbox.clear()
          return Effect.forEach(texts, (text) => sql`SELECT pg_notify(${channel}, ${text})`, { discard: true })
        })
        yield* Effect.addFinalizer(() =>
          Effect.ignoreCause(Effect.timeoutOption(Effect.interruptible(send), "1 second"))
        )
        yield* isFilled.await.pipe(
          // So that all of the transaction that opened it is there.
          Effect.andThen(Effect.yieldNow),
          Effect.andThen(Effect.sync(() => isFilled.closeUnsafe())),
          Effect.andThen(send),
          steady("notifying other nodes"),
          Effect.forever,
          Effect.forkScoped
        )

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
          suspect,
          shared: true,
          notify: (topic, about) =>
            sql.afterCommit(
              Effect.suspend(() => {
                outbox.add(`${topic}\n${about}`)
                isFilled.openUnsafe()
                return publish(topic, about)
              })
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
  const suspect = (topics: ReadonlyArray<Topic> | null) =>
    Effect.suspend(() =>
      Effect.forEach(
        [...handlers],
        ({ handler, topic }) => (topics === null || topics.includes(topic) ? handler(null) : Effect.void),
        { discard: true }
      )
    )
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
  return { subscribe, suspect, missed: suspect(null), publish }
}
