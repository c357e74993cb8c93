/** Triggers, the items that wait for them, and the events that came to their addresses within a week. */
import type { ProcessId, TriggerId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import * as Dialect from "@signalbox/sql/Dialect"
import { integer, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fragment } from "effect/sql/Statement"
import * as Redacted from "effect/Redacted"
import { Database, type PageRequest, type Rows } from "../database/Database.ts"
import { Seal } from "../vault/Seal.ts"
import {
  eventTable,
  type NewTrigger,
  parseTrigger,
  type StoredTrigger,
  triggerRow,
  triggerTable
} from "./StoredTrigger.ts"

const contextOf = (trigger: TriggerId) => `trigger/${trigger}`

export class Triggers extends Context.Service<
  Triggers,
  {
    readonly get: (workspace: WorkspaceId, id: string) => Effect.Effect<StoredTrigger | null>
    /** Finds a trigger by the id in the token of its address. */
    readonly find: (id: string) => Effect.Effect<StoredTrigger | null>
    readonly list: (
      workspace: WorkspaceId,
      process: ProcessId | null,
      page: PageRequest
    ) => Effect.Effect<Rows<TriggerListed>>
    /** All of a process. */
    readonly ofProcess: (workspace: WorkspaceId, process: ProcessId) => Effect.Effect<ReadonlyArray<StoredTrigger>>
    /** Like `get`, locked until the transaction ends. With `skip`, null when another transaction has locked it. */
    readonly lock: (workspace: WorkspaceId, id: string, how?: "skip") => Effect.Effect<StoredTrigger | null>
    /** Null when the name is in use. */
    readonly create: (workspace: WorkspaceId, id: TriggerId, trigger: NewTrigger) => Effect.Effect<true | null>
    /** Null when the name is in use. */
    readonly update: (workspace: WorkspaceId, id: TriggerId, trigger: NewTrigger) => Effect.Effect<true | null>
    readonly seal: (id: TriggerId, secret: Redacted.Redacted) => Effect.Effect<string>
    /** The secret of signatures; null when it has none. */
    readonly secretOf: (trigger: StoredTrigger) => Effect.Effect<Redacted.Redacted | null>
    readonly setSecret: (trigger: StoredTrigger, sealed: string) => Effect.Effect<void>
    /** Counts a request that was not genuine. */
    readonly refuse: (trigger: StoredTrigger, message: string) => Effect.Effect<void>
    readonly setProblem: (trigger: StoredTrigger, problem: string | null) => Effect.Effect<void>
    /** False when it does not exist. */
    readonly remove: (workspace: WorkspaceId, id: string) => Effect.Effect<boolean>
    /** Deletes the triggers of a process. */
    readonly removeOf: (process: ProcessId) => Effect.Effect<void>
    /** Triggers that may start runs, and whose process has waiting items. */
    readonly candidates: Effect.Effect<ReadonlyArray<StoredTrigger>>
    /** How many `new` items a process has, counted up to `most`, and since when the oldest waits. */
    readonly waiting: (
      process: ProcessId,
      most: number
    ) => Effect.Effect<{ readonly count: number; readonly since: string | null }>
    /** The item that an event made; null when it is new. */
    readonly eventItem: (trigger: StoredTrigger, event: string) => Effect.Effect<WorkItemId | null>
    readonly addEvent: (trigger: StoredTrigger, event: string, item: WorkItemId) => Effect.Effect<void>
    /** Deletes events received before `cutoff`, and returns how many. */
    readonly sweepEvents: (cutoff: string, limit: number) => Effect.Effect<number>
  }
>()("@signalbox/control-room/store/Triggers") {
  static readonly layer = Layer.effect(
    Triggers,
    Effect.gen(function* () {
      const { belowProcess, now, nullWhenTaken, page, sql } = yield* Database
      const { open, seal } = yield* Seal
      const forUpdate = Dialect.forUpdate(sql)
      const skipLocked = Dialect.skipLocked(sql, `"trigger"`)
      const select = sql`
        SELECT ${triggerTable.columns}, (SELECT name FROM process WHERE process.id = process_id) AS process_name
        FROM "trigger"`
      const columnsOf = ({ enabled, name, processId, secret, starts, tokenHash, webhook }: NewTrigger) => ({
        process_id: processId,
        name,
        enabled,
        starts,
        webhook,
        token_hash: tokenHash,
        secret,
        problem: null,
        problem_since: null,
        refused_count: 0
      })
      const change = (workspace: WorkspaceId, id: string, row: Partial<typeof triggerTable.Type>) =>
        Effect.asVoid(
          sql`UPDATE "trigger" SET ${triggerTable.update(row)} WHERE workspace_id = ${workspace} AND id = ${id}`
        )
      return Triggers.of({
        get: (workspace, id) =>
          queryOne(triggerRow, sql`${select} WHERE workspace_id = ${workspace} AND id = ${id}`, parseTrigger),
        find: (id) => queryOne(triggerRow, sql`${select} WHERE id = ${id}`, parseTrigger),
        list: (workspace, process, request) => {
          const having = (condition: Fragment) =>
            page(
              { rows: triggerRow, select, as: (row) => parseTrigger(row).view },
              [condition],
              "newest first",
              request
            )
          if (process === null) return having(sql`workspace_id = ${workspace}`)
          return belowProcess(workspace, process, having(sql`process_id = ${process}`))
        },
        ofProcess: (workspace, process) =>
          query(triggerRow, sql`${select} WHERE workspace_id = ${workspace} AND process_id = ${process}`, parseTrigger),
        lock: (workspace, id, how) =>
          queryOne(
            triggerRow,
            sql`
              ${select} WHERE workspace_id = ${workspace} AND id = ${id}
              ${how === "skip" ? skipLocked : forUpdate}`,
            parseTrigger
          ),
        create: Effect.fnUntraced(function* (workspace, id, trigger) {
          const row = { workspace_id: workspace, id, created_at: yield* now, ...columnsOf(trigger) }
          yield* sql`INSERT INTO "trigger" ${triggerTable.insert(row)}`
          return true as const
        }, nullWhenTaken),
        update: Effect.fnUntraced(function* (workspace, id, trigger) {
          yield* sql`UPDATE "trigger" SET ${triggerTable.update(columnsOf(trigger))} WHERE workspace_id = ${workspace} AND id = ${id}`
          return true as const
        }, nullWhenTaken),
        seal: (id, secret) => seal(Redacted.value(secret), contextOf(id)),
        secretOf: ({ id, secret }) =>
          secret === null
            ? Effect.succeed(null)
            : Effect.map(open(secret, contextOf(id)), (text) => Redacted.make(text)),
        setSecret: ({ id, workspaceId }, secret) => change(workspaceId, id, { secret }),
        refuse: Effect.fnUntraced(function* ({ id, workspaceId }, message) {
          yield* sql`
            UPDATE "trigger" SET refused_count = refused_count + 1, refused_at = ${yield* now}, refused_because = ${message}
            WHERE workspace_id = ${workspaceId} AND id = ${id}`
        }),
        setProblem: Effect.fnUntraced(function* ({ id, problem: before, workspaceId }, problem) {
          if (problem === before) return
          yield* change(workspaceId, id, { problem, problem_since: problem === null ? null : yield* now })
        }),
        remove: (workspace, id) =>
          Effect.map(
            sql`DELETE FROM "trigger" WHERE workspace_id = ${workspace} AND id = ${id} RETURNING id`,
            (rows) => rows.length === 1
          ),
        removeOf: (process) => Effect.asVoid(sql`DELETE FROM "trigger" WHERE process_id = ${process}`),
        candidates: query(
          triggerRow,
          sql`
            ${select} WHERE enabled = 1 AND starts IS NOT NULL AND EXISTS (
              SELECT 1 FROM work_item WHERE work_item.process_id = "trigger".process_id AND work_item.state = 'new')`,
          parseTrigger
        ),
        waiting: Effect.fnUntraced(function* (process, most) {
          const ofQueue = sql`FROM work_item WHERE process_id = ${process} AND state = 'new' ORDER BY id`
          const counted = yield* queryOne(
            Row({ n: integer }),
            sql`SELECT count(*) AS n FROM (SELECT id ${ofQueue} LIMIT ${most}) AS queued`
          )
          const oldest = yield* queryOne(Row({ created_at: text }), sql`SELECT created_at ${ofQueue} LIMIT 1`)
          return { count: counted?.n ?? 0, since: oldest?.created_at ?? null }
        }),
        eventItem: ({ id, workspaceId }, event) =>
          queryOne(
            eventTable.pick("work_item_id"),
            sql`
              SELECT work_item_id FROM trigger_event
              WHERE workspace_id = ${workspaceId} AND trigger_id = ${id} AND event_id = ${event}`,
            (row) => row.work_item_id
          ),
        addEvent: Effect.fnUntraced(function* ({ id, workspaceId }, event, item) {
          const row = {
            workspace_id: workspaceId,
            trigger_id: id,
            event_id: event,
            work_item_id: item,
            received_at: yield* now
          }
          yield* sql`INSERT INTO trigger_event ${eventTable.insert(row)}`
        }),
        sweepEvents: (cutoff, limit) =>
          Effect.map(
            sql`DELETE FROM trigger_event WHERE (workspace_id, trigger_id, event_id) IN (
                SELECT workspace_id, trigger_id, event_id FROM trigger_event
                WHERE received_at < ${cutoff} ORDER BY received_at LIMIT ${limit})
              RETURNING event_id`,
            (rows) => rows.length
          )
      })
    })
  )
}
