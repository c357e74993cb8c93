/** The events of webhooks, in words. */
import type { WebhookEventType } from "@signalbox/api/contract/Webhooks"

export const eventWords: Readonly<Record<WebhookEventType, string>> = {
  "process_run.started": "a run has started",
  "process_run.completed": "a run has completed",
  "process_run.unresolved": "a run needs a person",
  "process.paused": "a process was paused",
  "process.resumed": "a process was resumed"
}

const words: Readonly<Record<string, string>> = { ...eventWords, "process_run.test": "a test" }

export const wordsOf = (event: string): string => words[event] ?? event
