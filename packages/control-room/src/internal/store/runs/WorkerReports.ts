/**
 * What workers report of their step runs besides start and end. Reports are numbered, so that a repeated one is stored
 * once.
 */
import { StepRunId } from "@signalbox/api/contract/Ids"
import type { ConsoleMessage, StepRunEnvironment } from "@signalbox/api/contract/StepRuns"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Refused } from "../../engine/Refused.ts"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import * as Dialect from "@signalbox/sql/Dialect"
import { id, integer, nullable, queryOne, Row, Table, text } from "@signalbox/sql/Table"
import { messageOf } from "./StoredEvent.ts"
import type { StoredStepRun } from "./StoredStepRun.ts"

const reportedRow = Row({
  state: text,
  lease_hash: nullable(text),
  messages_received: integer,
  events_received: integer
})

const messageTable = Table("console_message", { id: text, step_run_id: id(StepRunId), timestamp: text, message: text })

/** Messages from one mark of a log to the next. */
const marked = 1000

/** The next UUID in the order of their texts. */
const successorOf = (id: string) => {
  const next = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0")
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

export class WorkerReports extends Context.Service<
  WorkerReports,
  {
    readonly listMessages: (
      stepRun: StepRunId,
      order: "oldest first" | "newest first",
      page: PageRequest
    ) => Effect.Effect<Rows<ConsoleMessage & { readonly id: string }>>
    /** How many messages a step run has. */
    readonly countMessages: (stepRun: StepRunId) => Effect.Effect<number>
    /** The id of the message at this position, from 0; null where there is none. Steps over less than a thousand others. */
    readonly messageAt: (stepRun: StepRunId, position: number) => Effect.Effect<string | null>
    /** `offset`: how many messages were sent before. */
    readonly addMessages: (
      stepRun: StoredStepRun,
      offset: number,
      messages: ReadonlyArray<ConsoleMessage>
    ) => Effect.Effect<void, Refused>
    /** Deletes some messages of these step runs, and returns how many. */
    readonly removeMessages: (stepRuns: ReadonlyArray<StepRunId>, limit: number) => Effect.Effect<number>
    /** `offset`: how many events were sent before. */
    readonly addEvents: (
      stepRun: StoredStepRun,
      offset: number,
      events: ReadonlyArray<{
        readonly timestamp: string
        readonly type: string
        readonly environment: StepRunEnvironment | null
        readonly message: string | null
      }>
    ) => Effect.Effect<void, Refused>
  }
>()("@signalbox/control-room/store/WorkerReports") {
  static readonly layer = Layer.effect(
    WorkerReports,
    Effect.gen(function* () {
      const { newId, page, sql, transaction } = yield* Database
      const forUpdate = Dialect.forUpdate(sql)

      /** The part of a report that was not received before. */
      const fresh = Effect.fnUntraced(function* <A>(
        known: StoredStepRun,
        offset: number,
        sent: ReadonlyArray<A>,
        countOf: (row: typeof reportedRow.Type) => number
      ) {
        const row = yield* queryOne(
          reportedRow,
          sql`
            SELECT ${reportedRow.columns} FROM step_run
            WHERE id = ${known.id} ${forUpdate}`
        )
        if (row?.state === "awaiting_worker" && row.lease_hash === known.leaseHash) {
          return yield* new Refused({ code: "CONFLICT", message: "the step run has not started; start it first" })
        }
        if (row?.state !== "in_progress" || row.lease_hash !== known.leaseHash) {
          return yield* new Refused({ code: "LEASE_LOST", message: "the step run has ended; stop the task" })
        }
        const received = countOf(row)
        if (offset > received) {
          return yield* new Refused({
            code: "CONFLICT",
            message: `offset: ${received} were received before; send those that follow`
          })
        }
        return sent.slice(received - offset)
      })

      return WorkerReports.of({
        listMessages: (stepRun, order, request) =>
          page(
            {
              rows: messageTable.pick("id", "timestamp", "message"),
              table: messageTable.name,
              long: ["message"],
              plain: true
            },
            [sql`step_run_id = ${stepRun}`],
            order,
            request
          ),
        countMessages: Effect.fnUntraced(function* (stepRun) {
          const row = yield* queryOne(
            Row({ total: integer }),
            sql`
              SELECT CASE WHEN details_gone = 1 THEN 0 ELSE messages_received END AS total FROM step_run
              WHERE id = ${stepRun}`
          )
          return row?.total ?? 0
        }),
        messageAt: Effect.fnUntraced(function* (stepRun, position) {
          const mark = yield* queryOne(
            Row({ position: integer, message_id: text }),
            sql`
              SELECT position, message_id FROM console_mark
              WHERE step_run_id = ${stepRun} AND position <= ${position} ORDER BY position DESC LIMIT 1`
          )
          const row = yield* queryOne(
            Row({ id: text }),
            sql`
              SELECT id FROM console_message
              WHERE step_run_id = ${stepRun} AND id >= ${mark?.message_id ?? ""}
              ORDER BY id LIMIT 1 OFFSET ${position - (mark?.position ?? 0)}`
          )
          return row?.id ?? null
        }),
        addMessages: Effect.fnUntraced(function* (stepRun, offset, messages) {
          const added = yield* fresh(stepRun, offset, messages, (row) => row.messages_received)
          if (!Arr.isReadonlyArrayNonEmpty(added)) return
          const known = yield* queryOne(
            Row({ id: nullable(text) }),
            sql`SELECT max(id) AS id FROM console_message WHERE step_run_id = ${stepRun.id}`
          )
          let last = known?.id ?? ""
          const rows = yield* Effect.forEach(added, ({ message, timestamp }) =>
            Effect.map(newId, (made) => {
              // The clocks of nodes differ, and readers of the log continue after the last id.
              last = made > last ? made : successorOf(last)
              return { id: last, step_run_id: stepRun.id, timestamp, message }
            })
          )
          yield* sql`INSERT INTO console_message ${messageTable.insert(rows)}`
          const first = offset + messages.length - added.length
          // A report has no more messages than there are from one mark to the next.
          const position = Math.ceil(Math.max(1, first) / marked) * marked
          const mark = rows[position - first]
          if (mark !== undefined) {
            const { id, step_run_id } = mark
            yield* sql`INSERT INTO console_mark ${sql.insert({ step_run_id, position, message_id: id })}`
          }
          yield* sql`UPDATE step_run SET messages_received = messages_received + ${added.length} WHERE id = ${stepRun.id}`
        }, transaction),
        removeMessages: Effect.fnUntraced(function* (stepRuns, limit) {
          const rows = yield* sql`
            DELETE FROM console_message WHERE id IN (
              SELECT id FROM console_message WHERE ${sql.in("step_run_id", stepRuns)} LIMIT ${limit})
            RETURNING id`
          if (rows.length < limit) yield* sql`DELETE FROM console_mark WHERE ${sql.in("step_run_id", stepRuns)}`
          return rows.length
        }),
        addEvents: Effect.fnUntraced(function* (stepRun, offset, events) {
          const added = yield* fresh(stepRun, offset, events, (row) => row.events_received)
          if (!Arr.isReadonlyArrayNonEmpty(added)) return
          const rows = yield* Effect.forEach(added, ({ environment, message, timestamp, type }) =>
            Effect.map(newId, (id) => ({
              id,
              step_run_id: stepRun.id,
              event_type: type,
              created_at: timestamp,
              message: messageOf(environment, message)
            }))
          )
          yield* sql`INSERT INTO step_run_event ${sql.insert(rows)}`
          yield* sql`UPDATE step_run SET events_received = events_received + ${added.length} WHERE id = ${stepRun.id}`
        }, transaction)
      })
    })
  )
}
