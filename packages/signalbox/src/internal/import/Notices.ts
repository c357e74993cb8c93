/** Alerts, which arrive disabled, and their channels, which have no switch and send only what alerts find. */
import type { AlertChannel } from "@signalbox/api/contract/AlertChannels"
import type { Alert } from "@signalbox/api/contract/Alerts"
import * as ChannelList from "@signalbox/api/AlertChannels"
import * as AlertList from "@signalbox/api/Alerts"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as AlertChannels from "../apply/AlertChannels.ts"
import * as Alerts from "../apply/Alerts.ts"
import type { Ids } from "../apply/Step.ts"
import * as Converted from "./Converted.ts"
import type { Gaps } from "./Gaps.ts"
import * as Parts from "./Parts.ts"
import type { IsThere } from "./Processes.ts"
import type { ImportStep } from "./Step.ts"
import * as SwitchedOff from "./SwitchedOff.ts"

export const channels = Effect.fnUntraced(function* (all: ReadonlyArray<AlertChannel>, ids: Ids, gaps: Gaps) {
  const kind = "alert channel"
  const here = new Map((yield* Stream.runCollect(ChannelList.stream({ limit: 500 }))).map((one) => [one.name, one]))
  const steps: Array<ImportStep> = []
  const entries: Array<readonly [string, unknown]> = []
  for (const channel of all) {
    const { name, type } = channel
    const converted = Converted.channel(channel)
    const known = here.get(name)
    if (converted !== null) entries.push([name, converted])
    else if (known === undefined) {
      gaps.add(kind, name, "its address or password is a secret: create it with `signalbox alert-channels create`")
    } else {
      const isSame = known.type === type
      const detail = isSame ? "its address is not compared" : "its type"
      steps.push({ kind, name, action: isSame ? "unchanged" : "different", detail, run: Effect.void })
    }
  }
  const wanted = (yield* Parts.accepted(kind, "alert_channels", entries, gaps)) ?? {}
  const plan = (some: typeof wanted) => AlertChannels.plan(some, ids, "", false)
  return [...steps, ...(yield* Parts.stepsOf(kind, wanted, plan, gaps))]
})

interface Context {
  readonly names: Converted.Names
  readonly ids: Ids
  readonly isThere: Readonly<Record<"process" | "worker_group" | "schedule" | "channel", IsThere>>
}

const needsOf = (alert: ReturnType<typeof Converted.alert>, { isThere }: Context): ReadonlyArray<Parts.Need> => [
  ...(["process", "worker_group", "schedule"] as const).flatMap((key) => {
    const name: unknown = alert.rule[key]
    return typeof name === "string" ? [{ what: key.replace("_", " "), name, isThere: isThere[key](name) }] : []
  }),
  ...("webhook" in alert.rule ? [{ what: "webhook", name: "of its rule", isThere: false }] : []),
  ...alert.channels.map((name) => ({ what: "alert channel", name, isThere: isThere.channel(name) }))
]

export const alerts = Effect.fnUntraced(function* (all: ReadonlyArray<Alert>, context: Context, gaps: Gaps) {
  const kind = "alert"
  const here = new Map((yield* Stream.runCollect(AlertList.stream({ limit: 500 }))).map((one) => [one.name, one]))
  const entries = all.map((alert) => [alert.name, Converted.alert(alert, context.names)] as const)
  const possible = Parts.withNeeds(kind, entries, ([, alert]) => needsOf(alert, context), gaps)
  const off = (yield* Parts.accepted(kind, "alerts", possible, gaps)) ?? {}
  const asItIs = Object.fromEntries(
    Object.entries(off).map(([name, one]) => [name, { ...one, enabled: here.get(name)?.enabled ?? false }])
  )
  const plan = (some: typeof off) => Alerts.plan(some, context.ids)
  return SwitchedOff.written(
    yield* Parts.stepsOf(kind, asItIs, plan, gaps),
    yield* Parts.stepsOf(kind, off, plan, gaps)
  )
})
