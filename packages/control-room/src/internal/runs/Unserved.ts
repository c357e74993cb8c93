/**
 * Says of step runs that wait in vain what it is that is missing.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../store/Database.ts"
import { type Need, type Offer, Waits } from "../store/Waits.ts"

/** A step run that no worker could take for this long is told so. */
const patience = Duration.seconds(10)

const takes =
  ({ task, taskPackage }: Need) =>
  ({ packages, tasks }: Offer) =>
    taskPackage === null ? tasks.includes(task) : packages

/** What is missing, and the remedy; null when a worker that is there could take it. */
export const missing = (need: Need, offers: ReadonlyArray<Offer>): string | null => {
  const { group, task, taskPackage } = need
  const members = group === null ? offers : offers.filter(({ groups }) => groups.includes(group.id))
  if (members.some(takes(need))) return null
  const what = taskPackage === null ? `the task "${task}"` : `the task "${task}" of the package "${taskPackage.name}"`
  const ofGroup = group === null ? "" : ` of the group "${group.name}"`
  if (members.length === 0) {
    const remedy =
      group === null ? "start one with `signalbox worker start`" : "start one of its workers, or add a worker to it"
    return `no worker${ofGroup} is online, and ${what} waits for one; ${remedy}`
  }
  return taskPackage === null
    ? `no worker${ofGroup} that is online brings ${what}; start one with a tasks file that has it`
    : `no worker${ofGroup} that is online runs task packages, and ${what} waits for one; start one that does`
}

export class Unserved extends Context.Service<
  Unserved,
  {
    /** One look for step runs that no worker could take; `heardSince`: workers heard of since then are there. */
    readonly look: (heardSince: string) => Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/Unserved") {
  static readonly layer = Layer.effect(
    Unserved,
    Effect.gen(function* () {
      const { millis } = yield* Database
      const waits = yield* Waits
      return Unserved.of({
        look: Effect.fn("Unserved.look")(function* (heardSince: string) {
          const cutoff = new Date((yield* millis) - Duration.toMillis(patience)).toISOString()
          const byWorkspace = Map.groupBy(yield* waits.needs(cutoff), ({ workspaceId }) => workspaceId)
          for (const [workspace, needs] of byWorkspace) {
            const offers = yield* waits.offers(workspace, heardSince)
            for (const need of needs) {
              const message = missing(need, offers)
              if (message !== null) yield* waits.tell(need, cutoff, message)
            }
          }
        })
      })
    })
  ).pipe(Layer.provide(Waits.layer))
}
