/**
 * Creates executions, and runs those that fit in memory immediately.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { FlowDraining, FlowExpired } from "../../FlowErrors.ts"
import { ofEngine } from "../journal/Calling.ts"
import type { Journal } from "../journal/Journal.ts"
import { hasEnded, type NewExecution, versionName } from "../model/Execution.ts"
import type { Ownership } from "../ownership/Ownership.ts"
import type { Activations } from "./Activations.ts"
import type { ClaimLoop } from "./ClaimLoop.ts"
import type { Metrics } from "./Metrics.ts"
import type { Queues } from "./Queues.ts"
import type { RegisteredFlows } from "./RegisteredFlows.ts"
import type { Watchers } from "./Watchers.ts"

/** When a row is read whose creation was not confirmed: a statement may arrive late. */
const adoptedAfter = ["0 seconds", "30 seconds", "2 minutes"] as const

interface Parts {
  readonly newId: () => string
  readonly journal: Journal["Service"]
  readonly ownership: Ownership["Service"]
  readonly metrics: Metrics
  readonly flows: RegisteredFlows
  readonly watchers: Watchers
  readonly queues: Queues
  readonly claims: ClaimLoop
  readonly activations: Activations
  /** That of the process, which outlives a call. */
  readonly scope: Scope.Scope
}

type Made = Omit<NewExecution, "id" | "owner" | "wakeAt" | "state" | "parent"> & { readonly parent?: string | null }

/** Returns the function that creates an execution, or joins the one with its key. */
export const make = ({
  activations,
  claims,
  flows,
  journal,
  metrics,
  newId,
  ownership,
  queues,
  scope,
  watchers
}: Parts) => {
  /** Runs an execution of this process whose creation was not confirmed, if it was created. */
  const adopt = (id: string) =>
    Effect.forEach(
      adoptedAfter,
      (pause) =>
        Effect.gen(function* () {
          yield* Effect.sleep(pause)
          const found = activations.isOpen() && !activations.has(id) ? yield* journal.find(id) : null
          const isMine = found !== null && found.owner === ownership.self() && !hasEnded(found.state)
          if (isMine && !activations.has(id)) yield* activations.start(found, false)
        }),
      { discard: true }
    )

  /** Whether this process drains the version, so that another one must take a new execution. A child belongs to what has begun. */
  const isDrained = (made: Made) => (made.parent ?? null) === null && flows.get(versionName(made))?.drain === true

  /** Fails when no living process takes a new execution of the version; one that exists is joined. */
  const taken = Effect.fnUntraced(function* ({ flow, key, version }: Made) {
    const processes = yield* journal.processes
    const isTaken = processes.some(({ flows }) =>
      flows.some((known) => known.flow === flow && known.version === version && known.drain !== true)
    )
    if (isTaken || (yield* journal.findKey(flow, key)) !== null) return
    return yield* new FlowDraining({ flow, version })
  })

  return Effect.fnUntraced(function* (made: Made) {
    const isQueued = made.limits.length > 0
    const drained = isDrained(made)
    if (drained) yield* taken(made)
    const isMine = !isQueued && !drained && flows.has(versionName(made)) && activations.hasRoom()
    const now = yield* journal.now
    const id = newId()
    const create = journal.create({
      parent: null,
      ...made,
      id,
      state: isQueued ? "queued" : "running",
      owner: isMine ? ownership.self() : null,
      wakeAt: isQueued ? null : now
    })
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const created = yield* Effect.onError(restore(create), () =>
          isMine ? Effect.forkIn(ofEngine(adopt(id)), scope) : Effect.void
        )
        if (created._tag === "Expired") {
          const { endedAt, id, state } = created.expired
          return yield* new FlowExpired({ execution: id, state, endedAt })
        }
        if (created._tag === "Created") {
          watchers.notify(created.execution.id)
          metrics.entered(made.flow, created.execution.state)
          if (isQueued) queues.changed(made.flow)
          if (isMine) yield* activations.start(created.execution, made.messages.length === 0)
          else if (isQueued) claims.wake()
          else claims.wakeFor(created.execution.id)
        }
        return created.execution
      })
    )
  })
}
