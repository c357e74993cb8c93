/** What starts runs, and what is called about them: schedules, triggers and webhooks. All arrive off. */
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import type { Schedule } from "@signalbox/api/contract/Schedules"
import type { WebhookListed } from "@signalbox/api/contract/Webhooks"
import * as ScheduleList from "@signalbox/api/Schedules"
import * as TriggerList from "@signalbox/api/Triggers"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import * as Schedules from "../apply/Schedules.ts"
import type { Ids } from "../apply/Step.ts"
import * as Triggers from "../apply/Triggers.ts"
import * as Webhooks from "../apply/Webhooks.ts"
import * as Converted from "./Converted.ts"
import type { Gaps } from "./Gaps.ts"
import * as Parts from "./Parts.ts"
import type { IsThere } from "./Processes.ts"
import { Source } from "./Source.ts"
import type { ImportStep } from "./Step.ts"
import * as SwitchedOff from "./SwitchedOff.ts"

interface Context {
  readonly names: Converted.Names
  readonly ids: Ids
  readonly isProcess: IsThere
}

const processNeed = (name: string, { isProcess }: Context): Parts.Need => ({
  what: "process",
  name,
  isThere: isProcess(name)
})

export const schedules = Effect.fnUntraced(function* (all: ReadonlyArray<Schedule>, context: Context, gaps: Gaps) {
  for (const { masked, name } of all) gaps.addMasked("schedule", name, masked)
  const entries = all.map((one) => [one.name, Converted.schedule(one, context.names)] as const)
  const possible = Parts.withNeeds("schedule", entries, ([, { process }]) => [processNeed(process, context)], gaps)
  const wanted = (yield* Parts.accepted("schedule", "schedules", possible, gaps)) ?? {}
  const plan = (some: typeof wanted) => Schedules.plan(some, context.ids, SwitchedOff.schedules)
  const here = yield* Stream.runCollect(ScheduleList.stream({ limit: 500 }))
  const begun = new Set<string>(here.filter(({ at }) => at === SwitchedOff.never).map(({ name }) => name))
  const steps = (yield* Parts.stepsOf("schedule", wanted, plan, gaps)).map((step) =>
    step.action === "change" && begun.has(step.name) ? { ...step, action: "create" as const } : step
  )
  return SwitchedOff.written(steps, steps)
})

/** A secret that nobody knows, until somebody sets another one. */
const secretOf = (type: string | undefined) =>
  `${type === "standard_webhooks" ? "whsec_" : ""}${randomBytes(32).toString("base64")}`

export const triggers = Effect.fnUntraced(function* (all: ReadonlyArray<TriggerListed>, context: Context, gaps: Gaps) {
  const fs = yield* FileSystem.FileSystem
  const { newPath } = yield* Source
  const here = new Map((yield* Stream.runCollect(TriggerList.stream({ limit: 500 }))).map((one) => [one.name, one]))
  const entries = yield* Effect.forEach(all, (trigger) =>
    Effect.gen(function* () {
      const path = yield* newPath
      yield* Effect.orDie(fs.writeFileString(path, secretOf(trigger.webhook?.signature?.type), { mode: 0o600 }))
      return [trigger.name, Converted.trigger(trigger, context.names, path)] as const
    })
  )
  const possible = Parts.withNeeds("trigger", entries, ([, { process }]) => [processNeed(process, context)], gaps)
  const off = (yield* Parts.accepted("trigger", "triggers", possible, gaps)) ?? {}
  const asItIs = Object.fromEntries(
    Object.entries(off).map(([name, one]) => [name, { ...one, enabled: here.get(name)?.enabled ?? false }])
  )
  const plan = (some: typeof off) => Triggers.plan(some, context.ids, "", false)
  return SwitchedOff.written(
    yield* Parts.stepsOf("trigger", asItIs, plan, gaps),
    yield* Parts.stepsOf("trigger", off, plan, gaps)
  )
})

/** Webhooks have no names: those with the same endpoint and process become one with the events of all. */
export const webhooks = Effect.fnUntraced(function* (all: ReadonlyArray<WebhookListed>, context: Context, gaps: Gaps) {
  const kind = "webhook"
  const merged = new Map<string, { readonly endpoint: string; events: ReadonlyArray<string>; process?: string }>()
  for (const { enabled_events: events, endpoint, process } of all) {
    const name = process === null ? undefined : Converted.nameIn(context.names.processes, process.id)
    const label = name === undefined ? endpoint : `${endpoint} (${name})`
    const before = merged.get(label)
    merged.set(label, {
      endpoint,
      events: [...new Set([...(before?.events ?? []), ...events])],
      ...defined({ process: name })
    })
  }
  const steps: Array<ImportStep> = []
  const possible = Parts.withNeeds(
    kind,
    [...merged],
    ([, { process }]) => (process === undefined ? [] : [processNeed(process, context)]),
    gaps
  )
  const wanted = yield* Effect.forEach(possible, ([label, webhook]) =>
    Parts.acceptedList(kind, "webhooks", [[label, webhook]], gaps)
  )
  const asItIs = wanted.flat()
  const off = asItIs.map((webhook) => ({ ...webhook, enabled: false }))
  if (asItIs.length === 0) return steps
  return SwitchedOff.written(
    Parts.importSteps(yield* Webhooks.plan(asItIs, context.ids)),
    Parts.importSteps(yield* Webhooks.plan(off, context.ids))
  )
})
