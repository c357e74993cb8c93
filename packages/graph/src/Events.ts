/**
 * What the client does while a call waits: each request, response, retry and pause. `on` of the options of a connection has listeners
 * for all of its calls, `ClientEvents` those of a part of a program.
 */
export {
  ClientEvents,
  type Listeners,
  type PauseEvent,
  type PauseReason,
  type RequestEvent,
  type ResponseEvent,
  type RetryEvent
} from "@signalbox/transport/Events"
