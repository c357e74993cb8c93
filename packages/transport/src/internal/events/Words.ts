/** Events as lines that people read. */
import type { Listeners, PauseEvent, PauseReason, RequestEvent, ResponseEvent, RetryEvent } from "../../Events.ts"

/** The event that a listener of this name is called with. */
export interface Events {
  readonly onRequest: RequestEvent
  readonly onResponse: ResponseEvent
  readonly onRetry: RetryEvent
  readonly onPause: PauseEvent
}

const whys: Readonly<Record<PauseReason, string>> = {
  rateLimit: "the service asks for it",
  failure: "after a failure",
  pacing: "pacing by the budget of the service"
}

const outcome = ({ problem, requestId, status }: Pick<ResponseEvent, "problem" | "requestId" | "status">) =>
  `${status ?? problem ?? "no response"}${requestId === null ? "" : `, request ${requestId}`}`

const words: { readonly [K in keyof Events]: (event: Events[K]) => string } = {
  onRequest: ({ attempt }) => `attempt ${attempt}`,
  onResponse: (event) =>
    `attempt ${event.attempt}: ${outcome(event)}, ${Math.round(event.millis)} ms${event.bytes === null ? "" : `, ${event.bytes} bytes`}`,
  onRetry: (event) => `retry as attempt ${event.attempt} in ${event.pauseMillis} ms: ${outcome(event)}`,
  onPause: ({ attempt, millis, why }) => `pause of ${millis} ms before attempt ${attempt}: ${whys[why]}`
}

/** A line, such as `WorkItems.get GET /workspaces/1/work-items/2 attempt 1: 200, 12 ms`. */
export const lineOf = <K extends keyof Listeners>(name: K, event: Events[K]): string =>
  `${event.operation} ${event.method} ${event.path} ${words[name](event)}`
