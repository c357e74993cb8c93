/**
 * Creates executions, and runs those that fit in memory immediately.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { FlowDraining, FlowExpired } from "../../FlowErrors.ts"
import { ofEngine } from "../journal/Calling.ts"
import { compareTexts } from "../journal/Common.ts"
import type { Journal } from "../journal/Journal.ts"
import {
  type Debounce,
  type Execution,
  hasEnded,
  type NewExecution,
  type Times,
  versionName
} from "../model/Execution.ts"
import { immediately, timesAt, unbegunWake, type When } from "../model/When.ts"
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

export interface Made extends Omit<NewExecution, "id" | "owner" | "wakeAt" | "state" | "parent" | keyof Times> {
  readonly parent?: string | null
  readonly when?: When | undefined
}

/** Returns how an execution is before it begins. */
export const unbegun = ({ deadlineAt, startsAt }: Times, limits: NewExecution["limits"], now: number) => {
  const isQueued = limits.length > 0 || startsAt !== null
  return {
    state: isQueued ? "queued" : "running",
    wakeAt: isQueued ? unbegunWake({ deadlineAt, startsAt }) : now
  } as const
}

/** Returns the functions that create executions, or join those with their keys. */
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
  const isDrained = (made: Pick<Made, "flow" | "parent" | "version">) =>
    (made.parent ?? null) === null && flows.get(versionName(made))?.drain === true

  /** Whether a living process takes new executions of the version. */
  const isTaken = Effect.fnUntraced(function* ({ flow, version }: Pick<Made, "flow" | "version">) {
    const processes = yield* journal.processes
    return processes.some(({ flows }) =>
      flows.some((known) => known.flow === flow && known.version === version && known.drain !== true)
    )
  })

  /** Fails when no living process takes a new execution of the version; one that exists is joined. */
  const taken = Effect.fnUntraced(function* (made: Pick<Made, "flow" | "key" | "version">) {
    const { flow, key, version } = made
    if ((yield* isTaken(made)) || (yield* journal.findKey(flow, key)) !== null) return
    return yield* new FlowDraining({ flow, version })
  })

  const submit = Effect.fnUntraced(function* ({ when = immediately, ...made }: Made) {
    const drained = isDrained(made)
    if (drained) yield* taken(made)
    const now = yield* journal.now
    const times = timesAt(when, now)
    const row = unbegun(times, made.limits, now)
    const isInQueue = row.state === "queued" && times.startsAt === null
    const isMine = row.state === "running" && !drained && flows.has(versionName(made)) && activations.hasRoom()
    const id = newId()
    const create = journal.create({
      parent: null,
      ...made,
      ...times,
      ...row,
      id,
      owner: isMine ? ownership.self() : null
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
          if (isInQueue) queues.changed(made.flow)
          if (isMine) yield* activations.start(created.execution, made.messages.length === 0)
          else if (isInQueue) claims.wake()
          else claims.wakeFor(created.execution.id)
        }
        return created.execution
      })
    )
  })

  /** Called with executions that this process has created and does not run yet. */
  const created = (executions: ReadonlyArray<Execution>) => {
    for (const { flow, id, state } of executions) {
      watchers.notify(id)
      metrics.entered(flow, state)
      queues.changed(flow)
    }
    if (executions.length > 0) claims.wake()
  }

  return {
    submit,
    /** Whether no process would take a new execution: this one drains the version, and no other one runs it. */
    isRefused: (made: Pick<Made, "flow" | "version">) =>
      isDrained(made) ? Effect.map(isTaken(made), (taken) => !taken) : Effect.succeed(false),
    /** Creates executions of a flow in one transaction, or joins those with their keys; returns all in order. */
    submitMany: Effect.fnUntraced(function* (
      flow: string,
      all: ReadonlyArray<Omit<Made, "flow" | "when" | "messages">>,
      when: When
    ) {
      yield* Effect.forEach(all, (made) => (isDrained({ ...made, flow }) ? taken({ ...made, flow }) : Effect.void), {
        discard: true
      })
      const now = yield* journal.now
      const times = timesAt(when, now)
      // Those of one millisecond are queued in the order of their ids.
      const ids = all.map(newId).toSorted(compareTexts)
      const rows = all.map((made, n) => {
        const id = ids[n] ?? newId()
        return { parent: null, ...made, ...times, ...unbegun(times, made.limits, now), id }
      })
      const answer = yield* journal.createMany(flow, rows)
      if (answer._tag === "Expired") {
        const { endedAt, id, state } = answer.expired
        return yield* new FlowExpired({ execution: id, state, endedAt })
      }
      created(answer.created)
      return answer.executions
    }),
    /** Creates the execution of a burst of calls, or replaces what it is to do. */
    debounce: Effect.fnUntraced(function* (made: Omit<Made, "when" | "messages" | "key">, when: When, given: Debounce) {
      if (isDrained(made)) yield* taken({ ...made, key: given.key })
      const { deadlineAt, priority } = timesAt(when, yield* journal.now)
      const row = { parent: null, ...made, priority, deadlineAt, id: newId() }
      const { execution, isNew } = yield* journal.debounce(row, given)
      if (isNew) created([execution])
      else {
        watchers.notify(execution.id)
        claims.wake()
      }
      return execution
    })
  }
}
