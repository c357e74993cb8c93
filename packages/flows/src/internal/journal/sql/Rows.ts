/**
 * The rows of the journal. Times are milliseconds since 1970, JSON is text, and a JSON null is NULL.
 */
import type * as Schema from "effect/Schema"
import type { Failure } from "../../../FlowEvents.ts"
import {
  activeStates,
  type Chapter,
  endStates,
  type Entry,
  type EntryKind,
  type EntryState,
  type Execution,
  type Expired,
  type Message,
  type NewMessage,
  type Stalled,
  type State,
  type Undo
} from "../../model/Execution.ts"
import { table } from "./Tables.ts"
import * as Texts from "./Texts.ts"

export const toJson = (value: Schema.Json): string | null => (value === null ? null : JSON.stringify(value))
export const fromJson = (text: string | null): Schema.Json => (text === null ? null : JSON.parse(text))

/** Parses a column. The cast holds because `toFailure` wrote it. */
const fromFailure = (text: string | null): Failure | null => (text === null ? null : (JSON.parse(text) as Failure))
export const toFailure = (failure: Failure | null): string | null => (failure === null ? null : JSON.stringify(failure))

/** Parses a column. The cast holds because `toLimits` wrote it. */
const fromLimits = (text: string | null) => (text === null ? [] : (JSON.parse(text) as Execution["limits"]))
export const toLimits = (limits: Execution["limits"]): string | null =>
  limits.length === 0 ? null : JSON.stringify(limits)

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
  readonly limits: string | null
  readonly queued_at: number | null
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

/** Explicit columns, since a newer process may add others while this one runs. */
const executionNames = [
  "id",
  "flow",
  "version",
  "flow_key",
  "long_key",
  "input",
  "state",
  "result",
  "error",
  "failure",
  "chapter",
  "round",
  "tags",
  "parent",
  "limits",
  "queued_at",
  "epoch",
  "owner",
  "wake_at",
  "mail",
  "asides",
  "token",
  "started_at",
  "changed_at",
  "ended_at",
  "expired"
] as const satisfies ReadonlyArray<keyof ExecutionRow>

export const executionColumns = executionNames.join(", ")
/** The columns, for a query with joins. */
export const executionColumnsOf = (table: string) => executionNames.map((name) => `${table}.${name}`).join(", ")

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
  limits: fromLimits(row.limits),
  queuedAt: row.queued_at,
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
  // Only ended executions expire.
  endedAt: row.ended_at ?? row.changed_at
})

export const entryTable = table<EntryRow>("flow_entry", ["execution", "aside", "path", "attempt"], {
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
  host: "TEXT",
  stalled: "TEXT"
})

export interface EntryRow {
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
  /** The prefix of the subject while it is awaited. */
  readonly awaits: string | null
  readonly host: string | null
  readonly stalled: string | null
}

/** Parses a column. */
export const fromStalled = (text: string | null): Stalled | null =>
  // `toStalled` wrote it.
  text === null ? null : (JSON.parse(text) as Stalled)
export const toStalled = (stalled: Stalled | null): string | null => (stalled === null ? null : JSON.stringify(stalled))

export const entryRow = (entry: Entry): EntryRow => {
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
    host: Texts.toNullable(entry.host),
    stalled: toStalled(entry.stalled ?? null)
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
  host: Texts.fromNullable(row.host),
  ...(row.stalled === null ? {} : { stalled: fromStalled(row.stalled) })
})

export interface ChapterRow {
  readonly chapter: number
  readonly entries: number
  readonly started_at: number
  readonly ended_at: number
}

export const toChapter = ({ chapter, ended_at, entries, started_at }: ChapterRow): Chapter => ({
  chapter,
  entries,
  startedAt: started_at,
  endedAt: ended_at
})

export const undoTable = table<UndoRow>("flow_undo", ["execution", "path"], {
  path: "TEXT",
  long_path: "TEXT",
  redo: "INTEGER",
  state: "TEXT",
  position: "INTEGER",
  failure: "TEXT"
})

export interface UndoRow {
  readonly path: string
  readonly long_path: string | null
  readonly redo: number
  readonly state: Undo["state"]
  readonly position: number
  readonly failure: string | null
}

export const undoRow = (undo: Undo): UndoRow => {
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

export const messageTable = table<NewMessageRow>("flow_message", [], {
  seq: "INTEGER",
  address: "TEXT",
  kind: "TEXT",
  name: "TEXT",
  message_id: "TEXT",
  value: "TEXT"
})

export interface NewMessageRow {
  readonly seq: number
  /** Kind, name and id. */
  readonly address: string
  readonly kind: Message["kind"]
  readonly name: string
  readonly message_id: string
  readonly value: string | null
}

export interface MessageRow extends NewMessageRow {
  readonly at: number
}

export const messageAddress = ({ id, kind, name }: NewMessage): string =>
  Texts.addressOf(JSON.stringify([kind, name, id]))

export const newMessageRow = (message: NewMessage, seq: number): NewMessageRow => ({
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

export const tagTable = table<{ readonly tag: string }>("flow_tag", [], { tag: "TEXT" })

export const tagRows = (tags: ReadonlyArray<string>) => [...new Set(tags.map(Texts.addressOf))].map((tag) => ({ tag }))
