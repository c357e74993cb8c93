/** The events of webhooks, in words. */
import type { WebhookEventType } from "@signalbox/api/contract/Webhooks"
import * as text from "../../text/text.ts"

export const eventWords: Readonly<Record<WebhookEventType, string>> = {
  "process_run.started": text.webhooks.runStarted,
  "process_run.completed": text.webhooks.runCompleted,
  "process_run.unresolved": text.webhooks.runUnresolved,
  "process.paused": text.webhooks.processPaused,
  "process.resumed": text.webhooks.processResumed
}

const words: Readonly<Record<string, string>> = { ...eventWords, "process_run.test": text.webhooks.test }

export const wordsOf = (event: string): string => words[event] ?? event
