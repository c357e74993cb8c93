/** Whether what is shown follows what happens. */
import { signal } from "@preact/signals"

/** `polling`: no stream of changes holds, so the page asks again and again. `offline`: the control room cannot be reached. */
export const liveState = signal<"live" | "polling" | "offline">("live")
