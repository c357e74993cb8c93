/** The flags by which `signalbox flows` chooses executions. */
import { deploymentHalts, type Filter, states } from "@signalbox/flows/FlowExecutions"
import { defined } from "@signalbox/transport/Defined"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as FlagValues from "../../settings/FlagValues.ts"

export const execution = Argument.String("execution").pipe(Argument.withDescription("The id of an execution"))

const only = (name: string, what: string) =>
  Flag.String(name).pipe(Flag.withDescription(`Only executions ${what}`), Flag.optional)
const when = (name: string, what: string) =>
  FlagValues.time(name).pipe(
    Flag.withDescription(`Only executions that began ${what}, such as 2026-11-20T08:00:00Z`),
    Flag.optional
  )

/** The flags of a filter. */
export const filterFlags = {
  flow: only("flow", "of this flow"),
  version: Flag.Finite("flow-version").pipe(Flag.withDescription("Only executions of this version"), Flag.optional),
  key: only("key", "with this idempotency key"),
  state: Flag.Literals("state", states).pipe(Flag.withDescription("Only executions in this state"), Flag.optional),
  tag: only("tag", "with this tag"),
  halt: only("halt", "that halted with this code, such as STEPS_CHANGED"),
  haltedByDeployment: Flag.Boolean("halted-by-deployment").pipe(
    Flag.withDescription("Only executions that halted because of a deployment: their code or its record did not fit"),
    Flag.withDefault(false)
  ),
  haltedFrom: FlagValues.time("since").pipe(
    Flag.withDescription("Only executions that halted at this time or later, such as 2026-11-20T08:00:00Z"),
    Flag.optional
  ),
  startedFrom: when("started-from", "at this time or later"),
  startedBefore: when("started-before", "before this time")
}

export interface GivenFilter {
  readonly flow: Option.Option<string>
  readonly version: Option.Option<number>
  readonly key: Option.Option<string>
  readonly state: Option.Option<(typeof states)[number]>
  readonly tag: Option.Option<string>
  readonly halt: Option.Option<string>
  readonly haltedByDeployment: boolean
  readonly haltedFrom: Option.Option<Date>
  readonly startedFrom: Option.Option<Date>
  readonly startedBefore: Option.Option<Date>
}

/** Returns the filter of the flags; without members when none is given. */
export const filterOf = (given: GivenFilter): Filter =>
  defined({
    flow: Option.getOrUndefined(given.flow),
    version: Option.getOrUndefined(given.version),
    key: Option.getOrUndefined(given.key),
    state: Option.getOrUndefined(given.state),
    tag: Option.getOrUndefined(given.tag),
    halt: given.haltedByDeployment ? deploymentHalts : Option.getOrUndefined(given.halt),
    haltedFrom: Option.getOrUndefined(given.haltedFrom)?.getTime(),
    startedFrom: Option.getOrUndefined(given.startedFrom)?.getTime(),
    startedBefore: Option.getOrUndefined(given.startedBefore)?.getTime()
  })
