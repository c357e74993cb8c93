/**
 * The rows of executions and what belongs to them. Times are milliseconds since 1970, JSON is text, and a JSON null is NULL.
 *
 * Columns are named explicitly, since a newer process may add others while this one runs.
 */
import {
  type Column,
  converted,
  encode,
  flag,
  integer,
  json,
  nullable,
  real,
  Row,
  type StoredRow,
  Table,
  text,
  word
} from "@signalbox/sql/Table"
import { defined } from "@signalbox/transport/Defined"
import type * as Schema from "effect/Schema"
import type { Failure } from "../../../FlowEvents.ts"
import {
  activeStates,
  type Chapter,
  type CommandOutcome,
  type CommandRow,
  endStates,
  type Entry,
  type EntryKind,
  type EntryState,
  type Execution,
  type Expired,
  type Keeper,
  type Message,
  type NewMessage,
  type Process,
  type Stalled,
  type State,
  type Undo
} from "../../model/Execution.ts"
import { reader, updater, writer } from "./Members.ts"
import { target } from "./Tables.ts"
import * as Texts from "./Texts.ts"

/** Any text. (A column of the type `text` has an address, a token, or a word.) */
export const anyText = converted(Texts.fromText, Texts.toText)
export const value: Column<Schema.Json> = nullable(json<Schema.Json>())
const failure = nullable(json<Failure>())
/** NULL is 0, as in the rows of builds that have no priorities. */
const priority: Column<number> = {
  type: "INTEGER",
  accepts: (stored) => stored === null || typeof stored === "number",
  parse: (stored) => (typeof stored === "number" ? stored : 0),
  encode: (value) => (typeof value === "number" && value !== 0 ? value : null)
}

const listed = (states: ReadonlyArray<State>): string => `(${states.map((state) => `'${state}'`).join(", ")})`
export const active = listed(activeStates)
export const ended = listed(endStates)

// ---- executions

const ofEvery = Row({
  id: anyText,
  flow: anyText,
  version: real,
  input: value,
  state: word<State>(),
  result: value,
  error: value,
  failure,
  chapter: integer,
  round: integer,
  tags: json<ReadonlyArray<string>>(),
  parent: nullable(anyText),
  queued_at: nullable(integer),
  epoch: integer,
  owner: nullable(anyText),
  wake_at: nullable(integer),
  mail: integer,
  started_at: integer,
  changed_at: integer,
  ended_at: nullable(integer)
})

/** The columns of one that was submitted with such options: the row of another one is inserted without them. */
export const timesRow = Row({ starts_at: nullable(integer), priority, deadline_at: nullable(integer) })

const ofExecution = ofEvery.and(timesRow.fields)

/** Members of an execution as columns. The others are `key` and `limits`. */
const executionOf = reader(ofExecution)
export const executionValues = updater(ofExecution)

const withoutToken = Row({
  ...ofEvery.fields,
  flow_key: text,
  long_key: nullable(text),
  limits: nullable(json<Execution["limits"]>()),
  asides: integer,
  expired: flag
})

export const executionRow = withoutToken.and({ ...timesRow.fields, token: text })
export type ExecutionRow = typeof executionRow.Type

/** A new row, besides the token of the call that creates it. */
export const newExecutionRow = withoutToken.and({ seen: integer, lane: nullable(text), partition_no: integer })

export const executionTable = Table("flow_run", { ...newExecutionRow.fields, ...timesRow.fields, token: text })

export const executionId = executionTable.pick("id")

/** An execution after a write. */
export const writtenRow = executionTable.pick("id", "state", "owner", "wake_at")

export const toExecution = (row: ExecutionRow): Execution => ({
  ...executionOf(row),
  key: Texts.joined(row.flow_key, row.long_key),
  limits: row.limits ?? []
})

export const toExpired = (row: ExecutionRow): Expired => ({
  id: row.id,
  flow: row.flow,
  version: row.version,
  key: Texts.joined(row.flow_key, row.long_key),
  state: row.state,
  // Only ended executions expire.
  endedAt: row.ended_at ?? row.changed_at
})

// ---- entries

const ofEntry = Row({
  attempt: integer,
  redo: integer,
  name: anyText,
  kind: word<EntryKind>(),
  input: value,
  state: word<EntryState>(),
  value,
  failure,
  begun: integer,
  ended: nullable(integer),
  started_at: integer,
  ended_at: nullable(integer),
  due: nullable(integer),
  subject: nullable(anyText),
  host: nullable(anyText)
})
const entryOf = reader(ofEntry)

const plainEntryRow = Row({
  path: text,
  long_path: nullable(text),
  ...ofEntry.fields,
  /** The prefix of the subject while it is awaited. */
  awaits: nullable(text),
  stalled: nullable(json<Stalled>())
})

export const entryRow = plainEntryRow.and({ details: value })

export const entryTable = Table("flow_entry", {
  execution: anyText,
  aside: integer,
  next_redo: integer,
  ...entryRow.fields
})

const entryKey = ["execution", "aside", "path", "attempt"]
const computed = {
  path: ({ path }: Entry) => Texts.addressOf(path),
  long_path: ({ path }: Entry) => Texts.longOf(path),
  awaits: ({ ended, subject }: Entry) => (ended === null && subject !== null ? Texts.beginOf(subject) : null),
  stalled: ({ stalled = null }: Entry) => stalled
}

/** Leaves the details of an attempt as they are. */
export const entries = target(entryTable.name, entryKey, plainEntryRow, writer<Entry>()(plainEntryRow, computed))

const entryRowOfMany = Row({ execution: anyText, ...plainEntryRow.fields })

/** Returns an entry of an execution, without details. */
export const toEntryOfMany = writer<Entry & { readonly execution: string }>()(entryRowOfMany, computed)

/** Entries of several executions. */
export const entriesOfMany = target(
  entryTable.name,
  entryKey,
  entryRowOfMany,
  (row: StoredRow<typeof entryRowOfMany.fields>) => row
)

export const detailedEntries = target(
  entryTable.name,
  entryKey,
  entryRow,
  writer<Entry>()(entryRow, { ...computed, details: ({ details = null }) => details })
)

export const toEntry = (row: typeof entryRow.Type): Entry => {
  const entry: Entry = { ...entryOf(row), path: Texts.joined(row.path, row.long_path) }
  if (row.stalled === null && row.details === null) return entry
  return { ...entry, ...defined({ stalled: row.stalled ?? undefined, details: row.details ?? undefined }) }
}

// ---- chapters, undos, messages, tags, commands

const ofChapter = Row({ chapter: integer, entries: integer, started_at: integer, ended_at: integer })

export const chapterTable = Table("flow_chapter", { execution: anyText, ...ofChapter.fields })

export const chapterRow = ofChapter
export const toChapter: (row: typeof chapterRow.Type) => Chapter = reader(ofChapter)

const ofUndo = Row({ redo: integer, state: word<Undo["state"]>(), position: integer, failure })
const undoOf = reader(ofUndo)

export const undoRow = Row({ path: text, long_path: nullable(text), ...ofUndo.fields })

export const undos = target(
  "flow_undo",
  ["execution", "path"],
  undoRow,
  writer<Undo>()(undoRow, {
    path: ({ path }) => Texts.addressOf(path),
    long_path: ({ path }) => Texts.longOf(path)
  })
)

export const toUndo = (row: typeof undoRow.Type): Undo => ({
  ...undoOf(row),
  path: Texts.joined(row.path, row.long_path)
})

const newMessageRow = Row({
  seq: integer,
  /** Kind, name and id. */
  address: text,
  kind: word<Message["kind"]>(),
  name: anyText,
  message_id: anyText,
  value
})
export type NewMessageRow = typeof newMessageRow.Type

export const messageRow = newMessageRow.and({ at: integer })

export const messageTable = Table("flow_message", { execution: anyText, ...messageRow.fields, token: text })

export const newMessages = target(messageTable.name, [], newMessageRow, (row: NewMessageRow) =>
  encode(newMessageRow, row)
)

export const messageAddress = ({ id, kind, name }: NewMessage): string =>
  Texts.addressOf(JSON.stringify([kind, name, id]))

export const fromMessage = (message: NewMessage, seq: number): NewMessageRow => ({
  seq,
  address: messageAddress(message),
  kind: message.kind,
  name: message.name,
  message_id: message.id,
  value: message.value
})

export const toMessage = ({ at, kind, message_id: id, name, seq, value }: typeof messageRow.Type): Message => ({
  seq,
  kind,
  name,
  id,
  value,
  at
})

export const tags = target("flow_tag", [], Row({ tag: text }), (tag: string) => ({ tag }))

/** Tags of several executions. */
export const tagsOfMany = target(
  "flow_tag",
  [],
  Row({ execution: anyText, tag: text }),
  ({ execution, tag }: { readonly execution: string; readonly tag: string }) => ({
    execution: Texts.toText(execution),
    tag
  })
)

/** Returns tags as they are stored. */
export const tagsOf = (all: ReadonlyArray<string>) => [...new Set(all.map(Texts.addressOf))]

export const commandRow = Row({
  number: integer,
  command_id: anyText,
  command: text,
  said_by: nullable(anyText),
  at: integer,
  round: integer,
  seq: nullable(integer),
  outcome: nullable(word<CommandOutcome>()),
  ended_at: nullable(integer)
})

export const commandTable = Table("flow_command", { execution: anyText, ...commandRow.fields })

export const toCommand = ({
  command_id: id,
  ended_at: endedAt,
  said_by: by,
  ...row
}: typeof commandRow.Type): CommandRow => ({ ...row, id, by, endedAt })

// ---- processes

export const processTable = Table("flow_process", {
  id: anyText,
  host: anyText,
  flows: json<Process["flows"]>(),
  expires_at: nullable(integer),
  protocol: nullable(integer),
  boot: nullable(text),
  pid_namespace: nullable(text),
  pid: nullable(integer),
  pid_started: nullable(text),
  stood_millis: nullable(integer),
  // Its thread writes it (`Renewal.ts`).
  stood_in: nullable(json<Keeper>())
})
