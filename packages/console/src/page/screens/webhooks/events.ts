/** The events of webhooks, in words. */
import * as text from "../../text/text.ts"

const words: Readonly<Record<string, string>> = { ...text.webhooks.events, "process_run.test": text.webhooks.test }

export const wordsOf = (event: string): string => words[event] ?? event
