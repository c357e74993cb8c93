/**
 * Rules of the journal that are not SQL.
 */
import type * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { type Execution, hasEnded, type NewExecution, type State, type Write } from "../model/Execution.ts"
import { canonical } from "../model/Values.ts"

/** How long the row of an expired process remains, so that the process detects that when it returns. */
export const forgetAfterMillis = 86_400_000

/** The most summaries of ended chapters of an execution; then the oldest is deleted. */
export const mostChapters = 1_000

/** The most commands of an execution that are kept, pending ones aside. */
export const mostCommands = 100

export const sameJson = (a: Schema.Json, b: Schema.Json): boolean => canonical(a) === canonical(b)

/** Returns a digest of JSON: equal for equal values. */
export const digestOf = (json: Schema.Json): string => createHash("sha256").update(canonical(json)).digest("hex")

/** Returns the defect of two keys with one id. */
export const idTaken = (id: string) => new Error(`the id ${id} belongs to an execution of another flow or key`)

/** Returns the row of an execution that starts now, with this many messages. */
export const newExecution = (
  { deadlineAt = null, priority = 0, startsAt = null, ...execution }: Omit<NewExecution, "messages">,
  at: number,
  mail: number
): Execution => ({
  ...execution,
  startsAt,
  priority,
  deadlineAt,
  result: null,
  error: null,
  failure: null,
  chapter: 0,
  round: 0,
  queuedAt: execution.state === "queued" && execution.limits.length > 0 && startsAt === null ? at : null,
  epoch: execution.owner === null ? 0 : 1,
  mail,
  startedAt: at,
  changedAt: at,
  endedAt: null
})

/** Compares texts by their code points, like the bytes of UTF-8. */
export const compareTexts = (a: string, b: string): number => {
  if (a === b) return 0
  const [left, right] = [a[Symbol.iterator](), b[Symbol.iterator]()]
  while (true) {
    const [x, y] = [left.next(), right.next()]
    if (x.done === true) return y.done === true ? 0 : -1
    if (y.done === true) return 1
    const order = (x.value.codePointAt(0) ?? 0) - (y.value.codePointAt(0) ?? 0)
    if (order !== 0) return order
  }
}

/** Whether a write releases the claim of an execution that has not ended. */
export const isReleased = ({ owner, state }: Write["execution"]): boolean =>
  owner === null && (state === undefined || !hasEnded(state))

/** Returns since when an execution is queued after a change to a state: a suspended one keeps its place, a later one has none yet. */
export const queuedAfter = (
  { limits, queuedAt, startsAt, state: before }: Pick<Execution, "limits" | "queuedAt" | "startsAt" | "state">,
  state: State = before,
  at: number
): number | null => {
  if (limits.length === 0 || startsAt !== null || (state !== "queued" && state !== "suspended")) return null
  return state === "queued" ? (queuedAt ?? at) : queuedAt
}
