/**
 * Executions whose values this process cannot decrypt: its body gets none of them, so nothing of it runs.
 */
import type { RecordUnreadable } from "../../FlowErrors.ts"
import { isSealed, unreadable } from "../model/Envelope.ts"
import type { Execution, History, Write } from "../model/Execution.ts"
import { cancelPath, outcomePath } from "../model/Replay.ts"

/** Returns the first value that the body would get and that cannot be decrypted; null when all can be. */
export const of = (
  { flow, id, input }: Pick<Execution, "flow" | "id" | "input">,
  history: Pick<History, "entries" | "messages"> | null
): RecordUnreadable | null => {
  if (isSealed(input)) return unreadable(id, `the input of the flow ${flow}`, input)
  if (history === null) return null
  for (const { input, path, value } of history.entries) {
    if (isSealed(input)) return unreadable(id, `the recorded input of ${path}`, input)
    if (isSealed(value)) return unreadable(id, `the recorded result of ${path}`, value)
  }
  for (const { name, value } of history.messages) {
    if (isSealed(value)) return unreadable(id, `the message ${name}`, value)
  }
  return null
}

/**
 * Returns the write that ends a cancelled execution without its body; null when it is not cancelled, or when something of it may have to
 * be undone, which only its body can.
 */
export const cancelled = (
  { mail }: Pick<Execution, "mail">,
  { entries, messages, undos }: Pick<History, "entries" | "messages" | "undos">,
  now: number
): Write | null => {
  const cancels = messages.filter(({ kind }) => kind === "cancel")
  const isCancelled = cancels.length > 0 || entries.some(({ path }) => path === cancelPath)
  const isOpen =
    undos.some(({ state }) => state === "pending" || state === "failed") ||
    entries.some(({ ended, kind, path }) => path === outcomePath || (kind === "step" && ended === null))
  if (!isCancelled || isOpen) return null
  const message = "cancelled: its values cannot be read, and nothing was left to undo"
  return {
    execution: {
      state: "cancelled",
      owner: null,
      wakeAt: null,
      endedAt: now,
      failure: { kind: "interrupted", tag: null, message }
    },
    entries: [],
    undos: [],
    taken: [],
    settled: cancels.map(({ seq }) => ({ seq, outcome: "applied" })),
    seen: mail
  }
}
