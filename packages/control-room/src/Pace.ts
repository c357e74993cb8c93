/** How often the service looks for what time has brought. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"

export const Pace = Context.Reference<Duration.Input>("@signalbox/control-room/Pace", {
  defaultValue: () => "1 second"
})
