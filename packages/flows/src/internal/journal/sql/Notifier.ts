/**
 * Notifies other processes of changes. Notifications may be lost: each subscriber also polls, later.
 *
 * What was committed is notified in a separate statement, many changes at a time: a NOTIFY makes its commit wait for
 * those of all others, and flows commit often.
 */
import type { Listening } from "@signalbox/sql/Listening"
import { Row, text } from "@signalbox/sql/Table"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { createHash, randomUUID } from "node:crypto"
import type { Journal } from "../Journal.ts"
import * as Changes from "../Changes.ts"
import { rowsOf } from "./Tables.ts"

/** Bytes of a notification; Postgres takes less than 8,000. */
const largest = 7_000

const Notification = Schema.fromJsonString(
  Schema.Struct({
    from: Schema.String,
    changes: Schema.Array(Schema.Tuple([Schema.NullOr(Schema.String), Schema.NullOr(Schema.String), Schema.Boolean]))
  })
)
const payloadRow = Row({ payload: text })
const encode = Schema.encodeSync(Notification)
const decode = Schema.decodeUnknownEffect(Notification)

/** Splits changes into as few notifications as possible. */
const chunked = (changes: Iterable<Changes.Change>): ReadonlyArray<ReadonlyArray<Changes.Change>> => {
  const chunks: Array<Array<Changes.Change>> = []
  let left = 0
  for (const change of changes) {
    const bytes = Buffer.byteLength(JSON.stringify(change)) + 1
    const [fitting, size] = bytes > largest ? [Changes.missed, 16] : [change, bytes]
    const last = chunks.at(-1)
    if (last === undefined || size > left) {
      chunks.push([fitting])
      left = largest - size
    } else {
      last.push(fitting)
      left -= size
    }
  }
  return chunks
}

/** The channel of a schema. Channels are global in a database, and their names are short. */
export const channelOf = (schema: string): string =>
  `signalbox_flows_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`

export const makeLocal = () => {
  const local = Changes.make()
  return {
    publish: local.publish,
    owns: (_process: string) => {},
    changes: (onChange) => local.hear(onChange)
  } satisfies Notifier
}

export interface Notifier {
  readonly publish: (change: Changes.Change) => void
  /** Excludes the executions of this process from notifications to others. */
  readonly owns: (process: string) => void
  readonly changes: (typeof Journal.Service)["changes"]
}

export const makePostgres = Effect.fnUntraced(function* (
  sql: SqlClient,
  listening: typeof Listening.Service,
  schema: string
) {
  const local = Changes.make()
  const own = new Set<string>()
  const from = randomUUID()
  const channel = channelOf(schema)
  const outbox = new Map<string, Changes.Change>()
  const filled = Latch.makeUnsafe()

  const flush = Effect.gen(function* () {
    const payloads = chunked(outbox.values()).map((changes) => ({ payload: encode({ from, changes }) }))
    outbox.clear()
    if (payloads.length === 0) return
    yield* sql`SELECT pg_notify(${channel}, r.payload) FROM ${rowsOf(sql, payloadRow, payloads)}`
  }).pipe(Effect.catch((error) => Effect.logDebug(`other processes could not be notified: ${error.message}`)))

  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(flush), "1 second"))
  yield* filled.await.pipe(
    Effect.andThen(Effect.sync(() => filled.closeUnsafe())),
    Effect.andThen(flush),
    Effect.forever,
    Effect.forkScoped
  )

  /** Notifies a subscriber of changes by other processes. */
  const remote = (subscriber: Changes.Subscriber): Effect.Effect<never> => {
    const received = (text: string) =>
      decode(text).pipe(
        Effect.map((notification) => {
          if (notification.from !== from) for (const change of notification.changes) subscriber.tell(change)
        }),
        // A notification of another version, whose form may be unknown.
        Effect.catch(() => Effect.sync(() => subscriber.tell(Changes.missed)))
      )
    let isConnected = false
    const begun = Effect.sync(() => {
      isConnected = true
      subscriber.tell(Changes.missed)
    })
    const lost = (error: SqlError) =>
      Effect.suspend(() => {
        const log = isConnected ? Effect.logWarning : Effect.logDebug
        isConnected = false
        return log(`no connection for notifications of other processes that run flows, retrying: ${error.message}`)
      })
    return Effect.suspend(() => Stream.runForEach(listening.texts(channel, begun), received)).pipe(
      Effect.catch(lost),
      Effect.repeat(Schedule.spaced("500 millis")),
      Effect.andThen(Effect.never)
    )
  }

  return {
    publish: (change) => {
      local.publish(change)
      if (change[0] !== null && own.has(change[0])) return
      outbox.set(JSON.stringify(change), change)
      filled.openUnsafe()
    },
    owns: (process) => {
      own.add(process)
    },
    changes: (onChange) => local.hear(onChange, remote)
  } satisfies Notifier
})
