/** How often background loops run. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"

/** How often the service checks for timers that are due. */
export const PollInterval = Context.Reference<Duration.Input>("@signalbox/control-room/PollInterval", {
  defaultValue: () => "1 second"
})

/** When alerts are checked, and their messages sent. */
export const AlertTiming = Context.Reference<{
  /** At a start workers may not have been heard of yet. */
  readonly startDelay: Duration.Input
  /** How often an alert is checked. */
  readonly checkEvery: Duration.Input
  /** How long a check, or an attempt to send a message, belongs to a node; longer than any takes. */
  readonly claim: Duration.Input
  /** The same of an attempt to send an e-mail, for which servers take minutes. */
  readonly claimMail: Duration.Input
}>("@signalbox/control-room/AlertTiming", {
  defaultValue: () => ({
    startDelay: "15 seconds",
    checkEvery: "30 seconds",
    claim: "2 minutes",
    claimMail: "9 minutes"
  })
})

/** How often a node wakes waiting leases without a notification, in case one was lost. */
export const WakeInterval = Context.Reference<Duration.Input>("@signalbox/control-room/WakeInterval", {
  defaultValue: () => "5 seconds"
})
