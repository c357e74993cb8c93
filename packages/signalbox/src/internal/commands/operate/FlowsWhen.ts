/** The flags that say when an execution starts, in which order, and until when. */
import { defined } from "@signalbox/transport/Defined"
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"
import * as FlagValues from "../../settings/FlagValues.ts"

const length = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}, such as "10 minutes"`),
    Flag.withMetavar("LENGTH"),
    Flag.withSchema(FlagValues.Length),
    Flag.optional
  )

export const whenFlags = {
  at: FlagValues.time("at").pipe(Flag.withDescription("When it starts, such as 2026-11-20T08:00:00Z"), Flag.optional),
  after: length("after", "How long from now it starts"),
  priority: FlagValues.whole("priority", -1_000, 1_000).pipe(
    Flag.withDescription("-1000 to 1000; of those that wait for the limits of the flow, the larger ones begin first"),
    Flag.optional
  ),
  deadline: length("deadline", "How long it may take, waiting included")
}

interface GivenWhen {
  readonly at: Option.Option<Date>
  readonly after: Option.Option<Duration.Duration>
  readonly priority: Option.Option<number>
  readonly deadline: Option.Option<Duration.Duration>
}

/** Returns what the flags say; without members when none is given. */
export const whenOf = ({ after, at, deadline, priority }: GivenWhen) =>
  defined({
    at: Option.getOrUndefined(at),
    after: Option.getOrUndefined(after),
    priority: Option.getOrUndefined(priority),
    deadline: Option.getOrUndefined(deadline)
  })
