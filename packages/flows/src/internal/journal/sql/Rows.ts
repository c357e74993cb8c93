/**
 * The rows of the journal. Times are milliseconds since 1970, JSON is text, and the null of JSON is NULL.
 */
import { isPostgres } from "@signalbox/sql/Dialect"
import type * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { Failure } from "../../../FlowEvents.ts"
import {
  activeStates,
  endStates,
  type Entry,
  type EntryKind,
  type EntryState,
  type Execution,
  type Expired,
  type Message,
  type NewMessage,
  type State,
  type Undo
} from "../../Journal.ts"
import * as Texts from "./Texts.ts"

export const toJson = (value: Schema.Json): string | null => (value === null ? null : JSON.stringify(value))
export const fromJson = (text: string | null): Schema.Json => (text === null ? null : JSON.parse(text))

/** Of columns that `toFailure` wrote. */
const fromFailure = (text: string | null): Failure | null => (text === null ? null : (JSON.parse(text) as Failure))
export const toFailure = (failure: Failure | null): string | null => (failure === null ? null : JSON.stringify(failure))

const listed = (states: ReadonlyArray<State>): string => `(${states.map((state) => `'${state}'`).join(", ")})`
export const active = listed(activeStates)
export const ended = listed(endStates)

export interface ExecutionRow {
  readonly id: string
  readonly flow: string
  readonly version: number
  readonly flow_key: string
  readonly long_key: string | null
  readonly input: string | null
  readonly state: State
  readonly result: string | null
  readonly error: string | null
  readonly failure: string | null
  readonly chapter: number
  readonly round: number
  readonly tags: string
  readonly parent: string | null
  readonly epoch: number
  readonly owner: string | null
  readonly wake_at: number | null
  readonly mail: number
  readonly asides: number
  readonly token: string
  readonly started_at: number
  readonly changed_at: number
  readonly ended_at: number | null
  readonly expired: number
}

export const toExecution = (row: ExecutionRow): Execution => ({
  id: Texts.fromText(row.id),
  flow: Texts.fromText(row.flow),
  version: row.version,
  key: Texts.joined(row.flow_key, row.long_key),
  input: fromJson(row.input),
  state: row.state,
  result: fromJson(row.result),
  error: fromJson(row.error),
  failure: fromFailure(row.failure),
  chapter: row.chapter,
  round: row.round,
  // Written from a list of texts.
  tags: JSON.parse(row.tags) as ReadonlyArray<string>,
  parent: Texts.fromNullable(row.parent),
  epoch: row.epoch,
  owner: Texts.fromNullable(row.owner),
  wakeAt: row.wake_at,
  mail: row.mail,
  startedAt: row.started_at,
  changedAt: row.changed_at,
  endedAt: row.ended_at
})

export const toExpired = (row: ExecutionRow): Expired => ({
  id: Texts.fromText(row.id),
  flow: Texts.fromText(row.flow),
  version: row.version,
  key: Texts.joined(row.flow_key, row.long_key),
  state: row.state,
  // Only what has ended expires.
  endedAt: row.ended_at ?? row.changed_at
})

type Type = "TEXT" | "INTEGER"

const entryTypes = {
  path: "TEXT",
  long_path: "TEXT",
  attempt: "INTEGER",
  redo: "INTEGER",
  name: "TEXT",
  kind: "TEXT",
  input: "TEXT",
  state: "TEXT",
  value: "TEXT",
  failure: "TEXT",
  begun: "INTEGER",
  ended: "INTEGER",
  started_at: "INTEGER",
  ended_at: "INTEGER",
  due: "INTEGER",
  subject: "TEXT",
  awaits: "TEXT",
  host: "TEXT"
} as const satisfies Record<keyof EntryColumns, Type>

interface EntryColumns {
  readonly path: string
  readonly long_path: string | null
  readonly attempt: number
  readonly redo: number
  readonly name: string
  readonly kind: EntryKind
  readonly input: string | null
  readonly state: EntryState
  readonly value: string | null
  readonly failure: string | null
  readonly begun: number
  readonly ended: number | null
  readonly started_at: number
  readonly ended_at: number | null
  readonly due: number | null
  readonly subject: string | null
  /** The begin of the subject as long as it is awaited. */
  readonly awaits: string | null
  readonly host: string | null
}

export interface EntryRow extends EntryColumns {
  readonly aside: number
  readonly next_redo: number
}

const entryColumns = (entry: Entry): EntryColumns => {
  const [path, long_path] = Texts.split(entry.path)
  return {
    path,
    long_path,
    attempt: entry.attempt,
    redo: entry.redo,
    name: Texts.toText(entry.name),
    kind: entry.kind,
    input: toJson(entry.input),
    state: entry.state,
    value: toJson(entry.value),
    failure: toFailure(entry.failure),
    begun: entry.begun,
    ended: entry.ended,
    started_at: entry.startedAt,
    ended_at: entry.endedAt,
    due: entry.due,
    subject: Texts.toNullable(entry.subject),
    awaits: entry.ended === null && entry.subject !== null ? Texts.beginOf(entry.subject) : null,
    host: Texts.toNullable(entry.host)
  }
}

export const toEntry = (row: EntryRow): Entry => ({
  path: Texts.joined(row.path, row.long_path),
  attempt: row.attempt,
  redo: row.redo,
  name: Texts.fromText(row.name),
  kind: row.kind,
  input: fromJson(row.input),
  state: row.state,
  value: fromJson(row.value),
  failure: fromFailure(row.failure),
  begun: row.begun,
  ended: row.ended,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  due: row.due,
  subject: Texts.fromNullable(row.subject),
  host: Texts.fromNullable(row.host)
})

const undoTypes = {
  path: "TEXT",
  long_path: "TEXT",
  redo: "INTEGER",
  state: "TEXT",
  position: "INTEGER",
  failure: "TEXT"
} as const satisfies Record<keyof UndoRow, Type>

export interface UndoRow {
  readonly path: string
  readonly long_path: string | null
  readonly redo: number
  readonly state: Undo["state"]
  readonly position: number
  readonly failure: string | null
}

const undoColumns = (undo: Undo): UndoRow => {
  const [path, long_path] = Texts.split(undo.path)
  const { position, redo, state } = undo
  return { path, long_path, redo, state, position, failure: toFailure(undo.failure) }
}

export const toUndo = (row: UndoRow): Undo => ({
  path: Texts.joined(row.path, row.long_path),
  redo: row.redo,
  state: row.state,
  position: row.position,
  failure: fromFailure(row.failure)
})

const messageTypes = {
  seq: "INTEGER",
  address: "TEXT",
  kind: "TEXT",
  name: "TEXT",
  message_id: "TEXT",
  value: "TEXT"
} as const satisfies Record<keyof MessageColumns, Type>

export interface MessageColumns {
  readonly seq: number
  /** Kind, name and id. */
  readonly address: string
  readonly kind: Message["kind"]
  readonly name: string
  readonly message_id: string
  readonly value: string | null
}

export interface MessageRow extends MessageColumns {
  readonly at: number
}

export const messageAddress = ({ id, kind, name }: NewMessage): string =>
  Texts.addressOf(JSON.stringify([kind, name, id]))

export const messageColumns = (message: NewMessage, seq: number): MessageColumns => ({
  seq,
  address: messageAddress(message),
  kind: message.kind,
  name: Texts.toText(message.name),
  message_id: Texts.toText(message.id),
  value: toJson(message.value)
})

export const toMessage = (row: MessageRow): Message => ({
  seq: row.seq,
  kind: row.kind,
  name: Texts.fromText(row.name),
  id: Texts.fromText(row.message_id),
  value: fromJson(row.value),
  at: row.at
})

/**
 * Rows as the parameter of one statement, whose text does not depend on their number, as the table `r`. (They are JSON whose
 * texts are JSON again where they are values: Postgres reads no NUL out of JSON, and there is none in the text of one.)
 */
export const rowsOf = <A>(
  sql: SqlClient,
  types: Readonly<Record<keyof A & string, Type>>,
  rows: ReadonlyArray<A>
): Fragment => {
  const json = JSON.stringify(rows)
  const columns = Object.entries<Type>(types)
  if (isPostgres(sql)) {
    const definitions = columns.map(([name, type]) => `${name} ${type === "TEXT" ? "TEXT" : "BIGINT"}`)
    return sql`json_to_recordset(CAST(${json} AS JSON)) AS r(${sql.literal(definitions.join(", "))})`
  }
  const selected = columns.map(([name]) => `value ->> '${name}' AS ${name}`)
  return sql`(SELECT ${sql.literal(selected.join(", "))} FROM json_each(${json})) AS r`
}

const namesOf = (types: object) => Object.keys(types)

/** Replaces all columns of the row that is there. */
const replaced = (types: object, key: ReadonlyArray<string>) =>
  namesOf(types)
    .filter((name) => !key.includes(name))
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")

const entryNames = namesOf(entryTypes).join(", ")
const entryReplaced = replaced(entryTypes, ["path", "attempt"])
const undoNames = namesOf(undoTypes).join(", ")
const undoReplaced = replaced(undoTypes, ["path"])
const messageNames = namesOf(messageTypes).join(", ")

/** A statement inserts each row once: of those with the same key the last one holds. */
const lasts = <A>(rows: ReadonlyArray<A>, keyOf: (row: A) => string): ReadonlyArray<A> =>
  rows.length < 2 ? rows : [...new Map(rows.map((row) => [keyOf(row), row])).values()]

/**
 * Puts entries. `where` names a table that has a row when they are to be put, as `mine, `.
 */
export const putEntries = (sql: SqlClient, id: string, entries: ReadonlyArray<Entry>, where = ""): Fragment => {
  const rows = lasts(entries.map(entryColumns), ({ attempt, path }) => `${attempt} ${path}`)
  return sql`
    INSERT INTO flow_entry (execution, aside, next_redo, ${sql.literal(entryNames)})
    SELECT ${id}, 0, 0, r.* FROM ${sql.literal(where)}${rowsOf(sql, entryTypes, rows)} WHERE true
    ON CONFLICT (execution, aside, path, attempt) DO UPDATE SET ${sql.literal(entryReplaced)}`
}

export const putUndos = (sql: SqlClient, id: string, undos: ReadonlyArray<Undo>, where = ""): Fragment => {
  const rows = lasts(undos.map(undoColumns), ({ path }) => path)
  return sql`
    INSERT INTO flow_undo (execution, ${sql.literal(undoNames)})
    SELECT ${id}, r.* FROM ${sql.literal(where)}${rowsOf(sql, undoTypes, rows)} WHERE true
    ON CONFLICT (execution, path) DO UPDATE SET ${sql.literal(undoReplaced)}`
}

export const putMessages = (
  sql: SqlClient,
  id: string,
  rows: ReadonlyArray<MessageColumns>,
  at: number,
  where = ""
): Fragment => sql`
  INSERT INTO flow_message (execution, at, token, ${sql.literal(messageNames)})
  SELECT ${id}, CAST(${at} AS BIGINT), '', r.* FROM ${sql.literal(where)}${rowsOf(sql, messageTypes, rows)}`

export const putTags = (
  sql: SqlClient,
  id: string,
  tags: ReadonlyArray<string>,
  startedAt: number,
  where = ""
): Fragment => {
  const rows = [...new Set(tags.map(Texts.addressOf))].map((tag) => ({ tag }))
  return sql`
    INSERT INTO flow_tag (tag, started_at, execution)
    SELECT r.tag, CAST(${startedAt} AS BIGINT), ${id} FROM ${sql.literal(where)}${rowsOf(sql, { tag: "TEXT" }, rows)}`
}

export const deleteMessages = (sql: SqlClient, id: string, seqs: ReadonlyArray<number>, where = ""): Fragment => {
  const rows = seqs.map((seq) => ({ seq }))
  return sql`
    DELETE FROM flow_message WHERE execution = ${id}
      AND seq IN (SELECT r.seq FROM ${sql.literal(where)}${rowsOf(sql, { seq: "INTEGER" }, rows)})`
}
