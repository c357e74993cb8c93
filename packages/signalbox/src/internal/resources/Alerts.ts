/** `signalbox alerts`: what is watched, and what was found. */
import {
  AlertDefinition,
  alertRules,
  type AlertRuleType,
  alertRuleTypes,
  firingStates
} from "@signalbox/api/contract/Alerts"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import type { CallError } from "@signalbox/api/ControlRoomError"
import * as Alerts from "@signalbox/api/Alerts"
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { type Columns, printFields, printList } from "../output/List.ts"
import { alertChannelNoun } from "./AlertChannels.ts"
import { groupNoun } from "./WorkerGroups.ts"
import {
  deleteCommand,
  find,
  findAll,
  limitFlag,
  listCommand,
  type NameError,
  nameArgument,
  type Noun,
  showCommand
} from "./Resource.ts"
import { processNoun } from "./Processes.ts"
import { scheduleNoun } from "./Schedules.ts"
import { webhookNoun } from "./Webhooks.ts"
import * as FlagValues from "../settings/FlagValues.ts"

/** The flags do not describe an alert. */
export class AlertFlagError extends TaggedError<AlertFlagError>()("AlertFlagError", {
  message: Schema.String
}) {}

export const alertNoun: Noun<Alerts.Alert> = {
  one: "alert",
  many: "alerts",
  command: "alerts",
  list: () => Alerts.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    rule: ({ rule }) => rule.type,
    enabled: ({ enabled }) => (enabled ? "yes" : "no"),
    channels: ({ channels }) => channels.map(({ name }) => name).join(" "),
    firing: ({ firing }) => String(firing),
    "muted until": ({ muted }) => muted?.until ?? ""
  },
  first: "create one with `signalbox alerts create`"
}

const alertArgument = nameArgument(alertNoun)

type Found = Effect.Effect<{ readonly id: string }, CallError | NameError, ControlRoom>

/** Parameters of rules that name something. */
const named: Readonly<Record<string, (name: string) => Found>> = {
  process: (name) => find(processNoun, name),
  worker_group: (name) => find(groupNoun, name),
  schedule: (name) => find(scheduleNoun, name),
  webhook: (name) => find(webhookNoun, name)
}

const hoursPattern = /^(\S+) (\d\d:\d\d)-(\d\d:\d\d)(?: ([a-z,]+))?$/

/** Hours as one text, such as `Europe/Vienna 08:00-18:00 mon,tue`. */
const hoursOf = (flag: string, text: string) => {
  const [, zone, from, to, weekdays] = hoursPattern.exec(text) ?? []
  return zone === undefined
    ? Effect.fail(
        new AlertFlagError({
          message: `--${flag}: Expected a time zone, hours and optional days, such as "Europe/Vienna 08:00-18:00 mon,tue,wed"`
        })
      )
    : Effect.succeed({ zone, from, to, ...defined({ weekdays: weekdays?.split(",") }) })
}

/** One parameter of a rule from `NAME=VALUE`. */
const parameter = Effect.fnUntraced(function* (text: string) {
  const at = text.indexOf("=")
  if (at < 1) {
    return yield* new AlertFlagError({ message: `--set ${text}: Expected NAME=VALUE, such as seconds=600` })
  }
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  const lookUp = named[name]
  if (lookUp !== undefined) return [name, { id: (yield* lookUp(value)).id }] as const
  if (name === "hours") return [name, yield* hoursOf("set hours", value)] as const
  if (name === "grows") {
    const [items, within_seconds] = value.split("/").map(Number)
    return [name, { items, within_seconds }] as const
  }
  return [name, Number(value)] as const
})

/** When an alert with the rule finds something. */
const ruleMeanings: Readonly<Record<AlertRuleType, string>> = {
  run_unresolved: "a run ended as unresolved",
  failure_group: "a new group of failures, or one that grew by a number of items in a number of seconds",
  nothing_completed: "no run of the process completed for a number of seconds, within the hours",
  item_waits: "an item has waited for a number of seconds",
  no_worker: "no worker, or none of the group, was online for a number of seconds",
  schedule_missed: "an occurrence of a schedule started no run",
  deliveries_fail: "the last attempts (default 3) of a webhook's delivery failed",
  queue_above: "more than a number of items of a process are waiting",
  disk_above: "the disk usage of a node is above a percentage",
  paused_by_itself: "a process or step was paused after consecutive failures"
}

/** The parameters of a rule; those in brackets can be left out. */
const parametersOf = (type: AlertRuleType): string =>
  Object.entries(alertRules[type])
    .map(([name, { ast }]) => (SchemaAST.isOptional(ast) ? `[${name}]` : name))
    .join(", ")

const ruleLines = alertRuleTypes
  .map((type) => `  ${type.padEnd(18)} ${ruleMeanings[type]}\n  ${"".padEnd(18)} --set ${parametersOf(type)}`)
  .join("\n")

const decodeDefinition = Schema.decodeUnknownEffect(AlertDefinition, { onExcessProperty: "error" })

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the alert")),
    rule: Argument.Literals("rule", alertRuleTypes).pipe(Argument.withDescription("The condition of the alert")),
    set: Flag.String("set").pipe(
      Flag.withDescription(
        "A parameter of the rule: process, worker_group, schedule, webhook, seconds, items, attempts, percent, hours, grows=ITEMS/SECONDS"
      ),
      Flag.withMetavar("NAME=VALUE"),
      Flag.atLeast(0)
    ),
    channel: Flag.String("channel").pipe(
      Flag.withDescription("A channel to notify, by name or id; may be repeated"),
      Flag.withMetavar("CHANNEL"),
      Flag.atLeast(1)
    ),
    repeat: FlagValues.whole("repeat-seconds", 60, 366 * 24 * 3600).pipe(
      Flag.withDescription("The repeat interval while firing; default: no repeats"),
      Flag.optional
    ),
    gather: FlagValues.whole("gather-seconds", 0, 24 * 3600).pipe(
      Flag.withDescription("The grouping interval: one message per channel in this time; default: 300"),
      Flag.optional
    ),
    quiet: Flag.String("quiet").pipe(
      Flag.withDescription('Hours without messages, such as "Europe/Vienna 22:00-07:00"'),
      Flag.withMetavar("HOURS"),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ channel, data, gather, json, name, quiet, repeat, rule, set }) {
    const program = Effect.gen(function* () {
      const channels = yield* findAll(alertChannelNoun, channel)
      const definition = {
        name,
        rule: { type: rule, ...Object.fromEntries(yield* Effect.forEach(set, parameter)) },
        channels: channels.map(({ id }) => ({ id })),
        ...defined({
          repeat_seconds: Option.getOrUndefined(repeat),
          gather_seconds: Option.getOrUndefined(gather),
          quiet: Option.isNone(quiet) ? undefined : yield* hoursOf("quiet", quiet.value)
        })
      }
      return yield* Alerts.create(
        yield* Effect.mapError(
          decodeDefinition(definition),
          ({ message }) => new AlertFlagError({ message: `an alert with the rule ${rule}: ${message}` })
        )
      )
    })
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription(
    `Creates an alert. The rules with their parameters, optional ones in brackets:\n\n${ruleLines}`
  ),
  Command.withShortDescription("Creates an alert"),
  Command.withExamples([
    {
      command: "signalbox alerts create failed run_unresolved --set process=orders --channel team",
      description: "Notify when a run ended as unresolved"
    },
    {
      command:
        'signalbox alerts create quiet nothing_completed --set process=orders --set seconds=14400 --set "hours=Europe/Vienna 08:00-18:00 mon,tue,wed,thu,fri" --channel team',
      description: "Notify when no run completed in four business hours"
    }
  ])
)

const messageColumns: Columns<Alerts.AlertMessage> = {
  channel: ({ channel }) => channel.name,
  kind: ({ kind }) => kind,
  state: ({ state }) => state,
  attempts: ({ attempts }) => String(attempts),
  error: ({ error }) => error ?? ""
}

/** How long a test waits for the first attempts. */
const testTime = "30 seconds"

const test = Command.make(
  "test",
  { alert: alertArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ alert, data, json }) {
    const program = Effect.gen(function* () {
      const { id } = yield* find(alertNoun, alert)
      const sent = new Set((yield* Alerts.test(id)).messages.map((message) => message.id))
      const attempted = Effect.map(Stream.runCollect(Stream.take(Alerts.messages(id), 500)), (all) =>
        all.filter((message) => sent.has(message.id))
      )
      const settled = Effect.repeat(Effect.delay(attempted, "250 millis"), {
        until: (all) => all.every(({ attempts }) => attempts > 0)
      })
      return yield* Effect.timeoutOrElse(settled, { duration: testTime, orElse: () => attempted })
    })
    const messages = Stream.fromIterableEffect(program)
    yield* connected(data)(printList(json, messages, messageColumns, "The alert has no channels"))
  })
).pipe(
  Command.withDescription("Sends a test message to each channel of an alert, and prints the results"),
  Command.withExamples([{ command: "signalbox alerts test failed", description: "Test the channels of an alert" }])
)

const firingColumns: Columns<Alerts.AlertFiring> = {
  alert: ({ alert }) => alert.name,
  state: ({ state }) => state,
  "began at": ({ began_at }) => began_at,
  "ended at": ({ ended_at }) => ended_at ?? "",
  message: ({ message }) => message,
  error: ({ last_error }) => last_error ?? ""
}

const firings = Command.make(
  "firings",
  {
    alert: Flag.String("alert").pipe(Flag.withDescription("Only of this alert, by name or id"), Flag.optional),
    state: Flag.Literals("state", firingStates).pipe(Flag.withDescription("Only in this state"), Flag.optional),
    limit: limitFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ alert, data, json, limit, state }) {
    const all = Stream.unwrap(
      Effect.gen(function* () {
        const only = Option.isNone(alert) ? {} : { alert: (yield* find(alertNoun, alert.value)).id }
        return Alerts.firings({ limit: 500, ...only, state: Option.getOrUndefined(state) })
      })
    )
    const found = Option.isSome(limit) ? Stream.take(all, limit.value) : all
    yield* connected(data)(printList(json, found, firingColumns, "No matching firings"))
  })
).pipe(
  Command.withDescription("Lists the firings of alerts, newest first"),
  Command.withExamples([
    { command: "signalbox alerts firings --state firing", description: "List current firings" },
    { command: "signalbox alerts firings --alert failed --json", description: "Print one line of JSON for each firing" }
  ])
)

const mute = Command.make(
  "mute",
  {
    alert: alertArgument,
    for: Flag.String("for").pipe(
      Flag.withDescription('How long, such as "2 hours"'),
      Flag.withMetavar("DURATION"),
      Flag.withSchema(FlagValues.Length)
    ),
    note: Flag.String("note").pipe(Flag.withDescription("Why"), Flag.optional),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ alert, data, for: duration, json, note }) {
    const program = Effect.gen(function* () {
      const { id } = yield* find(alertNoun, alert)
      const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(duration)
      return yield* Alerts.mute(id, { until, note: Option.getOrUndefined(note) })
    })
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription("Mutes an alert for a time"),
  Command.withExamples([
    {
      command: 'signalbox alerts mute failed --for "2 hours" --note "the bank is down"',
      description: "Mute an alert for two hours, with a note"
    }
  ])
)

const unmute = Command.make(
  "unmute",
  { alert: alertArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ alert, data, json }) {
    const program = Effect.flatMap(find(alertNoun, alert), ({ id }) => Alerts.unmute(id))
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription("Unmutes an alert"),
  Command.withExamples([{ command: "signalbox alerts unmute failed", description: "Unmute an alert" }])
)

export const alerts = Command.make("alerts").pipe(
  Command.withDescription("Lists, shows, creates, tests, mutes and deletes alerts, and lists firings"),
  Command.withSubcommands([
    listCommand(alertNoun),
    showCommand(alertNoun, ({ id }) => Alerts.get(id)),
    create,
    test,
    firings,
    mute,
    unmute,
    deleteCommand(alertNoun, ({ id }) => Alerts.remove(id))
  ])
)
