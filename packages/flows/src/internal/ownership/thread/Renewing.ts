/**
 * The thread that renews the lease of its process, also while the event loop stands still, but no longer than that may.
 */
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { MessagePort } from "node:worker_threads"
import type { Standing } from "../../Journal.ts"
import { renewal } from "../../journal/sql/Renewal.ts"
import { beatMillis, type Given, noticedMillis, type Order, type Report } from "./Protocol.ts"
import { makeReader, type Reader } from "./Marks.ts"

/** Watches the event loop of the process; each call returns for how long it has stood still. */
const makeWatch = ({ beats }: Reader) => {
  let seen = beats()
  let lastBeat = performance.now()
  let lastLook = lastBeat
  return (): number => {
    const now = performance.now()
    const beat = beats()
    // A process that was stopped, or its machine, is not one that computes.
    if (beat !== seen || now - lastLook > noticedMillis / 2) lastBeat = now
    seen = beat
    lastLook = now
    return now - lastBeat
  }
}

/** Renewals over a connection that is replaced when it fails. */
const makeRenewer = ({ leaseMillis, schema, url }: Given) => {
  let current: { readonly connection: PgConnection.PgConnection; readonly scope: Scope.Closeable } | null = null

  const close = Effect.suspend(() => {
    if (current === null) return Effect.void
    const { scope } = current
    current = null
    return Scope.close(scope, Exit.void)
  })
  const connected = Effect.gen(function* () {
    if (current !== null) return current.connection
    const scope = yield* Scope.make()
    const options = { url: Redacted.make(url), schema, applicationName: "signalbox flows lease" }
    const connection = yield* Scope.provide(PostgresClient.connect(options), scope).pipe(
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    current = { connection, scope }
    return connection
  })

  return {
    close,
    renew: (process: string, millis: number, standing: Standing | null) => {
      const { params, text } = renewal(schema, process, millis, standing)
      return Effect.flatMap(connected, (connection) => connection.query(text, params)).pipe(
        Effect.timeout(leaseMillis / 3),
        Effect.onError(() => close)
      )
    }
  }
}

/** Runs the thread until it is told to end. */
export const run = Effect.fnUntraced(function* (port: MessagePort, given: Given) {
  const reader = makeReader(given.memory)
  const watch = makeWatch(reader)
  const renewer = makeRenewer(given)
  const end = yield* Deferred.make<void>()
  let process: string | null = null
  port.on("message", (order: Order) => {
    if (order._tag === "End") Deferred.doneUnsafe(end, Effect.void)
    else process = order.process
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const report = (message: Report) => port.postMessage(message)

  let standing: Standing | null = null
  let hasGivenUp = false
  let isReachable = true
  let renewedAt = -Infinity

  /** Renews the lease, or ends it, unless its process has none. */
  const renew = (millis: number) =>
    Effect.suspend(() => {
      renewedAt = performance.now()
      if (process === null) return Effect.void
      return Effect.matchCause(renewer.renew(process, millis, standing), {
        onSuccess: () => {
          isReachable = true
        },
        onFailure: (cause) => {
          const error = Cause.squash(cause)
          if (isReachable)
            report({ _tag: "Unreachable", message: error instanceof Error ? error.message : String(error) })
          isReachable = false
        }
      })
    })

  yield* Effect.gen(function* () {
    const millis = watch()
    if (millis < noticedMillis) {
      if (standing !== null) report({ _tag: "Stood", ...standing })
      standing = null
      hasGivenUp = false
    } else {
      standing = { millis, keeper: reader.keeper() }
    }
    if (standing !== null && millis >= given.stallLimitMillis) {
      if (hasGivenUp) return
      yield* renew(0)
      hasGivenUp = true
    } else if (performance.now() - renewedAt >= given.leaseMillis / 3) {
      yield* renew(given.leaseMillis)
    }
  }).pipe(Effect.andThen(Effect.sleep(beatMillis)), Effect.forever, Effect.raceFirst(Deferred.await(end)))
  yield* renewer.close
  port.close()
})
