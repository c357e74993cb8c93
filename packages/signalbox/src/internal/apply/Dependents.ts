/**
 * Resources that are deleted with a process, or mean nothing without it, in sections that the file does not have.
 * Those of the other sections are among what these delete themselves.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as Alerts from "@signalbox/api/Alerts"
import * as Schedules from "@signalbox/api/Schedules"
import * as Triggers from "@signalbox/api/Triggers"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Document } from "./Document.ts"
import type { Step } from "./Step.ts"

/** Something depends on a process that would be deleted; nothing was changed. */
export class DependentsRemain extends TaggedError<DependentsRemain>()("DependentsRemain", { message: Schema.String }) {}

type Key = "webhooks" | "schedules" | "triggers" | "alerts"

/** Steps that delete them, by the section that the file lacks. */
export type Dependents = Readonly<Record<Key, ReadonlyArray<Step>>>

export const none: Dependents = { webhooks: [], schedules: [], triggers: [], alerts: [] }

const all = { limit: 500 }

/** The ids that a rule names, whichever parameter has them. */
const idsOf = (rule: Alerts.Alert["rule"]): ReadonlyArray<string> =>
  Object.values(rule).flatMap((value) => (typeof value === "object" && "id" in value ? [value.id] : []))

/** Reads what depends on processes that are deleted, by their ids. */
export const of = Effect.fn("apply.dependents")(function* (
  processes: ReadonlyMap<ProcessId, string>,
  document: Document
) {
  if (processes.size === 0) return none
  const gone = new Map<string, string>([...processes].map(([id, name]) => [id, `process ${name}`]))
  /** A part that the file has says itself what is deleted. */
  const absent = <A, E, R>(key: Key, stream: Stream.Stream<A, E, R>) =>
    document[key] === undefined ? Stream.runCollect(stream) : Effect.succeed<ReadonlyArray<A>>([])
  const ofProcess = <A extends { readonly id: string; readonly process?: { readonly id: ProcessId } | null }>(
    listed: ReadonlyArray<A>,
    toStep: (found: A, process: string) => Step
  ) =>
    listed.flatMap((found) => {
      const process = found.process && processes.get(found.process.id)
      if (process === undefined || process === null) return []
      const step = toStep(found, process)
      gone.set(found.id, `${step.kind} ${step.name}`)
      return [step]
    })

  const webhooks = ofProcess(yield* absent("webhooks", Webhooks.stream(all)), ({ endpoint, id }, process) =>
    removal("webhook", `${endpoint} (${process})`, `of process ${process}`, Webhooks.remove(id))
  )
  const schedules = ofProcess(yield* absent("schedules", Schedules.stream(all)), ({ id, name }, process) =>
    removal("schedule", name, `of process ${process}`, Schedules.remove(id))
  )
  const triggers = ofProcess(yield* absent("triggers", Triggers.stream(all)), ({ id, name, webhook }, process) =>
    removal(
      "trigger",
      name,
      `of process ${process}${webhook === null ? "" : ", has an address that other systems may call"}`,
      Triggers.remove(id)
    )
  )
  const alerts = (yield* absent("alerts", Alerts.stream(all))).flatMap(({ id, name, rule }) => {
    const named = idsOf(rule).flatMap((id) => gone.get(id) ?? [])
    return named.length === 0 ? [] : [removal("alert", name, `its rule names ${named.join(", ")}`, Alerts.remove(id))]
  })
  const dependents: Dependents = { webhooks, schedules, triggers, alerts }
  return dependents
})

const removal = (kind: Step["kind"], name: string, detail: string, run: Step["run"]): Step => ({
  kind,
  name,
  action: "delete",
  detail,
  run
})

/** Each with what one should know before it is deleted. */
export const listOf = (dependents: Dependents): string =>
  Object.values(dependents)
    .flat()
    .map(({ detail, kind, name }) => `${kind} ${name} (${detail})`)
    .join(", ")

/** Fails unless there are none. */
export const refuse = (dependents: Dependents) => {
  const list = listOf(dependents)
  return list === ""
    ? Effect.void
    : Effect.fail(
        new DependentsRemain({
          message: `--prune would delete processes used by resources in sections that the file does not have: ${list}; add --with-dependents to delete these too, or add the processes to the file`
        })
      )
}
