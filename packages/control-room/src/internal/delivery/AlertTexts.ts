/** What messages of alerts say: all their sentences, as pure functions over what the queries have found. */
import type { AlertEvent, AlertMessageKind, AlertRule, AlertRuleType } from "@signalbox/api/contract/Alerts"
import type { ClaimedMessage, MessageText } from "../store/notifications/AlertMessages.ts"
import type { Found, RuleOf } from "../store/notifications/AlertQueries.ts"

const units = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"]
] as const

/** Such as "90 minutes": in the largest unit that leaves no rest. */
const lasting = (seconds: number): string => {
  const [size, name] = units.find(([size]) => seconds % size === 0) ?? units[3]
  const count = seconds / size
  return `${count} ${name}${count === 1 ? "" : "s"}`
}

const originOf = (endpoint: string) => (URL.canParse(endpoint) ? new URL(endpoint).origin : "its endpoint")

const sentences: { readonly [T in AlertRuleType]: (found: Found<T>, rule: RuleOf<T>) => string } = {
  run_unresolved: ({ process, subject }) => `the run ${subject} of the process "${process}" ended as unresolved`,
  failure_group: ({ code, message, process }, { grows }) => {
    const what = `failures of the process "${process}" (${code}: ${message})`
    return grows === undefined
      ? `new group of ${what}`
      : `${grows.items} or more new items within ${lasting(grows.within_seconds)} in ${what}`
  },
  nothing_completed: ({ last, process }, { hours = null, seconds }) => {
    const inHours = hours === null ? "" : " within its hours"
    const before = last === null ? "" : `; last completed run: ${last}`
    return `no run of the process "${process}" has completed for ${lasting(seconds)}${inHours}${before}`
  },
  item_waits: ({ item, process }, { seconds }) =>
    `work items of the process "${process}" have waited longer than ${lasting(seconds)}: ${item}`,
  no_worker: ({ last, name }, { seconds, worker_group }) => {
    const of = worker_group === undefined ? "" : ` of the group "${name}"`
    const seen = last === null ? "" : `; last seen: ${last}`
    return `no worker${of} has been online for ${lasting(seconds)}${seen}`
  },
  schedule_missed: ({ at, schedule, why }) =>
    `the schedule "${schedule}" started no run for ${at}: ${why ?? "it was missed"}`,
  deliveries_fail: ({ endpoint, since, subject }) =>
    `deliveries of the webhook ${subject} to ${originOf(endpoint)} have failed since ${since}`,
  queue_above: ({ process }, { items }) => `more than ${items} work items of the process "${process}" are waiting`,
  disk_above: ({ subject, usedPercent }, { percent }) =>
    `disk usage of ${subject} is ${usedPercent} %, above ${percent} %`,
  paused_by_itself: ({ note, process, since, step }) => {
    const name = step === null ? `the process "${process}"` : `the step "${step}" of the process "${process}"`
    return `${name} was paused automatically at ${since}${note === null ? "" : `: ${note}`}`
  }
}

const sentenceOf = <T extends AlertRuleType>(type: T, found: Found<T>, rule: RuleOf<T>) => sentences[type](found, rule)

/** What a firing says: what this rule has found. */
export const sentence = (rule: AlertRule, found: Found) => sentenceOf(rule.type, found, rule)

/** The messages of one alert, over what its firing says. */
export const messages = {
  began: (name: string, message: string) => ({ title: name, text: `${message}.` }),
  repeated: (name: string, message: string, began: string) => ({
    title: `${name}: still firing`,
    text: `Firing since ${began}: ${message}.`
  }),
  over: (name: string, message: string, began: string) => ({
    title: `${name}: resolved`,
    text: `Resolved, fired since ${began}: ${message}.`
  }),
  test: (name: string) => ({ title: `${name}: test`, text: "This is a test message of the alert." })
} as const

const counted: Readonly<Record<AlertMessageKind, string>> = {
  began: "new",
  repeated: "still firing",
  over: "resolved",
  test: "tests"
}

/** What is sent: the message itself, or one for many, which says how many there are of each kind, and the first of them. */
export const gathered = ({
  alert,
  first,
  kinds,
  newest
}: Pick<ClaimedMessage, "alert" | "first" | "kinds" | "newest">): MessageText => {
  if (kinds.length === 1) return newest
  const counts = [...Map.groupBy(kinds, (kind) => kind)].map(([kind, { length }]) => `${length} ${counted[kind]}`)
  const title = `${alert}: ${counts.join(", ")}`
  const more = kinds.length - first.length
  const text = [...first.map((one) => `- ${one.text}`), ...(more > 0 ? [`and ${more} more.`] : [])].join("\n")
  const eventOf = ({ event }: MessageText): AlertEvent => JSON.parse(event)
  const firings = first.map(eventOf).flatMap(({ firing, type }) => (firing === null ? [] : [{ type, ...firing }]))
  const event: AlertEvent = { ...eventOf(newest), text: `${title}\n${text}`, count: kinds.length, firings }
  return { title, text, event: JSON.stringify(event) }
}
