/** `signalbox schedules`: when runs of processes start. */
import type { ScheduleInputs } from "@signalbox/api/Schedules"
import * as Schedules from "@signalbox/api/Schedules"
import { scheduleMissed, scheduleOverlaps } from "@signalbox/api/contract/Schedules"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import * as FlagValues from "../settings/FlagValues.ts"
import { type Columns, printFields, printList } from "../output/List.ts"
import { deleteCommand, find, limitFlag, listCommand, nameArgument, type Noun, showCommand } from "./Resource.ts"
import { processNoun } from "./Processes.ts"

const timesOf = ({ at, cron, every }: Schedules.ScheduleListed) =>
  cron ?? (every === null ? `at ${at}` : `every ${every}`)

export const scheduleNoun: Noun<Schedules.ScheduleListed> = {
  one: "schedule",
  many: "schedules",
  command: "schedules",
  list: () => Schedules.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    process: ({ process }) => process.name,
    times: timesOf,
    zone: ({ zone }) => zone,
    next: ({ next_at }) => next_at ?? "",
    paused: ({ paused }) => (paused === null ? "" : `by ${paused.by.name}: ${paused.note}`)
  },
  first: "create one with `signalbox schedules create`"
}

const scheduleArgument = nameArgument(scheduleNoun)

const times = {
  cron: FlagValues.text("cron", "Five fields, or six with seconds first, such as '30 2 * * mon-fri'", "EXPRESSION"),
  every: FlagValues.text("every", "How often, such as '90 minutes'", "DURATION"),
  at: FlagValues.text("at", "Once, such as 2026-12-01T08:00:00+01:00", "TIME"),
  zone: FlagValues.text("zone", "The IANA time zone, such as Europe/Vienna; default UTC", "ZONE"),
  from: FlagValues.text("from", "The first possible time, such as 2026-12-01T00:00:00Z", "TIME"),
  until: FlagValues.text("until", "The end: no runs from this time on", "TIME"),
  jitter: FlagValues.text("jitter", "The largest random delay of a start", "DURATION")
} as const

const policies = {
  overlap: Flag.Literals("overlap", scheduleOverlaps).pipe(
    Flag.withDescription("What to do while an earlier run has not ended; default skip"),
    Flag.optional
  ),
  missed: Flag.Literals("missed", scheduleMissed).pipe(
    Flag.withDescription("Which occurrences missed during an outage to start; default last"),
    Flag.optional
  )
} as const

const given = (flags: Readonly<Record<string, Option.Option<string>>>) =>
  Object.fromEntries(Object.entries(flags).flatMap(([name, flag]) => (Option.isSome(flag) ? [[name, flag.value]] : [])))

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the schedule")),
    process: Argument.String("process").pipe(Argument.withDescription("The name or id of a process")),
    payload: Flag.String("payload").pipe(
      Flag.withDescription("The JSON payload of a work item, with the time as {at}; may be repeated"),
      Flag.withSchema(Schema.fromJsonString(Schema.Json)),
      Flag.withMetavar("JSON"),
      Flag.atLeast(0)
    ),
    waiting: Flag.Boolean("waiting").pipe(
      Flag.withDescription("Start with the items that wait in the queue of the process"),
      Flag.withDefault(false)
    ),
    ...times,
    ...policies,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, missed, name, overlap, payload, process, waiting, ...flags }) {
    const { at, cron, every, from, jitter, until, zone } = flags
    const inputs: ScheduleInputs = waiting
      ? { type: "with_inputs" }
      : payload.length > 0
        ? { type: "with_payloads", payloads: payload }
        : { type: "default" }
    const program = Effect.flatMap(find(processNoun, process), ({ id }) =>
      Schedules.create({
        name,
        process: { id },
        ...given({ at, cron, every, from, jitter, until, zone }),
        ...defined({ overlap: Option.getOrUndefined(overlap), missed: Option.getOrUndefined(missed) }),
        inputs
      })
    )
    yield* printFields(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription("Creates a schedule that starts now"),
  Command.withExamples([
    {
      command: "signalbox schedules create nightly orders --cron '30 2 * * mon-fri' --zone Europe/Vienna",
      description: "Create a schedule with the default work item of the process"
    },
    {
      command: `signalbox schedules create hourly orders --every '1 hour' --payload '{"until":"{at}"}'`,
      description: "Create a schedule with the time in the payload"
    }
  ])
)

const pause = Command.make(
  "pause",
  {
    schedule: scheduleArgument,
    note: Flag.String("note").pipe(Flag.withDescription("The reason, stored with the skipped occurrences")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, note, schedule }) {
    const paused = Effect.flatMap(find(scheduleNoun, schedule), ({ id }) => Schedules.pause(id, note))
    yield* printFields(json, yield* connected(data)(paused))
  })
).pipe(
  Command.withDescription("Pauses a schedule until it is resumed; runs continue"),
  Command.withExamples([
    { command: "signalbox schedules pause nightly --note 'the ERP is down'", description: "Pause with a reason" }
  ])
)

const resume = Command.make(
  "resume",
  { schedule: scheduleArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, schedule }) {
    const resumed = Effect.flatMap(find(scheduleNoun, schedule), ({ id }) => Schedules.resume(id))
    yield* printFields(json, yield* connected(data)(resumed))
  })
).pipe(
  Command.withDescription("Resumes a schedule, from the next occurrence on"),
  Command.withExamples([{ command: "signalbox schedules resume nightly", description: "By its name" }])
)

const timeColumns: Columns<Schedules.ScheduleTime> = {
  at: ({ at }) => at,
  local: ({ local }) => local,
  starts: ({ starts_at }) => starts_at
}

const next = Command.make(
  "next",
  { schedule: scheduleArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, schedule }) {
    const found = Effect.flatMap(find(scheduleNoun, schedule), ({ id }) => Schedules.next(id))
    const none = "No occurrences: the schedule has ended"
    yield* printList(json, Stream.fromIterable(yield* connected(data)(found)), timeColumns, none)
  })
).pipe(
  Command.withDescription("Lists the next ten times of a schedule"),
  Command.withExamples([
    { command: "signalbox schedules next nightly", description: "List times in UTC and in the zone of the schedule" }
  ])
)

const occurrenceColumns: Columns<Schedules.ScheduleOccurrence> = {
  at: ({ at }) => at,
  outcome: ({ outcome, reason }) => reason ?? outcome,
  run: ({ process_run }) => process_run?.id ?? "",
  reason: ({ why }) => why ?? ""
}

const history = Command.make(
  "history",
  { schedule: scheduleArgument, limit: limitFlag, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, limit, schedule }) {
    const program = Effect.gen(function* () {
      const { id } = yield* find(scheduleNoun, schedule)
      const all = Schedules.occurrences(id, { limit: 100 })
      const found = Option.isNone(limit) ? all : Stream.take(all, limit.value)
      yield* printList(json, found, occurrenceColumns, "No occurrences yet; see `signalbox schedules next`")
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists the past occurrences of a schedule with the run, or the reason why none was started"),
  Command.withExamples([
    { command: "signalbox schedules history nightly --limit 20", description: "List the last 20 occurrences" }
  ])
)

export const schedules = Command.make("schedules").pipe(
  Command.withDescription("Lists, shows, creates, pauses, resumes and deletes schedules of processes"),
  Command.withSubcommands([
    listCommand(scheduleNoun),
    showCommand(scheduleNoun, ({ id }) => Schedules.get(id)),
    create,
    pause,
    resume,
    next,
    history,
    deleteCommand(scheduleNoun, ({ id }) => Schedules.remove(id))
  ])
)
