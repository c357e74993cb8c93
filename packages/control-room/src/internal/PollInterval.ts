/** How often background loops run. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"

/** How often the service checks for timers that are due. */
export const PollInterval = Context.Reference<Duration.Input>("@signalbox/control-room/PollInterval", {
  defaultValue: () => "1 second"
})

/** How often a node wakes waiting leases without a notification, in case one was lost. */
export const WakeInterval = Context.Reference<Duration.Input>("@signalbox/control-room/WakeInterval", {
  defaultValue: () => "5 seconds"
})
