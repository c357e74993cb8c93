import {
  type AlertHours,
  AlertDefinition,
  defaultGatherSeconds,
  weekdays as everyDay
} from "@signalbox/api/contract/Alerts"
import { AlertChannelId } from "@signalbox/api/contract/Ids"
import * as Alerts from "@signalbox/api/Alerts"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import { type Alert, ApplyFileError } from "./Document.ts"
import { asSet, idOf, type Ids, type Section, type Step, unchanged } from "./Step.ts"

/** Parameters of rules that name something, and where its id is. */
const namedBy = (ids: Ids): Readonly<Record<string, ReadonlyMap<string, string>>> => ({
  process: ids.processes,
  worker_group: ids.groups,
  schedule: ids.schedules
})

const decodeDefinition = Schema.decodeUnknownEffect(AlertDefinition, { onExcessProperty: "error" })

/** A definition with these ids. */
const definitionOf = (name: string, alert: Alert, rule: object, channels: ReadonlyArray<string>) =>
  Effect.mapError(
    decodeDefinition({ ...alert, name, rule, channels: channels.map((id) => ({ id })) }),
    ({ message }) => new ApplyFileError({ message: `alerts.${name}: ${message}` })
  )

/** The rule with ids for names; what the plan has yet to create has its name. */
const ruleOf = (rule: Alert["rule"], ids: Ids, ready: boolean) => {
  const named = namedBy(ids)
  return Effect.map(
    Effect.forEach(Object.entries(rule), ([key, value]) => {
      const known = named[key]
      if (known === undefined || typeof value !== "string") return Effect.succeed([key, value] as const)
      const id = ready ? idOf(known, value) : Effect.succeed(known.get(value) ?? value)
      return Effect.map(id, (found) => [key, { id: found }] as const)
    }),
    Object.fromEntries
  )
}

/** Hours, whatever the order of their days. */
const hoursOf = ({ except = [], weekdays = everyDay, ...hours }: AlertHours) => ({
  ...hours,
  weekdays: asSet(weekdays),
  except: asSet(except)
})

/** A rule, however its hours are written. A rule that only a newer room knows is compared as it is. */
const comparable = (rule: Alerts.Alert["rule"]) =>
  "hours" in rule && rule.hours !== undefined ? { ...rule, hours: hoursOf(rule.hours) } : rule

/** What an alert and its definition are compared by. */
const settled = ({
  channels,
  enabled = true,
  gather_seconds = defaultGatherSeconds,
  quiet,
  repeat_seconds,
  rule
}: AlertDefinition) => ({
  enabled,
  rule: comparable(rule),
  channels: asSet(channels.map(({ id }) => id)),
  "repeat seconds": repeat_seconds ?? null,
  "gather seconds": gather_seconds,
  quiet: quiet === undefined ? null : hoursOf(quiet)
})

/** Alerts are identified by their names. */
export const plan = Effect.fnUntraced(function* (wanted: Readonly<Record<string, Alert>>, ids: Ids) {
  const left = new Map<string, Alerts.Alert>()
  for (const alert of yield* Stream.runCollect(Alerts.stream({ limit: 500 }))) left.set(alert.name, alert)
  const steps: Array<Step> = []
  for (const [name, alert] of Object.entries(wanted)) {
    const found = left.get(name)
    left.delete(name)
    const channels = alert.channels.map((channel) => ids.channels.get(channel) ?? AlertChannelId.make(channel))
    const next = settled(yield* definitionOf(name, alert, yield* ruleOf(alert.rule, ids, false), channels))
    const now =
      found === undefined
        ? null
        : {
            enabled: found.enabled,
            rule: comparable(found.rule),
            channels: asSet(found.channels.map(({ id }) => id)),
            "repeat seconds": found.repeat_seconds,
            "gather seconds": found.gather_seconds ?? defaultGatherSeconds,
            quiet: found.quiet === null ? null : hoursOf(found.quiet)
          }
    const changed = now === null ? [] : differences(now, next)
    if (found !== undefined && changed.length === 0) {
      steps.push(unchanged("alert", name))
      continue
    }
    const write = Effect.gen(function* () {
      const rule = yield* ruleOf(alert.rule, ids, true)
      const sent = yield* Effect.forEach(alert.channels, (channel) => idOf(ids.channels, channel))
      // It was decoded before with other ids.
      const definition = yield* Effect.orDie(definitionOf(name, alert, rule, sent))
      return yield* found === undefined ? Alerts.create(definition) : Alerts.update(found.id, definition)
    })
    steps.push({
      kind: "alert",
      name,
      action: found === undefined ? "create" : "change",
      detail: changed.join(", "),
      run: write
    })
  }
  const extra = [...left.values()].map(({ id, name }): Step => ({
    kind: "alert",
    name,
    action: "delete",
    detail: "",
    run: Alerts.remove(id)
  }))
  const section: Section = { steps, extra }
  return section
})

/** The names of the parts that are not equal. */
const differences = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>) =>
  Object.keys(b).filter((key) => !isDeepStrictEqual(a[key], b[key]))

/** What the alerts of a file name, and where. */
export const referencesOf = (alerts: Readonly<Record<string, Alert>>) => {
  const all = Object.entries(alerts)
  const inRules = (key: "process" | "worker_group" | "schedule") =>
    all.flatMap(([name, { rule }]) => {
      const value = rule[key]
      return typeof value === "string" ? [{ field: `alerts.${name}.rule.${key}`, name: value }] : []
    })
  return {
    processes: inRules("process"),
    groups: inRules("worker_group"),
    schedules: inRules("schedule"),
    channels: all.flatMap(([name, { channels }]) =>
      channels.map((channel, index) => ({ field: `alerts.${name}.channels.${index}`, name: channel }))
    )
  }
}
