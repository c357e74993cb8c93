/**
 * The views for reports. Their names and columns are documented in `docs/durable-flows.md`, and stay: a later migration may add columns at
 * the end. Times are `timestamptz` on Postgres and ISO 8601 on SQLite; JSON is text, because Postgres reads no NUL from `jsonb`, and a value
 * that cannot be read would break the whole view.
 *
 * On Postgres a migration that changes a column of a table drops the views that read it, and creates them again.
 */
import type { Statement } from "@signalbox/sql/Migrations"

/** How the databases write what the views compute. */
interface Dialect {
  readonly time: (column: string) => string
  /** The work items of an entry of a ready step, as a table `i` with a column `item`. */
  readonly items: string
  /** A member of the JSON in `v.value`; null when it is null. */
  readonly member: (path: ReadonlyArray<string>) => string
  /** The number of elements of the JSON array in a member of `v.value`. */
  readonly count: (member: string) => string
  readonly process: string
  readonly run: string
}

/** A wait without an end is due at a moment that no date can hold. */
const lastMillis = "8640000000000000"

const sqlite: Dialect = {
  time: (column) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`,
  // `json_each` of a text that is no JSON would end the statement.
  items: `(
    SELECT e.execution, e.aside, e.path, e.attempt, j.value AS item FROM flow_entry e, json_each(
      CASE
        WHEN e.name = 'createWorkItem' AND json_valid(e.value) THEN json_array(json_extract(e.value, '$'))
        WHEN e.name = 'createWorkItems' AND json_valid(e.value) THEN e.value
        WHEN e.name = 'startRun' AND json_valid(e.input) THEN json_extract(e.input, '$.workItems')
      END
    ) j WHERE j.type = 'text'
  ) i ON i.execution = e.execution AND i.aside = e.aside AND i.path = e.path AND i.attempt = e.attempt`,
  member: (path) => `json_extract(v.value, '$.${path.join(".")}')`,
  count: (member) => `json_array_length(v.value, '$.${member}')`,
  process: `CASE WHEN json_valid(e.input) THEN json_extract(e.input, '$.process') END`,
  run: `CASE WHEN e.name = 'startRun' AND json_valid(e.value) THEN json_extract(e.value, '$') END`
}

const postgres: Dialect = {
  time: (column) => `CASE WHEN ${column} <= ${lastMillis} THEN to_timestamp(${column} / 1000.0) END`,
  // Not as JSON: a text that is none would end the statement.
  items: String.raw`LATERAL (
    SELECT m.parts[1] AS item FROM regexp_matches(
      CASE e.name
        WHEN 'createWorkItem' THEN substring(e.value from '^"[^"]*"$')
        WHEN 'createWorkItems' THEN substring(e.value from '^\[".*"\]$')
        WHEN 'startRun' THEN substring(e.input from '"workItems":(\[[^]]*\])')
      END, '"([^"\\]+)"', 'g'
    ) AS m(parts)
  ) i ON true`,
  member: (path) => {
    const keys = path.map((key) => `'${key}'`)
    const last = keys.pop() ?? ""
    return `(${["v.value::json", ...keys].join(" -> ")} ->> ${last})`
  },
  count: (member) => `json_array_length(v.value::json -> '${member}')`,
  process: String.raw`substring(e.input from '"process":"([^"\\]+)"')`,
  run: String.raw`CASE WHEN e.name = 'startRun' THEN substring(e.value from '^"([^"\\]+)"$') END`
}

const key = "COALESCE(r.long_key, r.flow_key)"
const path = "COALESCE(e.long_path, e.path)"
const ofEntries = "FROM flow_entry e JOIN flow_run r ON r.id = e.execution"

type View = (dialect: Dialect) => string

const executions: View = ({ time }) => `CREATE VIEW flows_executions AS
  SELECT r.id, r.flow, r.version, ${key} AS key, r.state, r.chapter, r.round, r.parent, r.tags, r.input, r.result, r.error, r.failure,
    r.owner, ${time("r.started_at")} AS started_at, ${time("r.changed_at")} AS changed_at, ${time("r.ended_at")} AS ended_at,
    ${time("r.queued_at")} AS queued_at, ${time("r.wake_at")} AS wake_at
  FROM flow_run r WHERE r.expired = 0`

const steps: View = ({ time }) => `CREATE VIEW flows_steps AS
  SELECT e.execution, r.flow, r.version, ${path} AS path, e.attempt, e.name, e.kind, e.state, e.input, e.value, e.failure, e.host,
    ${time("e.started_at")} AS started_at, ${time("e.ended_at")} AS ended_at, ${time("e.due")} AS due_at, e.aside > 0 AS discarded
  ${ofEntries} WHERE e.kind IN ('step', 'child')`

const waits: View = ({ time }) => `CREATE VIEW flows_waits AS
  SELECT e.execution, r.flow, r.version, ${path} AS path, e.attempt, e.name, e.kind,
    CASE WHEN e.state = 'running' THEN 'waiting' ELSE e.state END AS state, e.subject, e.value, e.failure,
    ${time("e.started_at")} AS started_at, ${time("e.ended_at")} AS ended_at, ${time("e.due")} AS due_at, e.aside > 0 AS discarded
  ${ofEntries} WHERE e.kind IN ('sleep', 'signal', 'inbox', 'run')`

const schedules: View = ({ count, member, time }) => {
  const number = (name: string) => `CAST(${member([name])} AS DOUBLE PRECISION)`
  return `CREATE VIEW flows_schedules AS
  SELECT substr(v.name, 10) AS name, ${member(["flow"])} AS flow, ${number("version")} AS version,
    ${member(["definition"])} AS definition, ${member(["state", "paused"])} IS NOT NULL AS paused,
    ${count("running")} AS running, ${member(["problem", "message"])} AS problem,
    ${time(number("setAt"))} AS set_at, ${time(number("wakeAt"))} AS next_at
  FROM flow_value v WHERE v.name LIKE 'schedule %'`
}

const items: View = ({ items, process, run, time }) => `CREATE VIEW flows_items AS
  SELECT i.item, CASE WHEN e.name = 'startRun' THEN 'started' ELSE 'created' END AS relation, ${process} AS process, ${run} AS run,
    e.execution, r.flow, r.version, ${path} AS step, ${time("COALESCE(e.ended_at, e.started_at)")} AS at, e.aside > 0 AS discarded
  ${ofEntries} JOIN ${items}
  WHERE e.kind = 'step' AND e.state = 'succeeded' AND e.name IN ('createWorkItem', 'createWorkItems', 'startRun')`

/** Creates the views. */
export const views: ReadonlyArray<Statement> = [executions, steps, waits, schedules, items].map((view) => ({
  sqlite: view(sqlite),
  postgres: view(postgres)
}))
