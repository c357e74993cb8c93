/**
 * Brings a workspace to what a process says.
 */
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { ProcessId } from "../../contract/Ids.ts"
import * as Processes from "../../Processes.ts"
import { names, refuseUnknown } from "../calls/Known.ts"
import { type Plan, type Prepared, prepare } from "./Plan.ts"
import type { Process } from "./Value.ts"

/**
 * Items wait for a step that the new definition removes, or have a payload that its first step does not accept. Nothing was
 * changed.
 */
export class WaitingItems extends TaggedError<WaitingItems>()("WaitingItems", {
  process: Schema.String,
  /** The first step as it is deployed. */
  step: Schema.NullOr(Schema.String),
  isRemoved: Schema.Boolean,
  /** How many items wait, up to 10,000. */
  count: Schema.Finite,
  /** Whether there are more than 10,000, which are too many to be deleted by a deployment. */
  hasMore: Schema.Boolean,
  unfit: Schema.Finite,
  next: Schema.String
}) {
  override get message(): string {
    const count = `${this.hasMore ? "more than " : ""}${this.count}`
    const why = this.isRemoved
      ? `${this.count === 1 ? "1 item waits" : `${count} items wait`} for the step "${this.step}", which is removed`
      : `the step "${this.next}" does not accept the payload of ${this.unfit} of ${count} waiting items`
    const remedy = this.hasMore ? "delete them before, with WorkItems.remove" : `waiting: "delete"`
    return `the process "${this.process}" was not deployed: ${why}; deploy with waiting: "keep" (they go to the step "${this.next}" as they are), or ${remedy}`
  }
}

export interface DeployOptions {
  /**
   * What happens to items that wait in the queue when their step is removed or the new first step does not accept their
   * payload. `"keep"`: they go to the new first step as they are; `"delete"`: they are deleted, which is irreversible;
   * default: the deployment fails with `WaitingItems`.
   */
  readonly waiting?: "keep" | "delete"
}

const deployOptions = names<DeployOptions>("option", { waiting: 1 })

export interface Deployed {
  readonly id: ProcessId
  /** What was done. */
  readonly plan: Plan
}

/**
 * Of concurrent deployments all but one have to plan again, each time; so has one whose items were taken by a run. Random waits
 * that do not grow let each of them come first soon; one that does not in a minute fails with the conflict.
 */
const untilFirst = Schedule.spaced("100 millis").pipe(
  Schedule.modifyDelay(({ duration }) => Effect.map(Random.next, (share) => Duration.times(duration, share))),
  Schedule.upTo({ duration: "1 minute" })
)

/** The waiting items that the deployment has to ask about. */
const affectedBy = ({ items, plan }: Prepared) => (plan.waiting.isRemoved ? items : items.filter(({ fits }) => !fits))

const applyPlan = Effect.fnUntraced(function* (prepared: Prepared, { waiting }: DeployOptions) {
  const { definition, deployed, plan } = prepared
  if (deployed === null) return (yield* Processes.create(definition)).id
  if (plan.action === "unchanged") return deployed.id
  const affected = affectedBy(prepared)
  if (affected.length > 0 && (waiting === undefined || (waiting === "delete" && plan.waiting.hasMore))) {
    const { count, hasMore, isRemoved, step, unfit } = plan.waiting
    const next = definition.steps[0]?.name ?? ""
    return yield* new WaitingItems({ process: plan.process, step, isRemoved, count, hasMore, unfit, next })
  }
  yield* Processes.update(deployed.id, {
    ...definition,
    revision: deployed.revision,
    // With the change, so that a deployment that fails or is cut off deletes all of them and changes the definition, or neither.
    ...defined({
      delete_work_items: waiting === "delete" && affected.length > 0 ? affected.map(({ id }) => id) : undefined
    })
  })
  return deployed.id
})

/** Plans and applies the plan; plans again when another deployment came first. */
export const deploy = Effect.fnUntraced(function* (process: Process, options: DeployOptions) {
  yield* refuseUnknown("Process.deploy", deployOptions, options)
  const attempt = Effect.gen(function* () {
    const prepared = yield* prepare(process)
    const deployed: Deployed = { id: yield* applyPlan(prepared, options), plan: prepared.plan }
    return deployed
  })
  return yield* Effect.retry(attempt, {
    schedule: untilFirst,
    while: (error) => error._tag === "Conflict"
  })
})
