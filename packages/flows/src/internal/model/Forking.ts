/**
 * What a fork takes of the record of its source: the results before a step, by the rules of `retry`.
 */
import { retried } from "./Retrying.ts"
import type { Entry, FirstRecord, History, Message, NewMessage } from "./Execution.ts"
import { isBelow } from "./Path.ts"

/** The record with which a fork begins. */
export interface Forked {
  readonly record: FirstRecord
  readonly messages: ReadonlyArray<NewMessage>
}

const attemptOf = ({ attempt, path }: Pick<Entry, "attempt" | "path">) => `${attempt} ${path}`

/** Whether an entry has received a message: its subject is the number of it. */
const isReceiver = ({ kind, state, subject }: Entry) =>
  (kind === "signal" || kind === "inbox") && state === "succeeded" && subject !== null

/**
 * The record of an execution that begins like this one and runs on from a step that is recorded in it. Kept are what `retry` keeps,
 * and the signals and messages that had arrived when the step began.
 */
export const forked = (history: History, from: string): Forked => {
  const { entries, execution, messages, undos } = history
  const { aside, asideUndos } = retried(history, from, 0, execution.version)
  const discarded = new Set(aside.map(attemptOf))
  const kept = entries.filter((entry) => !discarded.has(attemptOf(entry)))
  const own = entries.filter(({ path }) => path === from || isBelow(path, from))
  const start = Math.min(...own.map(({ startedAt }) => startedAt))
  const received = new Set(kept.flatMap((entry) => (isReceiver(entry) ? [entry.subject] : [])))
  /** Whether a message came for the step that begins again, which waits for another one then. */
  const isForStep = ({ at, seq }: Message) =>
    own.some((entry) => isReceiver(entry) && entry.subject === `${seq}` && entry.startedAt <= at)
  const known = messages
    .filter(({ kind }) => kind === "signal" || kind === "inbox")
    .filter((message) => received.has(`${message.seq}`) || (message.at <= start && !isForStep(message)))
  // The messages of an execution are numbered from 1.
  const numbers = new Map(known.map(({ seq }, index) => [`${seq}`, `${index + 1}`]))
  const renumbered = (entry: Entry): Entry =>
    isReceiver(entry) ? { ...entry, subject: numbers.get(entry.subject ?? "") ?? entry.subject } : entry
  return {
    record: {
      entries: kept.map(renumbered),
      undos: undos.filter(({ path }) => !asideUndos.includes(path))
    },
    messages: known.map(({ id, kind, name, value }) => ({ id, kind, name, value }))
  }
}
