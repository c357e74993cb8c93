/**
 * The tables of durable flows, the same on SQLite and Postgres. Times are milliseconds since 1970, JSON is text. A
 * migration that has been released is never edited.
 */
import { make } from "@signalbox/sql/Migrations"

const init: ReadonlyArray<string> = [
  /*
   * `version` is null when a workflow is no flow; its `flow` is then the tag of the workflow, its `flow_key` the id.
   * `phase` of what is running: `active` (to be run), `waiting` (for a timer, a deferred, a child), `halted` (failed, and
   * waits to be resumed by hand). `wakes` counts what happened to it: it can wait only if nothing happened while it ran.
   */
  `CREATE TABLE flow_execution (
    id TEXT PRIMARY KEY,
    workflow TEXT NOT NULL,
    flow TEXT NOT NULL,
    version REAL,
    flow_key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    input TEXT NOT NULL,
    resumes TEXT,
    parent TEXT,
    state TEXT NOT NULL,
    phase TEXT NOT NULL,
    wakes INTEGER NOT NULL,
    interrupted TEXT NOT NULL,
    value TEXT,
    cause TEXT,
    failure TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    UNIQUE (flow, flow_key, generation)
  )`,
  `CREATE INDEX flow_execution_active ON flow_execution (workflow, id) WHERE state = 'running' AND phase = 'active'`,
  `CREATE INDEX flow_execution_by_start ON flow_execution (started_at, id)`,
  `CREATE TABLE flow_step (
    seq SEQUENCE,
    execution TEXT NOT NULL,
    path TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    input TEXT,
    state TEXT NOT NULL,
    value TEXT,
    cause TEXT,
    failure TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    UNIQUE (execution, path, attempt)
  )`,
  // A timer is a deferred that is done by the time `due`.
  `CREATE TABLE flow_deferred (
    execution TEXT NOT NULL,
    name TEXT NOT NULL,
    due INTEGER,
    result TEXT,
    PRIMARY KEY (execution, name)
  )`,
  `CREATE INDEX flow_deferred_due ON flow_deferred (due) WHERE result IS NULL AND due IS NOT NULL`,
  `CREATE TABLE flow_wait (
    execution TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (execution, path)
  )`,
  `CREATE INDEX flow_wait_by_subject ON flow_wait (kind, subject)`
]

const schedules: ReadonlyArray<string> = [
  // Up to when each schedule has been carried out.
  `CREATE TABLE flow_schedule (name TEXT PRIMARY KEY, scheduled_to INTEGER NOT NULL)`
]

/** Brings the tables to the newest form; does nothing when they are there already. */
export const migrate = make({ table: "flow_migration", migrations: { "0001_init": init, "0002_schedules": schedules } })
