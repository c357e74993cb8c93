/**
 * What alerts watch: for each rule a query over what is stored, whose rows are the subjects that hold now. Nothing is
 * remembered between two checks but the firings. The sentences about them are in `delivery/AlertTexts.ts`.
 */
import type { AlertRule, AlertRuleType } from "@signalbox/api/contract/Alerts"
import type { AlertId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Sql } from "@signalbox/sql/Sql"
import { integer, json, nullable, query, queryOne, Row, text } from "@signalbox/sql/Table"
import * as AlertHours from "../../engine/AlertHours.ts"
import * as Chunks from "../database/Chunks.ts"
import { pauseTable } from "../processes/Pauses.ts"

/** What a rule finds about each subject of which it holds. The members without a comment are names. */
interface Findings {
  readonly run_unresolved: { readonly process: string }
  readonly failure_group: { readonly process: string; readonly code: string; readonly message: string }
  /** `last`: when the last one completed. */
  readonly nothing_completed: { readonly process: string; readonly last: string | null }
  /** `item`: the id of one that waits too long. */
  readonly item_waits: { readonly process: string; readonly item: string }
  /** `name`: of the group, or of the workspace. `last`: when the last one was seen. */
  readonly no_worker: { readonly name: string; readonly last: string | null }
  readonly schedule_missed: { readonly schedule: string; readonly at: string; readonly why: string | null }
  readonly deliveries_fail: { readonly endpoint: string; readonly since: string }
  readonly queue_above: { readonly process: string }
  readonly disk_above: { readonly usedPercent: number }
  /** `step`: null when the whole process is paused. */
  readonly paused_by_itself: {
    readonly process: string
    readonly step: string | null
    readonly since: string
    readonly note: string | null
  }
}

/** A subject of which a rule holds, with what is to be said about it. */
export type Found<T extends AlertRuleType = AlertRuleType> = { readonly subject: string } & Findings[T]

/** An alert that is checked. */
export interface Watched {
  readonly workspaceId: WorkspaceId
  readonly id: AlertId
  /** It watches since then. */
  readonly since: string
  /** In milliseconds since 1970. */
  readonly now: number
  /** The subjects of its firings that are not over. */
  readonly open: ReadonlyArray<string>
}

export type RuleOf<T extends AlertRuleType> = Extract<AlertRule, { readonly type: T }>
type Find<T extends AlertRuleType> = (
  sql: Sql,
  rule: RuleOf<T>,
  watched: Watched
) => Effect.Effect<ReadonlyArray<Found<T>>>

/** Subjects that begin in one check, of rules that may find very many. */
const mostAtOnce = 100

/** Items among which one that waits too long is looked for in one statement, from the oldest on. */
const itemsAtOnce = 1000

/** How many failed attempts of a delivery are too many, if the rule does not say. */
const defaultAttempts = 3

/** A node that has measured its disk no longer than this ago is there: a firing may begin. */
const diskAge = 10 * 60_000
/** For how long a full disk of a node that says nothing counts as full: it sleeps, or it died and nobody made room. */
const silence = 7 * 24 * 3600 * 1000

const iso = (millis: number) => new Date(millis).toISOString()

const onlyProcess = (
  sql: Sql,
  column: string,
  { process }: { readonly process?: { readonly id: string } | undefined }
) => (process === undefined ? [] : [sql`${sql.literal(column)} = ${process.id}`])

const namedRow = Row({
  id: text,
  name: text
})

const runUnresolved: Find<"run_unresolved"> = Effect.fnUntraced(function* (sql, rule, watched) {
  const of = [
    sql`workspace_id = ${watched.workspaceId}`,
    sql`state = 'unresolved'`,
    sql`deleted_at IS NULL`,
    ...onlyProcess(sql, "process_id", rule)
  ]
  const select = sql.literal("SELECT id, process_name AS name FROM process_run")
  const still = yield* Chunks.flatMap(watched.open, (ids) =>
    query(namedRow, sql`${select} WHERE ${sql.and([...of, sql.in("id", ids)])}`)
  )
  const begun = yield* query(
    namedRow,
    sql`${select} WHERE ${sql.and([...of, sql`ended_at >= ${watched.since}`])} AND NOT EXISTS (
        SELECT 1 FROM alert_firing AS firing
        WHERE firing.workspace_id = ${watched.workspaceId} AND firing.alert_id = ${watched.id}
          AND firing.subject = process_run.id AND firing.state <> 'over')
      ORDER BY ended_at LIMIT ${mostAtOnce}`
  )
  return [...still, ...begun].map(({ id, name }) => ({ subject: id, process: name }))
})

const groupRow = Row({
  id: text,
  code: text,
  message: text,
  process: text,
  first: nullable(text)
})

const failureGroup: Find<"failure_group"> = Effect.fnUntraced(function* (sql, rule, { now, since, workspaceId }) {
  const { grows } = rule
  const items = sql.literal(
    "FROM work_item WHERE work_item.workspace_id = failure_group.workspace_id AND work_item.state = 'failed' AND failure = failure_group.id"
  )
  // When the first of the items failed that count; of a group that does not grow enough, none. However many items there
  // are, so many index entries are read.
  const first =
    grows === undefined
      ? sql`SELECT min(state_updated_at) ${items}`
      : sql`SELECT state_updated_at ${items} AND state_updated_at >= ${iso(now - grows.within_seconds * 1000)}
          ORDER BY state_updated_at LIMIT 1 OFFSET ${grows.items - 1}`
  const rows = yield* query(
    groupRow,
    sql`
      SELECT failure_group.id, failure_group.code, failure_group.message, (${first}) AS first,
        (SELECT name FROM process WHERE process.id = failure_group.process_id) AS process
      FROM failure_group
      WHERE ${sql.and([
        sql`workspace_id = ${workspaceId}`,
        sql`state IN ('open', 'muted')`,
        sql`(state = 'open' OR muted_until <= ${iso(now)})`,
        ...onlyProcess(sql, "process_id", rule)
      ])}`
  )
  return rows.flatMap(({ code, first, id, message, process }) =>
    first === null || (grows === undefined && first < since) ? [] : [{ subject: id, process, code, message }]
  )
})

const successRow = namedRow.and({
  stored: nullable(text),
  last: nullable(text)
})

/** Counted from the later of the alert's making and the last success, whether its run is still stored or not. */
const nothingCompleted: Find<"nothing_completed"> = Effect.fnUntraced(function* (sql, rule, watched) {
  const { hours = null, process, seconds } = rule
  const rows = yield* query(
    successRow,
    sql`
      SELECT id, name,
        (SELECT completed_at FROM process_success
          WHERE process_success.workspace_id = process.workspace_id AND process_id = process.id) AS stored,
        (SELECT max(ended_at) FROM process_run WHERE process_id = process.id AND state = 'completed') AS last
      FROM process WHERE workspace_id = ${watched.workspaceId} AND id = ${process.id} AND deleted_at IS NULL`
  )
  return rows.flatMap(({ id, last, name, stored }) => {
    const success = [stored ?? "", last ?? ""].toSorted().at(-1) ?? ""
    const from = success > watched.since ? success : watched.since
    return AlertHours.hasPassed(hours, Date.parse(from), watched.now, seconds * 1000)
      ? [{ subject: id, process: name, last: success === "" ? null : success }]
      : []
  })
})

const waitRow = namedRow.and({
  /** An item that waits too long, in each state. */
  pending: nullable(text),
  new: nullable(text),
  /** The last one that was looked at, if more follow. */
  after_pending: nullable(text),
  after_new: nullable(text)
})

const windowRow = Row({
  item: nullable(text),
  after: nullable(text)
})

/**
 * Exact: the items of a process are walked in the order of their creation, and those that wait for a short time only, such
 * as after a retry, are passed over, until all of some were created too late.
 */
const itemWaits: Find<"item_waits"> = Effect.fnUntraced(function* (sql, rule, { now, workspaceId }) {
  const cutoff = now - rule.seconds * 1000
  const window = (process: Fragment, state: "new" | "pending", after: string) => sql`
    (SELECT id, created_at, coalesce(state_updated_at, created_at) AS waits_since FROM work_item
      WHERE process_id = ${process} AND state = ${state} AND id > ${after}
      ORDER BY id LIMIT ${itemsAtOnce}) AS waiting`
  const found = (from: Fragment) => sql`(SELECT min(id) FROM ${from} WHERE waits_since < ${iso(cutoff)})`
  const last = (from: Fragment) =>
    sql`(SELECT CASE WHEN count(*) = ${itemsAtOnce} AND min(created_at) < ${iso(cutoff)} THEN max(id) END FROM ${from})`
  const inProcess = sql.literal("process.id")
  const rows = yield* query(
    waitRow,
    sql`
      SELECT id, name, ${found(window(inProcess, "pending", ""))} AS pending, ${found(window(inProcess, "new", ""))} AS new,
        ${last(window(inProcess, "pending", ""))} AS after_pending, ${last(window(inProcess, "new", ""))} AS after_new
      FROM process WHERE ${sql.and([
        sql`workspace_id = ${workspaceId}`,
        sql`deleted_at IS NULL`,
        ...onlyProcess(sql, "id", rule)
      ])}`
  )
  const walk = Effect.fnUntraced(function* (process: string, state: "new" | "pending", start: string | null) {
    let after = start
    while (after !== null) {
      // However many there are, other fibers run in between.
      yield* Effect.yieldNow
      const some = window(sql`${process}`, state, after)
      const next: typeof windowRow.Type | null = yield* queryOne(
        windowRow,
        sql`SELECT ${found(some)} AS item, ${last(some)} AS after`
      )
      if (next?.item != null) return next.item
      after = next?.after ?? null
    }
    return null
  })
  const waiting = yield* Effect.forEach(
    rows,
    Effect.fnUntraced(function* (row) {
      const item =
        row.pending ??
        row.new ??
        (yield* walk(row.id, "pending", row.after_pending)) ??
        (yield* walk(row.id, "new", row.after_new))
      return { ...row, item }
    })
  )
  return waiting.flatMap(({ id, item, name }) => (item === null ? [] : [{ subject: id, process: name, item }]))
})

const seenRow = namedRow.and({
  last: nullable(text)
})

const noWorker: Find<"no_worker"> = Effect.fnUntraced(function* (sql, rule, { now, since, workspaceId }) {
  const cutoff = iso(now - rule.seconds * 1000)
  if (since > cutoff) return []
  const rows =
    rule.worker_group === undefined
      ? yield* query(
          seenRow,
          sql`
            SELECT id, name, (SELECT max(last_seen_at) FROM worker WHERE workspace_id = workspace.id) AS last
            FROM workspace WHERE id = ${workspaceId}`
        )
      : yield* query(
          seenRow,
          sql`
            SELECT id, name, (
              SELECT max(last_seen_at) FROM worker
              JOIN worker_group_member AS member ON member.worker_id = worker.id
              WHERE member.worker_group_id = worker_group.id) AS last
            FROM worker_group WHERE workspace_id = ${workspaceId} AND id = ${rule.worker_group.id}`
        )
  return rows.flatMap(({ id, last, name }) => (last !== null && last >= cutoff ? [] : [{ subject: id, name, last }]))
})

const occurrenceRow = namedRow.and({
  at: text,
  why: nullable(text)
})

const scheduleMissed: Find<"schedule_missed"> = Effect.fnUntraced(function* (sql, rule, { since, workspaceId }) {
  const rows = yield* query(
    occurrenceRow,
    sql`
      SELECT schedule.id, schedule.name, occurrence.at, occurrence.why
      FROM schedule JOIN schedule_occurrence AS occurrence
        ON occurrence.workspace_id = schedule.workspace_id AND occurrence.schedule_id = schedule.id
          AND occurrence.at = (
            SELECT max(at) FROM schedule_occurrence AS newest
            WHERE newest.workspace_id = schedule.workspace_id AND newest.schedule_id = schedule.id)
      WHERE ${sql.and([
        sql`schedule.workspace_id = ${workspaceId}`,
        ...(rule.schedule === undefined ? [] : [sql`schedule.id = ${rule.schedule.id}`]),
        sql`occurrence.reason IN ('missed', 'refused')`,
        sql`occurrence.recorded_at >= ${since}`
      ])}`
  )
  return rows.map(({ at, id, name, why }) => ({ subject: id, schedule: name, at, why }))
})

const deliveryRow = Row({
  id: text,
  endpoint: text,
  failed: nullable(text),
  retried: nullable(text),
  delivered: nullable(text)
})

const deliveriesFail: Find<"deliveries_fail"> = Effect.fnUntraced(function* (sql, rule, { since, workspaceId }) {
  const attempts = rule.attempts ?? defaultAttempts
  const newest = (state: "failed" | "delivered") => sql`
    (SELECT last_attempt_at FROM webhook_delivery WHERE webhook_id = webhook.id AND state = ${state}
      ORDER BY id DESC LIMIT 1)`
  // Most of those that are pending have not been attempted, and are not in the index of this.
  const retried = sql`
    (SELECT max(last_attempt_at) FROM webhook_delivery
      WHERE webhook_id = webhook.id AND state = 'pending' AND attempts > 0 AND attempts >= ${attempts})`
  const rows = yield* query(
    deliveryRow,
    sql`
      SELECT id, endpoint, ${newest("failed")} AS failed, ${retried} AS retried,
        ${newest("delivered")} AS delivered
      FROM webhook WHERE ${sql.and([
        sql`workspace_id = ${workspaceId}`,
        sql`process_run_id IS NULL`,
        ...(rule.webhook === undefined ? [] : [sql`id = ${rule.webhook.id}`])
      ])}`
  )
  return rows.flatMap(({ delivered, endpoint, failed, id, retried }) => {
    const bad = [failed ?? "", retried ?? ""].toSorted().at(-1) ?? ""
    return bad < since || bad <= (delivered ?? "") ? [] : [{ subject: id, endpoint, since: bad }]
  })
})

const countRow = namedRow.and({
  n: integer
})

const queueAbove: Find<"queue_above"> = Effect.fnUntraced(function* (sql, rule, { workspaceId }) {
  const rows = yield* query(
    countRow,
    sql`
      SELECT id, name, (SELECT count(*) FROM (
        SELECT 1 AS one FROM work_item WHERE process_id = process.id AND state IN ('new', 'pending')
        LIMIT ${rule.items + 1}) AS waiting) AS n
      FROM process WHERE ${sql.and([
        sql`workspace_id = ${workspaceId}`,
        sql`deleted_at IS NULL`,
        ...onlyProcess(sql, "id", rule)
      ])}`
  )
  return rows.flatMap(({ id, n, name }) => (n > rule.items ? [{ subject: id, process: name }] : []))
})

const diskRow = Row({
  node: text,
  used_percent: integer,
  measured_at: text
})

const diskAbove: Find<"disk_above"> = Effect.fnUntraced(function* (sql, rule, { now, open }) {
  const rows = yield* query(
    diskRow,
    sql`
      SELECT node, used_percent, measured_at FROM node_disk WHERE measured_at >= ${iso(now - silence)}
        AND used_percent > ${rule.percent}`
  )
  const known = new Set(open)
  const full = rows.filter(({ measured_at, node }) => known.has(node) || measured_at >= iso(now - diskAge))
  return full.map(({ node, used_percent }) => ({ subject: node, usedPercent: used_percent }))
})

const stepsRow = namedRow.and({
  steps: json<ReadonlyArray<typeof namedRow.Type>>()
})

const pausedByItself: Find<"paused_by_itself"> = Effect.fnUntraced(function* (sql, rule, { workspaceId }) {
  const rows = yield* query(
    pauseTable.pick("subject_id", "detail"),
    sql`SELECT subject_id, detail FROM pause WHERE workspace_id = ${workspaceId}`
  )
  const own = rows.flatMap(({ detail: { by, note, since }, subject_id }) =>
    by.type === "failures" ? [{ subject: subject_id, since, note }] : []
  )
  if (own.length === 0) return []
  const processes = yield* query(
    stepsRow,
    sql`
      SELECT id, name, steps FROM process WHERE ${sql.and([
        sql`workspace_id = ${workspaceId}`,
        ...onlyProcess(sql, "id", rule)
      ])}`
  )
  const names = new Map<string, { readonly process: string; readonly step: string | null }>(
    processes.flatMap(({ id, name, steps }) => [
      [id, { process: name, step: null }] as const,
      ...steps.map((step) => [step.id, { process: name, step: step.name }] as const)
    ])
  )
  return own.flatMap(({ note, since, subject }) => {
    const named = names.get(subject)
    return named === undefined ? [] : [{ subject, ...named, since, note }]
  })
})

const rules: { readonly [T in AlertRuleType]: Find<T> } = {
  run_unresolved: runUnresolved,
  failure_group: failureGroup,
  nothing_completed: nothingCompleted,
  item_waits: itemWaits,
  no_worker: noWorker,
  schedule_missed: scheduleMissed,
  deliveries_fail: deliveriesFail,
  queue_above: queueAbove,
  disk_above: diskAbove,
  paused_by_itself: pausedByItself
}

const findOf = <T extends AlertRuleType>(
  sql: Sql,
  type: T,
  rule: RuleOf<T>,
  watched: Watched
): Effect.Effect<ReadonlyArray<Found<T>>> => rules[type](sql, rule, watched)

/** Everything that a rule finds now. */
export const find = (sql: Sql, rule: AlertRule, watched: Watched) => findOf(sql, rule.type, rule, watched)
