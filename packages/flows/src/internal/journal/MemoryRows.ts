/**
 * The rows of the journal in memory: how they are copied, and their orders.
 */
import type * as Schema from "effect/Schema"
import type { Entry, Execution, Message, NewExecution, Process, Undo } from "../Journal.ts"
import { compareTexts, newExecution } from "./Common.ts"

export interface Run {
  execution: Execution
  /** Of the last write of an owner. */
  seen: number
  readonly entries: Map<string, Entry>
  readonly aside: Array<Entry>
  readonly redos: Map<string, number>
  readonly undos: Map<string, Undo>
  readonly messages: Map<number, Message>
  /** Counts what happened to it. */
  revision: number
}

export const copy = (json: Schema.Json): Schema.Json =>
  typeof json === "object" && json !== null ? JSON.parse(JSON.stringify(json)) : json

export const copyFailure = <A extends { readonly failure: Execution["failure"] }>(row: A): A => ({
  ...row,
  failure: row.failure === null ? null : { ...row.failure }
})

export const copyExecution = (execution: Execution): Execution => ({
  ...copyFailure(execution),
  input: copy(execution.input),
  result: copy(execution.result),
  error: copy(execution.error),
  tags: [...execution.tags],
  limits: [...execution.limits]
})

/** Of members that replace those of an execution. */
export const copyMembers = (members: Partial<Execution>): Partial<Execution> => {
  const { error, failure, input, result, tags } = members
  return {
    ...members,
    ...(input === undefined ? {} : { input: copy(input) }),
    ...(result === undefined ? {} : { result: copy(result) }),
    ...(error === undefined ? {} : { error: copy(error) }),
    ...(failure === undefined || failure === null ? {} : { failure: { ...failure } }),
    ...(tags === undefined ? {} : { tags: [...tags] })
  }
}

export const copyEntry = (entry: Entry): Entry => ({
  ...copyFailure(entry),
  input: copy(entry.input),
  value: copy(entry.value)
})

export const copyMessage = (message: Message): Message => ({ ...message, value: copy(message.value) })

export const copyProcess = ({ expiresAt, flows, host, id, place }: Process): Process => ({
  id,
  host,
  flows: flows.map(({ flow, version }) => ({ flow, version })),
  expiresAt,
  ...(place === undefined ? {} : { place: { ...place } })
})

export const keyOf = (flow: string, key: string) => JSON.stringify([flow, key])
export const attemptOf = ({ attempt, path }: Pick<Entry, "path" | "attempt">) => JSON.stringify([path, attempt])

export const byBegin = (a: Entry, b: Entry) =>
  a.begun - b.begun || compareTexts(a.path, b.path) || a.attempt - b.attempt

/** The oldest first. */
export const byStart = (a: Pick<Execution, "id" | "startedAt">, b: Pick<Execution, "id" | "startedAt">) =>
  a.startedAt - b.startedAt || compareTexts(a.id, b.id)

export const newRun = (execution: Omit<NewExecution, "messages">, at: number): Run => ({
  execution: copyExecution(newExecution(execution, at, 0)),
  seen: 0,
  entries: new Map(),
  aside: [],
  redos: new Map(),
  undos: new Map(),
  messages: new Map(),
  revision: 0
})
