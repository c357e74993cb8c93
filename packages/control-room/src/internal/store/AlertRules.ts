/**
 * What alerts watch: for each rule a query over what is stored, whose rows are the subjects that hold now, and the sentence
 * about each. Nothing is remembered between two checks but the firings.
 */
import type { AlertRule, AlertRuleType } from "@signalbox/api/contract/Alerts"
import type { AlertId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as AlertHours from "../engine/AlertHours.ts"
import * as Chunks from "./Chunks.ts"
import { parsePaused } from "./Pauses.ts"

/** A subject of which a rule holds. */
export interface Found {
  readonly subject: string
  readonly message: string
}

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

type RuleOf<T extends AlertRuleType> = Extract<AlertRule, { readonly type: T }>
type Find<T extends AlertRuleType> = (
  sql: SqlClient.SqlClient,
  rule: RuleOf<T>,
  watched: Watched
) => Effect.Effect<ReadonlyArray<Found>, SqlError>

/** Subjects that begin in one check, of rules that may find very many. */
const mostAtOnce = 100

/** The oldest items of a process among which one that waits too long is looked for. */
const oldestItems = 1000

/** How many failed attempts of a delivery are too many, if the rule does not say. */
const defaultAttempts = 3

/** A node that has measured its disk no longer than this ago is there. */
const diskAge = 10 * 60_000

const iso = (millis: number) => new Date(millis).toISOString()

const units = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"]
] as const

/** Such as "90 minutes": in the largest unit that leaves no rest. */
const lasting = (seconds: number): string => {
  const [size, name] = units.find(([size]) => seconds % size === 0) ?? units[3]
  const count = seconds / size
  return `${count} ${name}${count === 1 ? "" : "s"}`
}

const onlyProcess = (
  sql: SqlClient.SqlClient,
  column: string,
  { process }: { readonly process?: { readonly id: string } }
) => (process === undefined ? [] : [sql`${sql.literal(column)} = ${process.id}`])

const originOf = (endpoint: string) => (URL.canParse(endpoint) ? new URL(endpoint).origin : "its endpoint")

interface NamedRow {
  readonly id: string
  readonly name: string
}

const runUnresolved: Find<"run_unresolved"> = Effect.fnUntraced(function* (sql, rule, watched) {
  const of = [
    sql`workspace_id = ${watched.workspaceId}`,
    sql`state = 'unresolved'`,
    sql`deleted_at IS NULL`,
    ...onlyProcess(sql, "process_id", rule)
  ]
  const select = sql.literal("SELECT id, process_name AS name FROM process_run")
  const still = yield* Chunks.flatMap(
    watched.open,
    (ids) => sql<NamedRow>`${select} WHERE ${sql.and([...of, sql.in("id", ids)])}`
  )
  const begun = yield* sql<NamedRow>`
    ${select} WHERE ${sql.and([...of, sql`ended_at >= ${watched.since}`])} AND NOT EXISTS (
      SELECT 1 FROM alert_firing AS firing
      WHERE firing.workspace_id = ${watched.workspaceId} AND firing.alert_id = ${watched.id}
        AND firing.subject = process_run.id AND firing.state <> 'over')
    ORDER BY id LIMIT ${mostAtOnce}`
  return [...still, ...begun].map(({ id, name }) => ({
    subject: id,
    message: `the run ${id} of the process "${name}" ended unresolved`
  }))
})

interface GroupRow {
  readonly id: string
  readonly code: string
  readonly message: string
  readonly process: string
  readonly first: string | null
  readonly n: number
}

const failureGroup: Find<"failure_group"> = Effect.fnUntraced(function* (sql, rule, { now, since, workspaceId }) {
  const { grows } = rule
  const items = sql.literal(
    "FROM work_item WHERE work_item.workspace_id = failure_group.workspace_id AND state = 'failed' AND failure = failure_group.id"
  )
  const from = grows === undefined ? since : iso(now - grows.within_seconds * 1000)
  const rows = yield* sql<GroupRow>`
    SELECT failure_group.id, failure_group.code, failure_group.message, process.name AS process,
      (SELECT min(state_updated_at) ${items}) AS first,
      (SELECT count(*) ${items} AND state_updated_at >= ${from}) AS n
    FROM failure_group JOIN process ON process.id = failure_group.process_id
    WHERE ${sql.and([
      sql`failure_group.workspace_id = ${workspaceId}`,
      sql`(failure_group.state = 'open' OR (failure_group.state = 'muted' AND failure_group.muted_until <= ${iso(now)}))`,
      ...onlyProcess(sql, "failure_group.process_id", rule)
    ])}`
  return rows.flatMap(({ code, first, id, message, n, process }): ReadonlyArray<Found> => {
    const what = `failures of the process "${process}" (${code}: ${message})`
    if (grows !== undefined) {
      return n >= grows.items
        ? [{ subject: id, message: `${n} items were added within ${lasting(grows.within_seconds)} to ${what}` }]
        : []
    }
    return first !== null && first >= since ? [{ subject: id, message: `a new group of ${what}` }] : []
  })
})

interface SuccessRow extends NamedRow {
  readonly stored: string | null
  readonly last: string | null
}

/** Counted from the later of the alert's making and the last success, whether its run is still stored or not. */
const nothingCompleted: Find<"nothing_completed"> = Effect.fnUntraced(function* (sql, rule, watched) {
  const { hours = null, process, seconds } = rule
  const rows = yield* sql<SuccessRow>`
    SELECT id, name,
      (SELECT completed_at FROM process_success
        WHERE process_success.workspace_id = process.workspace_id AND process_id = process.id) AS stored,
      (SELECT max(ended_at) FROM process_run WHERE process_id = process.id AND state = 'completed') AS last
    FROM process WHERE workspace_id = ${watched.workspaceId} AND id = ${process.id} AND deleted_at IS NULL`
  return rows.flatMap(({ id, last, name, stored }): ReadonlyArray<Found> => {
    const success = [stored ?? "", last ?? ""].toSorted().at(-1) ?? ""
    const from = success > watched.since ? success : watched.since
    if (!AlertHours.hasPassed(hours, Date.parse(from), watched.now, seconds * 1000)) return []
    const inHours = hours === null ? "" : " of its hours"
    const before = success === "" ? "" : `; the last one completed at ${success}`
    return [
      {
        subject: id,
        message: `no run of the process "${name}" has completed for ${lasting(seconds)}${inHours}${before}`
      }
    ]
  })
})

interface WaitRow extends NamedRow {
  readonly item: string | null
}

const itemWaits: Find<"item_waits"> = Effect.fnUntraced(function* (sql, rule, { now, workspaceId }) {
  const cutoff = now - rule.seconds * 1000
  const oldest = (state: "new" | "pending") => sql`
    (SELECT id FROM (
        SELECT id, coalesce(state_updated_at, created_at) AS waits_since FROM work_item
        WHERE process_id = process.id AND state = ${state} ORDER BY id LIMIT ${oldestItems}) AS oldest
      WHERE waits_since < ${iso(cutoff)} ORDER BY id LIMIT 1)`
  const rows = yield* sql<WaitRow>`
    SELECT id, name, coalesce(${oldest("pending")}, ${oldest("new")}) AS item
    FROM process WHERE ${sql.and([
      sql`workspace_id = ${workspaceId}`,
      sql`deleted_at IS NULL`,
      ...onlyProcess(sql, "id", rule)
    ])}`
  return rows.flatMap(({ id, item, name }) =>
    item === null
      ? []
      : [{ subject: id, message: `items of the process "${name}" wait longer than ${lasting(rule.seconds)}: ${item}` }]
  )
})

interface SeenRow extends NamedRow {
  readonly last: string | null
}

const noWorker: Find<"no_worker"> = Effect.fnUntraced(function* (sql, rule, { now, since, workspaceId }) {
  const cutoff = iso(now - rule.seconds * 1000)
  if (since > cutoff) return []
  const rows =
    rule.worker_group === undefined
      ? yield* sql<SeenRow>`
          SELECT id, name, (SELECT max(last_seen_at) FROM worker WHERE workspace_id = workspace.id) AS last
          FROM workspace WHERE id = ${workspaceId}`
      : yield* sql<SeenRow>`
          SELECT id, name, (
            SELECT max(last_seen_at) FROM worker
            JOIN worker_group_member AS member ON member.worker_id = worker.id
            WHERE member.worker_group_id = worker_group.id) AS last
          FROM worker_group WHERE workspace_id = ${workspaceId} AND id = ${rule.worker_group.id}`
  return rows.flatMap(({ id, last, name }): ReadonlyArray<Found> => {
    if (last !== null && last >= cutoff) return []
    const of = rule.worker_group === undefined ? "" : ` of the group "${name}"`
    const seen = last === null ? "" : `; the last one was seen at ${last}`
    return [{ subject: id, message: `no worker${of} has been online for ${lasting(rule.seconds)}${seen}` }]
  })
})

interface OccurrenceRow extends NamedRow {
  readonly at: string
  readonly why: string | null
}

const scheduleMissed: Find<"schedule_missed"> = Effect.fnUntraced(function* (sql, rule, { since, workspaceId }) {
  const rows = yield* sql<OccurrenceRow>`
    SELECT schedule.id, schedule.name, occurrence.at, occurrence.why
    FROM schedule JOIN schedule_occurrence AS occurrence
      ON occurrence.workspace_id = schedule.workspace_id AND occurrence.schedule_id = schedule.id
    WHERE ${sql.and([
      sql`schedule.workspace_id = ${workspaceId}`,
      ...(rule.schedule === undefined ? [] : [sql`schedule.id = ${rule.schedule.id}`]),
      sql`occurrence.reason IN ('missed', 'refused')`,
      sql`occurrence.recorded_at >= ${since}`
    ])} AND occurrence.at = (
      SELECT max(at) FROM schedule_occurrence AS newest
      WHERE newest.workspace_id = schedule.workspace_id AND newest.schedule_id = schedule.id)`
  return rows.map(({ at, id, name, why }) => ({
    subject: id,
    message: `the schedule "${name}" started no run for ${at}: ${why ?? "it was missed"}`
  }))
})

interface DeliveryRow {
  readonly id: string
  readonly endpoint: string
  readonly failed: string | null
  readonly retried: string | null
  readonly delivered: string | null
}

const deliveriesFail: Find<"deliveries_fail"> = Effect.fnUntraced(function* (sql, rule, { since, workspaceId }) {
  const attempts = rule.attempts ?? defaultAttempts
  const newest = (state: "failed" | "pending" | "delivered") => sql`
    (SELECT last_attempt_at FROM webhook_delivery
      WHERE webhook_id = webhook.id AND state = ${state} AND attempts >= ${state === "pending" ? attempts : 0}
      ORDER BY id DESC LIMIT 1)`
  const rows = yield* sql<DeliveryRow>`
    SELECT id, endpoint, ${newest("failed")} AS failed, ${newest("pending")} AS retried,
      ${newest("delivered")} AS delivered
    FROM webhook WHERE ${sql.and([
      sql`workspace_id = ${workspaceId}`,
      sql`process_run_id IS NULL`,
      ...(rule.webhook === undefined ? [] : [sql`id = ${rule.webhook.id}`])
    ])}`
  return rows.flatMap(({ delivered, endpoint, failed, id, retried }) => {
    const bad = [failed ?? "", retried ?? ""].toSorted().at(-1) ?? ""
    return bad < since || bad <= (delivered ?? "")
      ? []
      : [{ subject: id, message: `deliveries of the webhook ${id} to ${originOf(endpoint)} fail since ${bad}` }]
  })
})

interface CountRow extends NamedRow {
  readonly n: number
}

const queueAbove: Find<"queue_above"> = Effect.fnUntraced(function* (sql, rule, { workspaceId }) {
  const rows = yield* sql<CountRow>`
    SELECT id, name, (SELECT count(*) FROM (
      SELECT 1 AS one FROM work_item WHERE process_id = process.id AND state IN ('new', 'pending')
      LIMIT ${rule.items + 1}) AS waiting) AS n
    FROM process WHERE ${sql.and([
      sql`workspace_id = ${workspaceId}`,
      sql`deleted_at IS NULL`,
      ...onlyProcess(sql, "id", rule)
    ])}`
  return rows.flatMap(({ id, n, name }) =>
    n > rule.items ? [{ subject: id, message: `more than ${rule.items} items of the process "${name}" wait` }] : []
  )
})

interface DiskRow {
  readonly node: string
  readonly used_percent: number
}

const diskAbove: Find<"disk_above"> = Effect.fnUntraced(function* (sql, rule, { now }) {
  const rows = yield* sql<DiskRow>`
    SELECT node, used_percent FROM node_disk WHERE measured_at >= ${iso(now - diskAge)}
      AND used_percent > ${rule.percent}`
  return rows.map(({ node, used_percent }) => ({
    subject: node,
    message: `the disk of ${node} is ${used_percent} % full, more than ${rule.percent} %`
  }))
})

interface PauseRow {
  readonly subject_id: string
  readonly detail: string
}

interface StepsRow extends NamedRow {
  readonly steps: string
}

const pausedByItself: Find<"paused_by_itself"> = Effect.fnUntraced(function* (sql, rule, { workspaceId }) {
  const rows = yield* sql<PauseRow>`SELECT subject_id, detail FROM pause WHERE workspace_id = ${workspaceId}`
  const own = rows.flatMap(({ detail, subject_id }) => {
    const paused = parsePaused(detail)
    return paused?.by.type === "failures" ? [{ subject: subject_id, since: paused.since, note: paused.note }] : []
  })
  if (own.length === 0) return []
  const processes = yield* sql<StepsRow>`
    SELECT id, name, steps FROM process WHERE ${sql.and([
      sql`workspace_id = ${workspaceId}`,
      ...onlyProcess(sql, "id", rule)
    ])}`
  const names = new Map(
    processes.flatMap(({ id, name, steps }): ReadonlyArray<readonly [string, string]> => {
      const ofProcess: ReadonlyArray<NamedRow> = JSON.parse(steps)
      return [
        [id, `the process "${name}"`],
        ...ofProcess.map((step) => [step.id, `the step "${step.name}" of the process "${name}"`] as const)
      ]
    })
  )
  return own.flatMap(({ note, since, subject }) => {
    const name = names.get(subject)
    return name === undefined
      ? []
      : [{ subject, message: `${name} paused itself at ${since}${note === null ? "" : `: ${note}`}` }]
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
  sql: SqlClient.SqlClient,
  type: T,
  rule: RuleOf<T>,
  watched: Watched
): Effect.Effect<ReadonlyArray<Found>, SqlError> => rules[type](sql, rule, watched)

/** Everything that a rule finds now. */
export const find = (sql: SqlClient.SqlClient, rule: AlertRule, watched: Watched) =>
  findOf(sql, rule.type, rule, watched)
