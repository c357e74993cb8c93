/**
 * The tables of durable flows, the same on SQLite and Postgres. Times are milliseconds since 1970, JSON is text. A
 * migration that has been released is never edited.
 */
import { make, type Statement } from "@signalbox/sql/Migrations"
import { signalFunction } from "./SignalFunction.ts"
import { submitFunction } from "./SubmitFunction.ts"
import { views } from "./Views.ts"

/** The tables of version 0.1.0, the oldest whose executions are continued. */
const initial: ReadonlyArray<string> = [
  /*
   * `flow_key` is the hash of a long key, and `long_key` that key. `mail` counts messages, `seen` is the last one that a write has
   * seen, `asides` counts how often entries were discarded. `token` identifies the call that created, claimed or changed the row
   * last. An expired row has only its key, state and end.
   *
   * `limits` are its keys for the limits of its flow; null when it had none. `lane` is its queue, `queued_at` its place there, which a
   * suspended one keeps. `slots` is 1 while it has rows in `flow_slot`. `partition_no`: see `Partitions.ts`; SQLite has one process,
   * which uses none.
   *
   * No index has a column that an owner writes before the end: `due_at` has a value only while the execution needs an owner.
   */
  `CREATE TABLE flow_run (
    id TEXT PRIMARY KEY,
    flow TEXT NOT NULL,
    version REAL NOT NULL,
    flow_key TEXT NOT NULL,
    long_key TEXT,
    input TEXT,
    state TEXT NOT NULL,
    result TEXT,
    error TEXT,
    failure TEXT,
    chapter INTEGER NOT NULL,
    round INTEGER NOT NULL,
    tags TEXT NOT NULL,
    parent TEXT,
    epoch INTEGER NOT NULL,
    owner TEXT,
    wake_at INTEGER,
    mail INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    asides INTEGER NOT NULL,
    token TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    ended_at INTEGER,
    expired INTEGER NOT NULL,
    due_at INTEGER GENERATED ALWAYS AS (
      CASE WHEN owner IS NULL AND state IN ('queued', 'waiting', 'running', 'undoing') THEN wake_at END
    ) STORED,
    limits TEXT,
    lane TEXT,
    queued_at INTEGER,
    slots INTEGER,
    partition_no INTEGER NOT NULL DEFAULT 0,
    UNIQUE (flow, flow_key)
  )`,
  `CREATE INDEX flow_run_due ON flow_run (due_at, id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX flow_run_by_owner ON flow_run (owner) WHERE owner IS NOT NULL`,
  `CREATE INDEX flow_run_by_start ON flow_run (started_at, id) WHERE expired = 0`,
  `CREATE INDEX flow_run_ended ON flow_run (ended_at, id) WHERE ended_at IS NOT NULL AND expired = 0`,
  `CREATE INDEX flow_run_expired ON flow_run (ended_at, id) WHERE expired = 1`,
  // `aside` is 0, or the number of the discard. `next_redo` is the redo count of the path since then, -1 for an earlier chapter.
  `CREATE TABLE flow_entry (
    execution TEXT NOT NULL,
    aside INTEGER NOT NULL,
    path TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    long_path TEXT,
    redo INTEGER NOT NULL,
    next_redo INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    input TEXT,
    state TEXT NOT NULL,
    value TEXT,
    failure TEXT,
    begun INTEGER NOT NULL,
    ended INTEGER,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    due INTEGER,
    subject TEXT,
    awaits TEXT,
    host TEXT,
    PRIMARY KEY (execution, aside, path, attempt)
  )`,
  `CREATE INDEX flow_entry_awaits ON flow_entry (awaits) WHERE awaits IS NOT NULL`,
  `CREATE TABLE flow_undo (
    execution TEXT NOT NULL,
    path TEXT NOT NULL,
    long_path TEXT,
    redo INTEGER NOT NULL,
    state TEXT NOT NULL,
    position INTEGER NOT NULL,
    failure TEXT,
    PRIMARY KEY (execution, path)
  )`,
  `CREATE TABLE flow_message (
    execution TEXT NOT NULL,
    seq INTEGER NOT NULL,
    address TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    message_id TEXT NOT NULL,
    value TEXT,
    at INTEGER NOT NULL,
    token TEXT NOT NULL,
    PRIMARY KEY (execution, seq),
    UNIQUE (execution, address)
  )`,
  `CREATE TABLE flow_tag (
    tag TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    execution TEXT NOT NULL,
    PRIMARY KEY (tag, started_at, execution)
  )`,
  `CREATE INDEX flow_tag_by_execution ON flow_tag (execution)`,
  // A reaped process has lost its lease and its claims, and has not noticed yet.
  `CREATE TABLE flow_process (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    flows TEXT NOT NULL,
    expires_at INTEGER,
    reaped INTEGER NOT NULL,
    token TEXT NOT NULL
  )`,
  `CREATE TABLE flow_value (name TEXT PRIMARY KEY, value TEXT, token TEXT NOT NULL)`,
  `CREATE INDEX flow_run_queued ON flow_run (lane, queued_at, id) WHERE lane IS NOT NULL`,
  `CREATE INDEX flow_run_slots_over ON flow_run (flow, id) WHERE slots = 1 AND (ended_at IS NOT NULL OR lane IS NOT NULL)`,
  // `version` is the one that has set `limits`. `turns` is the last turn of a lane. An admission locks the row.
  `CREATE TABLE flow_limit (
    flow TEXT PRIMARY KEY,
    version REAL NOT NULL,
    limits TEXT NOT NULL,
    turns INTEGER NOT NULL
  )`,
  // Executions with the same version and keys. `stamp` increases with each that is queued, `turn` is when the lane was last served,
  // `blocked` the bucket that refused it.
  `CREATE TABLE flow_lane (
    flow TEXT NOT NULL,
    lane TEXT NOT NULL,
    version REAL NOT NULL,
    keys TEXT NOT NULL,
    stamp INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    blocked TEXT,
    PRIMARY KEY (flow, lane)
  )`,
  `CREATE INDEX flow_lane_by_turn ON flow_lane (flow, version, turn, lane) WHERE blocked IS NULL`,
  `CREATE INDEX flow_lane_blocked ON flow_lane (flow, blocked, turn, lane) WHERE blocked IS NOT NULL`,
  // The buckets that an execution holds a slot of. A bucket is a limit and a key.
  `CREATE TABLE flow_slot (
    flow TEXT NOT NULL,
    bucket TEXT NOT NULL,
    execution TEXT NOT NULL,
    PRIMARY KEY (flow, bucket, execution)
  )`,
  `CREATE INDEX flow_slot_by_execution ON flow_slot (execution)`,
  // The state of a rate: when it has recovered, and when it is checked again.
  `CREATE TABLE flow_rate (
    flow TEXT NOT NULL,
    bucket TEXT NOT NULL,
    recovered_at REAL NOT NULL,
    wakes_at INTEGER,
    PRIMARY KEY (flow, bucket)
  )`,
  `CREATE INDEX flow_rate_wakes ON flow_rate (flow, wakes_at) WHERE wakes_at IS NOT NULL`,
  `CREATE INDEX flow_rate_recovered ON flow_rate (flow, recovered_at)`
]

/**
 * Where the process runs, so that the next one on the same host can tell that it has ended: `Place` in `Journal.ts`. Null when that is
 * not known, and for processes of an older version.
 */
const places: ReadonlyArray<string> = [
  `ALTER TABLE flow_process ADD COLUMN boot TEXT`,
  `ALTER TABLE flow_process ADD COLUMN pid_namespace TEXT`,
  `ALTER TABLE flow_process ADD COLUMN pid INTEGER`,
  `ALTER TABLE flow_process ADD COLUMN pid_started TEXT`
]

/**
 * The losses of a step whose process stood still: `Stalled` as JSON. Of a process that stands still now, for how long, and the step as
 * JSON: `Standing` in `Journal.ts`.
 */
const stalls: ReadonlyArray<string> = [
  `ALTER TABLE flow_entry ADD COLUMN stalled TEXT`,
  `ALTER TABLE flow_process ADD COLUMN stood_millis INTEGER`,
  `ALTER TABLE flow_process ADD COLUMN stood_in TEXT`
]

/** The tables of an earlier design, which no released version has written to. */
const firstDesign: ReadonlyArray<string> = ["execution", "step", "deferred", "wait", "schedule"].map(
  (name) => `DROP TABLE IF EXISTS flow_${name}`
)

/**
 * What remains of the chapters before the last one of an execution. Builds before this one kept their entries, which the next chapter
 * deletes.
 */
const chapters: ReadonlyArray<string> = [
  `CREATE TABLE flow_chapter (
    execution TEXT NOT NULL,
    chapter INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (execution, chapter)
  )`
]

/**
 * Indexes of lists by state and flow. An owner often writes `waiting` and `running`, so no index may contain `state`, or Postgres would
 * no longer update the rows in place: `shown_state` is null for these two. SQLite computes the column; Postgres stores it, and the
 * migration writes the table again and locks it for that time.
 */
const lists: ReadonlyArray<Statement> = [
  {
    sqlite: `ALTER TABLE flow_run ADD COLUMN shown_state TEXT GENERATED ALWAYS AS (
      CASE WHEN expired = 0 AND state NOT IN ('waiting', 'running') THEN state END
    ) VIRTUAL`,
    postgres: `ALTER TABLE flow_run ADD COLUMN shown_state TEXT GENERATED ALWAYS AS (
      CASE WHEN expired = 0 AND state NOT IN ('waiting', 'running') THEN state END
    ) STORED`
  },
  `CREATE INDEX flow_run_shown ON flow_run (shown_state, started_at, id) WHERE shown_state IS NOT NULL`,
  `CREATE INDEX flow_run_shown_of_flow ON flow_run (flow, shown_state, started_at, id) WHERE shown_state IS NOT NULL`,
  `CREATE INDEX flow_run_unended ON flow_run (started_at, id) WHERE ended_at IS NULL`,
  `CREATE INDEX flow_run_by_key ON flow_run (flow_key) WHERE expired = 0`
]

/**
 * How long a lease is valid, for processes that write `expires_at` by the clock of the server. Those of an older version leave it null,
 * and go by their own clock.
 */
const leases: ReadonlyArray<string> = [`ALTER TABLE flow_process ADD COLUMN lease INTEGER`]

/**
 * The commands that were accepted. `seq` is the message by which the owner gets one, `outcome` null while it is pending. The newest
 * protocol of messages that a process reads; null for those of an older version, which read the first. `commanded` is the last command
 * among the messages, which an owner must have read before a step begins.
 */
const commands: ReadonlyArray<string> = [
  `CREATE TABLE flow_command (
    execution TEXT NOT NULL,
    number INTEGER NOT NULL,
    command_id TEXT NOT NULL,
    command TEXT NOT NULL,
    said_by TEXT,
    at INTEGER NOT NULL,
    round INTEGER NOT NULL,
    seq INTEGER,
    outcome TEXT,
    ended_at INTEGER,
    PRIMARY KEY (execution, number),
    UNIQUE (execution, command_id)
  )`,
  `CREATE INDEX flow_command_pending ON flow_command (execution, number) WHERE outcome IS NULL`,
  `ALTER TABLE flow_process ADD COLUMN protocol INTEGER`,
  `ALTER TABLE flow_run ADD COLUMN commanded INTEGER`
]

/**
 * One index for the uniqueness of keys and for lists by key: each index costs two writes of a short execution. SQLite cannot drop the
 * one of a table's own constraint, and has no such writes to wait for.
 */
const keys: ReadonlyArray<Statement> = [
  { sqlite: "SELECT 1", postgres: "DROP INDEX flow_run_by_key" },
  { sqlite: "SELECT 1", postgres: "CREATE UNIQUE INDEX flow_run_by_key ON flow_run (flow_key, flow)" },
  { sqlite: "SELECT 1", postgres: "ALTER TABLE flow_run DROP CONSTRAINT flow_run_flow_flow_key_key" }
]

/**
 * When an execution starts, its priority (null is 0), and its deadline. The queue of a lane is in the order of priorities; an
 * expression that no owner writes, like the columns of every index.
 */
const when: ReadonlyArray<string> = [
  `ALTER TABLE flow_run ADD COLUMN starts_at INTEGER`,
  `ALTER TABLE flow_run ADD COLUMN priority INTEGER`,
  `ALTER TABLE flow_run ADD COLUMN deadline_at INTEGER`,
  `DROP INDEX flow_run_queued`,
  `CREATE INDEX flow_run_queued ON flow_run (lane, (-COALESCE(priority, 0)), queued_at, id) WHERE lane IS NOT NULL`,
  // The last execution of a debounce key, which may have begun. `token` identifies the last call.
  `CREATE TABLE flow_debounce (
    flow TEXT NOT NULL,
    debounce_key TEXT NOT NULL,
    execution TEXT,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    token TEXT NOT NULL,
    PRIMARY KEY (flow, debounce_key)
  )`,
  `CREATE INDEX flow_debounce_by_time ON flow_debounce (last_at)`
]

/**
 * What executions say of themselves. `number` counts states and items of feeds; `position` and `ordinal` are the last mark (`Said.ts`).
 * The name of a state has its key; its index has only its hash when it is long. `item` counts the items of a feed. An answer has the
 * address of the message that asks, which a chapter may have deleted; `asked` is the digest of its value, encrypted where values are.
 */
const said: ReadonlyArray<string> = [
  `CREATE TABLE flow_said (
    execution TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    ordinal INTEGER NOT NULL
  )`,
  `CREATE TABLE flow_state (
    execution TEXT NOT NULL,
    name TEXT NOT NULL,
    long_name TEXT,
    number INTEGER NOT NULL,
    value TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (execution, name)
  )`,
  `CREATE TABLE flow_feed (
    execution TEXT NOT NULL,
    name TEXT NOT NULL,
    item INTEGER NOT NULL,
    number INTEGER NOT NULL,
    value TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (execution, name, item)
  )`,
  `CREATE INDEX flow_feed_by_number ON flow_feed (execution, number)`,
  `CREATE TABLE flow_answer (
    execution TEXT NOT NULL,
    address TEXT NOT NULL,
    name TEXT NOT NULL,
    message_id TEXT NOT NULL,
    asked TEXT NOT NULL,
    state TEXT NOT NULL,
    value TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (execution, address)
  )`
]

/** The results of steps that were committed with the rows that they wrote: `scope` is the idempotency scope of the step. */
const transactions: ReadonlyArray<string> = [
  `CREATE TABLE flow_transaction (
    execution TEXT NOT NULL,
    scope TEXT NOT NULL,
    value TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (execution, scope)
  )`
]

/** What the code of a running step has recorded for its next attempt; null in most rows, and when the step has ended. */
const progress: ReadonlyArray<string> = [`ALTER TABLE flow_entry ADD COLUMN details TEXT`]

/**
 * Room in each page of Postgres for the next versions of its rows, so that owners update in place: rows that are inserted together fill
 * a page, and each is written a few times more. Pages that are full already stay as they are.
 */
const room: ReadonlyArray<Statement> = [
  { sqlite: "SELECT 1", postgres: "ALTER TABLE flow_run SET (fillfactor = 50)" },
  { sqlite: "SELECT 1", postgres: "ALTER TABLE flow_entry SET (fillfactor = 50)" }
]

/** Runs the missing migrations. */
export const migrate = make({
  table: "flow_migration",
  migrations: {
    // Databases of 0.1.0 have recorded the last of the steps by which it made its tables.
    "0005_partitions": initial,
    "0006_places": places,
    "0007_first_design": firstDesign,
    "0010_stalls": stalls,
    "0011_chapters": chapters,
    "0012_lists": lists,
    "0013_leases": leases,
    "0014_commands": commands,
    "0015_keys": keys,
    "0016_when": when,
    "0017_said": said,
    "0018_views": [...views, ...submitFunction],
    "0019_transactions": transactions,
    "0020_progress": progress,
    "0021_signal_function": signalFunction,
    "0022_room": room
  }
})
