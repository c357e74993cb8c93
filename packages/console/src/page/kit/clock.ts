/** The time that relative times are told by. */
import { signal } from "@preact/signals"

export const now = signal(Date.now())
setInterval(() => (now.value = Date.now()), 5000)
