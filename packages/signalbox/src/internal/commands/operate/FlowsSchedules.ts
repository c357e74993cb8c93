/** `signalbox flows schedules`: operates the schedules of a program with durable flows. */
import { FlowManagementClient, onWire } from "@signalbox/flows/FlowManagementClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as FlagValues from "../../settings/FlagValues.ts"
import { print } from "../../connection/Connection.ts"
import { connected, flags } from "../../connection/FlowsConnection.ts"
import { scheduleReport, scheduleTable } from "../../output/FlowSchedulesReport.ts"

const name = Argument.String("schedule").pipe(Argument.withDescription("The name of a schedule"))

const list = Command.make("list", flags, ({ json, url }) =>
  connected(
    url,
    Effect.fnUntraced(function* ({ schedules }) {
      const all = yield* schedules.list
      if (!json) return yield* Console.log(all.length === 0 ? "No schedules" : scheduleTable(all))
      yield* Effect.forEach(all, (one) => Console.log(JSON.stringify(onWire.schedule(one))), { discard: true })
    })
  )
).pipe(
  Command.withDescription("Lists the schedules of the program with next time, running executions and problems"),
  Command.withExamples([
    { command: "signalbox flows schedules list", description: "List schedules with their next time" }
  ])
)

const show = Command.make("show", { name, ...flags }, ({ json, name, url }) =>
  connected(url, ({ schedules }) =>
    Effect.flatMap(schedules.get(name), (schedule) =>
      Console.log(json ? JSON.stringify(onWire.schedule(schedule)) : scheduleReport(schedule))
    )
  )
).pipe(
  Command.withDescription(
    "Shows a schedule with its definition, running and waiting executions, and the last 50 occurrences"
  ),
  Command.withExamples([{ command: "signalbox flows schedules show invoices", description: "Show one schedule" }])
)

type Schedules = FlowManagementClient["Service"]["schedules"]

/** A command for one schedule, and its output. */
const forOne = <A, E>(
  { json, name, url }: { readonly json: boolean; readonly name: string; readonly url: Option.Option<string> },
  said: string,
  use: (schedules: Schedules) => Effect.Effect<A, E>
) =>
  Effect.andThen(
    connected(url, ({ schedules }) => use(schedules)),
    print(json, { name }, () => `${name} ${said}`)
  )

const pause = Command.make(
  "pause",
  {
    name,
    note: Flag.String("note").pipe(
      Flag.withDescription("The reason, stored with the occurrences skipped during the pause")
    ),
    by: Flag.String("by").pipe(Flag.withDescription("Who pauses the schedule"), Flag.optional),
    ...flags
  },
  ({ by, note, ...given }) =>
    forOne(
      given,
      "paused: occurrences are skipped until the schedule is resumed; running executions continue",
      ({ pause }) => pause(given.name, note, Option.isSome(by) ? { by: by.value } : {})
    )
).pipe(
  Command.withDescription("Pauses a schedule until it is resumed"),
  Command.withExamples([
    {
      command: "signalbox flows schedules pause invoices --note 'the ERP is down' --by ann",
      description: "Pause with a reason"
    }
  ])
)

const resume = Command.make("resume", { name, ...flags }, (given) =>
  forOne(given, "resumed: occurrences from now on are started", ({ resume }) => resume(given.name))
).pipe(
  Command.withDescription("Resumes a paused schedule"),
  Command.withExamples([{ command: "signalbox flows schedules resume invoices", description: "Resume a schedule" }])
)

const remove = Command.make("remove", { name, ...flags }, (given) =>
  forOne(given, "removed; a program that still defines the schedule creates it again when it starts", ({ remove }) =>
    remove(given.name)
  )
).pipe(
  Command.withDescription(
    "Removes a schedule with its progress; started executions continue. A program that still defines the schedule creates it again when it starts"
  ),
  Command.withExamples([
    {
      command: "signalbox flows schedules remove invoices",
      description: "Remove a schedule that is no longer deployed"
    }
  ])
)

const said = {
  begins: "started",
  waits: "waiting for the running execution to end",
  skipped: "skipped"
} as const

const runNow = Command.make("run-now", { name, ...flags }, ({ json, name, url }) =>
  connected(url, ({ schedules }) =>
    Effect.flatMap(schedules.runNow(name), (decided) =>
      json
        ? Console.log(JSON.stringify(onWire.runNow(decided)))
        : Console.log(`${name} ${said[decided.outcome]}${decided.why === null ? "" : `: ${decided.why}`}`)
    )
  )
).pipe(
  Command.withDescription("Starts an execution now, even if the schedule is paused; the overlap policy applies"),
  Command.withExamples([{ command: "signalbox flows schedules run-now invoices", description: "Run once now" }])
)

const moment = (name: string, what: string) =>
  FlagValues.time(name).pipe(Flag.withDescription(`${what}, such as 2026-11-20T08:00:00Z`))

const backfill = Command.make(
  "backfill",
  {
    name,
    from: moment("from", "The first time that is included"),
    to: moment("to", "The end: the first time that is excluded, at most now"),
    ...flags
  },
  ({ from, json, name, to, url }) =>
    connected(url, ({ schedules }) =>
      Effect.flatMap(schedules.backfill(name, from.getTime(), to.getTime()), (asked) =>
        print(json, { name, asked }, () => `${name} backfills ${asked} missed occurrences`)
      )
    )
).pipe(
  Command.withDescription("Backfills the missed occurrences of a past period, one after another"),
  Command.withExamples([
    {
      command: "signalbox flows schedules backfill invoices --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z",
      description: "A week"
    }
  ])
)

export const schedules = Command.make("schedules").pipe(
  Command.withDescription("Lists, shows and manages the schedules of a program"),
  Command.withExamples([
    { command: "signalbox flows schedules list", description: "List schedules with their next time" },
    { command: "signalbox flows schedules pause invoices --note 'the ERP is down'", description: "Temporarily" }
  ]),
  Command.withSubcommands([list, show, pause, resume, runNow, backfill, remove])
)
