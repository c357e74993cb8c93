/**
 * Reports what is missing when no worker can take a waiting step run (`NO_WORKER`).
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Changes } from "../store/room/Changes.ts"
import { Database } from "../store/database/Database.ts"
import { type PausedStepRuns, Pauses } from "../store/processes/Pauses.ts"
import { type Need, type Offer, Unassigned } from "../store/runs/Unassigned.ts"
import { lostAfter } from "../settings/Limits.ts"

/** How long a step run may be unassigned before it is reported, while workers are online that could be about to match. */
const gracePeriod = Duration.toMillis("10 seconds")

/** The same when something is paused or no worker is online: time alone changes nothing. */
const shortGracePeriod = Duration.toMillis("1 second")

/** How long workers that start together with the service have to register. */
const startPeriod = Duration.toMillis("3 seconds")

const takes =
  ({ task, taskPackage }: Need) =>
  ({ packages, tasks }: Offer) =>
    taskPackage === null ? tasks.includes(task) : packages

const quoted = (labels: ReadonlyArray<string>) => labels.map((label) => `"${label}"`).join(" and ")

/** The labels that no worker has; where each has some worker, that none has all. */
const lackOf = (unknown: ReadonlyArray<string>, wanted: ReadonlyArray<string>) =>
  unknown.length === 0
    ? `all of the labels ${quoted(wanted)}`
    : `the label${unknown.length === 1 ? "" : "s"} ${quoted(unknown)}`

const membersOf = ({ group }: Need, offers: ReadonlyArray<Offer>) =>
  group === null ? offers : offers.filter(({ groups }) => groups.includes(group.id))

/** Returns what is missing, and the remedy; null when a worker that is online matches. */
export const missing = (need: Need, offers: ReadonlyArray<Offer>): string | null => {
  const { group, labels, task, taskPackage } = need
  const members = membersOf(need, offers).filter(({ draining }) => draining !== true)
  const able = members.filter(takes(need))
  const fit = able.filter((offer) => labels.every((label) => offer.labels.includes(label)))
  if (fit.some(({ paused }) => paused !== true)) return null
  const what = taskPackage === null ? `the task "${task}"` : `the task "${task}" of the package "${taskPackage.name}"`
  const ofGroup = group === null ? "" : ` of the group "${group.name}"`
  if (fit.length > 0) {
    return `every worker${ofGroup} that is online and runs ${what} is paused; resume one with \`signalbox workers resume\``
  }
  if (members.length === 0) {
    const remedy =
      group === null ? "start one with `signalbox worker start`" : "start one of its workers, or add a worker to it"
    return `no worker${ofGroup} is online, and ${what} waits for one; ${remedy}`
  }
  if (able.length > 0) {
    const unknown = labels.filter((label) => !able.some((offer) => offer.labels.includes(label)))
    const flags = labels.map((label) => `--label ${label}`).join(" ")
    return `no worker${ofGroup} that is online and runs ${what} has ${lackOf(unknown, labels)}; start one with ${flags}`
  }
  return taskPackage === null
    ? `no worker${ofGroup} that is online has ${what}; start one with a tasks file that defines it`
    : `no worker${ofGroup} that is online runs task packages, and ${what} waits for one; start one that does`
}

const commands = { process: "processes", step: "processes", "worker group": "groups" } as const

/** Why step runs wait that a pause holds back, and the remedy. */
const reasonOf = ({ kind, name, paused: { by, note, since } }: PausedStepRuns) => {
  const who = by.name === null ? "" : ` by "${by.name}"`
  const why = note === null ? "" : `: ${note}`
  return `the ${kind} "${name}" has been paused since ${since}${who}${why}; resume it with \`signalbox ${commands[kind]} resume\``
}

export class UnassignedStepRuns extends Context.Service<
  UnassignedStepRuns,
  {
    /**
     * Reports each unassigned step run once. `upSince`: since when, in milliseconds since 1970, workers could send heartbeats; until
     * each had the time for one, all that are registered count as online.
     */
    readonly report: (upSince: number) => Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/UnassignedStepRuns") {
  static readonly layer = Layer.effect(
    UnassignedStepRuns,
    Effect.gen(function* () {
      const { millis } = yield* Database
      const pauses = yield* Pauses
      const changes = yield* Changes
      const waits = yield* Unassigned
      return UnassignedStepRuns.of({
        report: Effect.fn("UnassignedStepRuns.report")(function* (upSince: number) {
          const now = yield* millis
          const before = (period: number) => new Date(now - period).toISOString()
          const hasBeenUp = (period: number) => upSince <= now - period
          if (!hasBeenUp(startPeriod)) return
          const short = before(shortGracePeriod)
          const long = hasBeenUp(gracePeriod) ? before(gracePeriod) : null
          const lost = Duration.toMillis(lostAfter)
          const heardSince = before(hasBeenUp(lost) ? lost : now)
          // What a pause holds back is looked for among all that waits.
          const paused = (yield* pauses.count) === 0 ? [] : yield* pauses.untold(short)
          for (const waiting of paused) yield* pauses.tell(waiting, short, reasonOf(waiting))
          const byWorkspace = Map.groupBy(yield* waits.needs(short), ({ workspaceId }) => workspaceId)
          for (const [workspace, needs] of byWorkspace) {
            const offers = yield* waits.offers(workspace, heardSince)
            for (const need of needs) {
              const message = missing(need, offers)
              const cutoff = membersOf(need, offers).length === 0 ? short : long
              if (message === null || cutoff === null) continue
              if ((yield* waits.report(need, cutoff, message)) === 0) continue
              yield* changes.tell(workspace, () => [{ topic: "step_runs", id: null }])
            }
          }
        })
      })
    })
  ).pipe(Layer.provide(Unassigned.layer))
}
