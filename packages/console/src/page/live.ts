/** Whether what is shown follows what happens. */
import { signal } from "@preact/signals"

/** `polling`: there is no stream of changes, and what is shown is loaded every few seconds. */
export type LiveState = "connecting" | "live" | "polling"
export const liveState = signal<LiveState>("connecting")
