/** What alerts watch: the words and the fields of each rule, and an alert while it is edited. */
import type { Alert, AlertHours, AlertRule, AlertRuleType } from "@signalbox/api/contract/Alerts"
import { duration } from "../../format.ts"
import * as text from "../../text/text.ts"

/** A thing that a rule is about, named by its id. */
export type Subject = "process" | "worker_group" | "schedule" | "webhook"
type Limit = "minutes" | "items" | "percent" | "attempts" | "growsItems" | "growsMinutes"

interface Rule {
  /** It is told when ... */
  readonly label: string
  readonly subject?: Subject
  readonly isSubjectRequired?: boolean
  readonly limits: ReadonlyArray<Limit>
  readonly areLimitsOptional?: boolean
  readonly hasHours?: boolean
}

export const rules: Readonly<Record<AlertRuleType, Rule>> = {
  run_unresolved: { label: text.alerts.conditions.run_unresolved, subject: "process", limits: [] },
  failure_group: {
    label: text.alerts.conditions.failure_group,
    subject: "process",
    limits: ["growsItems", "growsMinutes"],
    areLimitsOptional: true
  },
  nothing_completed: {
    label: text.alerts.conditions.nothing_completed,
    subject: "process",
    isSubjectRequired: true,
    limits: ["minutes"],
    hasHours: true
  },
  item_waits: { label: text.alerts.conditions.item_waits, subject: "process", limits: ["minutes"] },
  queue_above: { label: text.alerts.conditions.queue_above, subject: "process", limits: ["items"] },
  paused_by_itself: { label: text.alerts.conditions.paused_by_itself, subject: "process", limits: [] },
  no_worker: { label: text.alerts.conditions.no_worker, subject: "worker_group", limits: ["minutes"] },
  schedule_missed: { label: text.alerts.conditions.schedule_missed, subject: "schedule", limits: [] },
  deliveries_fail: {
    label: text.alerts.conditions.deliveries_fail,
    subject: "webhook",
    limits: ["attempts"],
    areLimitsOptional: true
  },
  disk_above: { label: text.alerts.conditions.disk_above, limits: ["percent"] }
}

export const limits: Readonly<Record<Limit, { readonly label: string; readonly hint: string; readonly max?: number }>> =
  {
    minutes: { label: text.alerts.limitMinutes, hint: text.alerts.limitMinutesHint },
    items: { label: text.alerts.limitItems, hint: text.alerts.limitItemsHint },
    percent: { label: text.alerts.limitPercent, hint: text.alerts.limitPercentHint, max: 99 },
    attempts: { label: text.alerts.limitAttempts, hint: text.alerts.limitAttemptsHint },
    growsItems: { label: text.alerts.limitGrowsItems, hint: text.alerts.limitGrowsItemsHint },
    growsMinutes: { label: text.alerts.limitGrowsMinutes, hint: text.alerts.limitGrowsMinutesHint }
  }

/** An alert while it is edited. */
export interface AlertDraft extends Readonly<Record<Subject | Limit, string>> {
  readonly name: string
  readonly enabled: boolean
  readonly type: AlertRuleType
  readonly hours: AlertHours | null
  readonly channels: ReadonlyArray<string>
  readonly repeatMinutes: string
  readonly gatherMinutes: string
  readonly quiet: AlertHours | null
}

export const isKnown = (rule: Alert["rule"]): rule is AlertRule => Object.hasOwn(rules, rule.type)

const inMinutes = (seconds: number | null | undefined) => (seconds == null ? "" : String(seconds / 60))
const inSeconds = (minutes: string) => Math.round(Number(minutes) * 60)

const subjectsOf = (rule: AlertRule | undefined): Record<Subject, string> => ({
  process: rule !== undefined && "process" in rule ? (rule.process?.id ?? "") : "",
  worker_group: rule !== undefined && "worker_group" in rule ? (rule.worker_group?.id ?? "") : "",
  schedule: rule !== undefined && "schedule" in rule ? (rule.schedule?.id ?? "") : "",
  webhook: rule !== undefined && "webhook" in rule ? (rule.webhook?.id ?? "") : ""
})

const limitsOf = (rule: AlertRule | undefined): Record<Limit, string> => {
  const grows = rule?.type === "failure_group" ? rule.grows : undefined
  return {
    minutes: rule !== undefined && "seconds" in rule ? inMinutes(rule.seconds) : "",
    items: rule?.type === "queue_above" ? String(rule.items) : "",
    percent: rule?.type === "disk_above" ? String(rule.percent) : "",
    attempts: rule?.type === "deliveries_fail" ? String(rule.attempts ?? "") : "",
    growsItems: String(grows?.items ?? ""),
    growsMinutes: inMinutes(grows?.within_seconds)
  }
}

export const draftOf = (alert: Alert | undefined): AlertDraft => {
  const rule = alert !== undefined && isKnown(alert.rule) ? alert.rule : undefined
  return {
    ...subjectsOf(rule),
    ...limitsOf(rule),
    name: alert?.name ?? "",
    enabled: alert?.enabled ?? true,
    type: rule?.type ?? "run_unresolved",
    hours: rule?.type === "nothing_completed" ? (rule.hours ?? null) : null,
    channels: alert?.channels.map(({ id }) => id) ?? [],
    repeatMinutes: inMinutes(alert?.repeat_seconds),
    gatherMinutes: inMinutes(alert?.gather_seconds),
    quiet: alert?.quiet ?? null
  }
}

const ruleOf = (draft: AlertDraft): object => {
  const { hasHours = false, limits, subject } = rules[draft.type]
  const given = (limit: Limit) => limits.includes(limit) && draft[limit] !== ""
  const about = subject === undefined || draft[subject] === "" ? {} : { [subject]: { id: draft[subject] } }
  return {
    type: draft.type,
    ...about,
    seconds: given("minutes") ? inSeconds(draft.minutes) : undefined,
    items: given("items") ? Number(draft.items) : undefined,
    percent: given("percent") ? Number(draft.percent) : undefined,
    attempts: given("attempts") ? Number(draft.attempts) : undefined,
    grows: given("growsItems")
      ? { items: Number(draft.growsItems), within_seconds: inSeconds(draft.growsMinutes) }
      : undefined,
    hours: hasHours && draft.hours !== null ? draft.hours : undefined
  }
}

const definition = (
  { channels, enabled, name, quiet }: Pick<AlertDraft, "channels" | "enabled" | "name" | "quiet">,
  rule: object,
  repeat: number | null,
  gather: number | undefined
) => ({
  name: name.trim(),
  enabled,
  rule,
  channels: channels.map((id) => ({ id })),
  repeat_seconds: repeat ?? undefined,
  gather_seconds: gather,
  quiet: quiet ?? undefined
})

/** The body that makes or replaces an alert. */
export const definitionOf = (draft: AlertDraft): object =>
  definition(
    draft,
    ruleOf(draft),
    draft.repeatMinutes === "" ? null : inSeconds(draft.repeatMinutes),
    draft.gatherMinutes === "" ? undefined : inSeconds(draft.gatherMinutes)
  )

/** The same alert, on or off. */
export const switched = (alert: Alert): object =>
  definition(
    { ...alert, enabled: !alert.enabled, channels: alert.channels.map(({ id }) => id) },
    alert.rule,
    alert.repeat_seconds,
    alert.gather_seconds
  )

/** Such as `Mon, Tue 08:00 to 18:00, Europe/Vienna`. */
export const hoursInWords = ({ except = [], from, to, weekdays, zone }: AlertHours): string =>
  [
    text.alerts.hours(
      weekdays === undefined ? text.schedules.everyDay : weekdays.map((day) => text.weekdays[day]).join(", "),
      from,
      to
    ),
    zone,
    ...(except.length === 0 ? [] : [text.alerts.exceptDays(except.length)])
  ].join(", ")

/** What it is told of, as a sentence without its end. */
export const ruleInWords = (rule: Alert["rule"]): string => {
  if (!isKnown(rule)) return rule.type
  const { label } = rules[rule.type]
  if ("seconds" in rule) {
    const hours = "hours" in rule && rule.hours !== undefined ? text.alerts.withinHours(hoursInWords(rule.hours)) : ""
    return `${label}: ${duration(rule.seconds)}${hours}`
  }
  if (rule.type === "queue_above") return text.alerts.moreItems(label, rule.items)
  if (rule.type === "disk_above") return text.alerts.abovePercent(label, rule.percent)
  if (rule.type === "deliveries_fail") return text.alerts.afterAttempts(label, rule.attempts ?? 3)
  if (rule.type === "failure_group" && rule.grows !== undefined) {
    return text.alerts.itemsWithin(label, rule.grows.items, duration(rule.grows.within_seconds))
  }
  return label
}
