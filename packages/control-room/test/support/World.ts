/**
 * A process with its queue and all its runs in memory: the expected result of each command, decided by the engine
 * without a database.
 */
import { type StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { BatchOperation } from "@signalbox/api/contract/WorkItems"
import * as Result from "effect/Result"
import * as Engine from "../../src/internal/engine/Engine.ts"
import type * as State from "../../src/internal/engine/State.ts"
import { Model } from "./Model.ts"

/** The result of a command: a code when it was refused. */
export type Prediction = "ok" | "nothing" | "CONFLICT" | "LEASE_LOST" | "NOT_FOUND"

interface Lease {
  readonly worker: number
  readonly until: number
  /** Which lease of the step run it is: an old one is refused. */
  readonly version: number
}

/** How a step run has settled an item. */
export interface AskSettled {
  readonly item: WorkItemId
  readonly attempt: number
  readonly exception: State.Exception | null
  readonly outputs: number
  readonly dropOutputs: boolean
}

/** What a step run has settled. */
export interface Ask {
  readonly id: StepRunId
  readonly version: number
  readonly settled: ReadonlyArray<AskSettled>
  readonly begun: Pick<AskSettled, "item" | "attempt"> | null
  /** How many items it wants ahead; null: it knows nothing of that. */
  readonly wanted: number | null
  readonly reserve: boolean
}

const leaseMillis = 30_000
const lostMillis = 10_000

export class World {
  clock: number
  readonly steps: ReadonlyArray<Partial<State.RunStep>>
  /** Items that are in no run. */
  readonly queue = new Set<WorkItemId>()
  readonly runs = new Map<string, Model>()
  readonly leases = new Map<StepRunId, Lease>()
  readonly workers: Array<{ seen: number; silent: boolean }>
  private ids = 0
  private versions = 0

  constructor(steps: ReadonlyArray<Partial<State.RunStep>>, workers: number, clock: number) {
    this.steps = steps
    this.clock = clock
    this.workers = Array.from({ length: workers }, () => ({ seen: clock, silent: false }))
  }

  private readonly nextId = (): string => String(++this.ids).padStart(8, "0")

  private newRun(items: number | ReadonlyArray<WorkItemId>): void {
    const id = this.nextId()
    this.runs.set(id, new Model(this.steps, items, { id, clock: this.clock, nextId: this.nextId }))
  }

  private commit(model: Model, decision: Result.Result<State.Outcome, State.Refusal>): Prediction {
    if (Result.isFailure(decision)) return decision.failure.code
    if (decision.success.changes.length > 0) model.commit(decision.success)
    return "ok"
  }

  runOf(stepRun: StepRunId): Model | undefined {
    return [...this.runs.values()].find((model) => model.stepRuns.has(stepRun))
  }

  runOfItem(item: WorkItemId): Model | undefined {
    return [...this.runs.values()].find((model) => model.items.has(item))
  }

  create(): Prediction {
    this.queue.add(WorkItemId.make(this.nextId()))
    return "ok"
  }

  startWith(items: number): Prediction {
    this.newRun(items)
    return "ok"
  }

  startTaking(items: ReadonlyArray<WorkItemId>): Prediction {
    if (new Set(items).size !== items.length) return "CONFLICT"
    if (items.length === 0) return "nothing"
    if (!items.every((item) => this.queue.has(item))) return "CONFLICT"
    for (const item of items) this.queue.delete(item)
    this.newRun(items.toSorted())
    return "ok"
  }

  startQueued(): Prediction {
    return this.startTaking([...this.queue])
  }

  /** The step runs that a worker leases, oldest first. */
  lease(worker: number, limit: number): ReadonlyArray<StepRunId> {
    const waiting = [...this.runs.values()].flatMap((model) =>
      model.live().flatMap(({ id, state }) => (state === "awaiting_worker" && !this.leases.has(id) ? [id] : []))
    )
    const taken = waiting.toSorted().slice(0, limit)
    for (const id of taken) {
      this.leases.set(id, { worker, until: this.clock + leaseMillis, version: ++this.versions })
      this.runOf(id)?.happened(id, "LEASED")
    }
    return taken
  }

  /** The step run of a lease, if the lease is still valid. */
  private leased(id: StepRunId, version: number) {
    const model = this.runOf(id)
    const stepRun = model?.stepRuns.get(id)
    if (model === undefined || stepRun === undefined) return "CONFLICT" as const
    return this.leases.get(id)?.version === version ? { model, stepRun } : ("LEASE_LOST" as const)
  }

  begin(id: StepRunId, version: number): Prediction {
    const found = this.leased(id, version)
    if (typeof found === "string") return found
    const { model, stepRun } = found
    if (stepRun.state === "in_progress") return "ok"
    return this.commit(model, Engine.startStepRun(model.run, stepRun, model.held(id), model.now))
  }

  reserve(id: StepRunId, version: number): Prediction {
    const found = this.leased(id, version)
    if (typeof found === "string") return found
    const { model, stepRun } = found
    const held = model.held(id)
    const next = held === null ? (model.due(stepRun.step)[0] ?? null) : null
    return this.commit(model, Engine.reserveNext(model.run, stepRun, held, next, model.now))
  }

  release(id: StepRunId, version: number, item: WorkItemId, exception: State.Exception | null): Prediction {
    const found = this.leased(id, version)
    if (typeof found === "string") return found
    const { model, stepRun } = found
    const known = model.items.get(item)
    if (known === undefined) return "NOT_FOUND"
    const outputs = model.outputsOf(id, item).held === 0 ? "none" : "some"
    return this.commit(model, Engine.release(model.run, stepRun, known, { exception, outputs }, model.now))
  }

  output(id: StepRunId, version: number, item: WorkItemId): Prediction {
    const found = this.leased(id, version)
    if (typeof found === "string") return found
    const { model, stepRun } = found
    const known = model.items.get(item)
    if (known === undefined) return "NOT_FOUND"
    if (stepRun.state !== "in_progress") return "LEASE_LOST"
    if (known.stepRun !== id || known.state !== "in_progress") return "CONFLICT"
    model.addOutput(id, item)
    model.happened(id, "OUTPUT_CREATED", item)
    return "ok"
  }

  /** What a step run settles and begins; a code when it is refused, in which case nothing has changed. */
  private report(model: Model, stepRun: State.StepRun, ask: Ask) {
    let { ahead, item } = model.hand(ask.id)
    let { run } = model
    const changes: Array<State.Change> = []
    const outputs: Array<WorkItemId> = []
    const reaches = ({ attempt, item: id }: Pick<AskSettled, "item" | "attempt">) => {
      if (item !== null) return item.id === id && item.attempts === attempt
      const next = ahead.find((one) => one.id === id && one.attempts + 1 === attempt)
      if (next === undefined) return false
      const begun = Engine.beginAhead(run, stepRun, next, model.now)
      ;({ item, run } = begun)
      changes.push(...begun.changes)
      ahead = ahead.filter((one) => one !== next)
      return true
    }
    const settledBefore = (id: WorkItemId) =>
      model.stepRuns
        .get(ask.id)
        ?.events.some(([type, of]) => (type === "ITEM_RELEASED" || type === "ITEM_FAILED") && of === id) === true
    for (const settled of ask.settled) {
      if (!reaches(settled) || item === null) {
        if (settledBefore(settled.item)) continue
        return "CONFLICT" as const
      }
      const made = settled.outputs + model.outputsOf(ask.id, settled.item).held
      const how = settled.dropOutputs ? "incomplete" : made === 0 ? "none" : "some"
      const released = Engine.release(run, stepRun, item, { exception: settled.exception, outputs: how }, model.now)
      if (Result.isFailure(released)) return released.failure.code
      if (!released.success.changes.some(({ _tag }) => _tag === "OutputsDropped")) {
        for (let n = 0; n < settled.outputs; n++) {
          outputs.push(settled.item)
          changes.push(Engine.outputCreated(ask.id, settled.item))
        }
      }
      run = released.success.run
      changes.push(...released.success.changes)
      item = null
    }
    if (ask.begun !== null && !reaches(ask.begun) && !settledBefore(ask.begun.item)) return "CONFLICT" as const
    return { run, changes, outputs }
  }

  /** Settles items of several step runs of one run: for each whether it is sent a reserved item, or the refusal. */
  next(asks: ReadonlyArray<Ask>): ReadonlyArray<Prediction> {
    const takers: Array<Ask> = []
    // The service creates the outputs of all before it writes what their releases change.
    const later: Array<() => void> = []
    const answers = asks.map((ask): Prediction | null => {
      const found = this.leased(ask.id, ask.version)
      if (typeof found === "string") return found
      const { model, stepRun } = found
      if (stepRun.state !== "in_progress") return "LEASE_LOST"
      const reported = this.report(model, stepRun, ask)
      if (typeof reported === "string") return reported
      const { changes, outputs, run } = reported
      for (const item of outputs) model.addOutput(ask.id, item)
      model.run = run
      later.push(() => model.write({ run: model.run, changes }))
      if (changes.length > 0) takers.push(ask)
      return null
    })
    for (const write of later) write()
    const [first] = takers
    const model = first === undefined ? undefined : this.runOf(first.id)
    if (model !== undefined) {
      this.take(model, takers)
      model.commit({ run: model.run, changes: [] })
    }
    return answers.map((answer, index) => {
      const ask = asks[index]
      if (answer !== null || ask === undefined) return answer ?? "nothing"
      return ask.begun !== null || this.runOf(ask.id)?.held(ask.id) === null ? "nothing" : "ok"
    })
  }

  /** Reserves the next items of these step runs, and gives items ahead. */
  private take(model: Model, takers: ReadonlyArray<Ask>): void {
    const stepOf = ({ id }: Ask) => model.stepRuns.get(id)?.step ?? 0
    for (const [step, of] of Map.groupBy(takers, stepOf)) {
      const stays = (ask: Ask) => ask.reserve && model.run.state === "in_progress"
      for (const ask of of) {
        const { ahead, item } = model.hand(ask.id)
        const stepRun = model.stepRuns.get(ask.id)
        if (item !== null || stepRun === undefined) continue
        const next = ahead[0] ?? model.due(step)[0]
        if (!stays(ask)) model.write(Engine.giveBack(model.run, ahead, model.now))
        else if (next !== undefined) model.write(Engine.beginAhead(model.run, stepRun, next, model.now))
      }
      const share = Engine.shareAhead(model.run, step)
      for (const ask of of) {
        const stepRun = model.stepRuns.get(ask.id)
        if (!stays(ask) || stepRun === undefined) continue
        const more = Math.max(0, Math.min(share, ask.wanted ?? 0) - model.hand(ask.id).ahead.length)
        model.write(Engine.giveAhead(model.run, stepRun, model.due(step).slice(0, more), model.now))
      }
    }
  }

  private finishIn(model: Model, id: StepRunId, error: Parameters<typeof Engine.finish>[4]): Prediction {
    const stepRun = model.stepRuns.get(id)
    if (stepRun === undefined) return "CONFLICT"
    const hand = model.hand(id)
    const outputs = model.outputsOf(id, hand.item?.id ?? null)
    return this.commit(model, Engine.finish(model.run, stepRun, hand, outputs, error, model.now))
  }

  finish(id: StepRunId, version: number, error: Parameters<typeof Engine.finish>[4]): Prediction {
    const found = this.leased(id, version)
    return typeof found === "string" ? found : this.finishIn(found.model, id, error)
  }

  stop(run: string, command: Engine.StopCommand): Prediction {
    const model = this.runs.get(run)
    if (model === undefined) return "nothing"
    const live = model.live().map((stepRun) => ({ stepRun, item: model.held(stepRun.id) }))
    const outcome = Engine.stop(model.run, live, command, model.now)
    if (outcome.run !== model.run) model.commit(outcome)
    return outcome.accepted ? "ok" : "nothing"
  }

  batch(operation: BatchOperation, items: ReadonlyArray<WorkItemId>): Prediction {
    const allowed = Engine.batchStates[operation]
    const from: ReadonlyArray<string> = allowed.from
    const already: ReadonlyArray<string> = allowed.already
    const states = items.map((item) => (this.queue.has(item) ? "new" : this.runOfItem(item)?.items.get(item)?.state))
    if (states.includes(undefined)) return "NOT_FOUND"
    if (!states.every((state) => state !== undefined && (from.includes(state) || already.includes(state)))) {
      return "CONFLICT"
    }
    const decisions = [...this.runs.values()].flatMap((model) => {
      const own = items.flatMap((item) => model.items.get(item) ?? []).filter((item) => from.includes(item.state))
      return own.length === 0 ? [] : [{ model, decision: Engine.batch(model.run, operation, own, model.now) }]
    })
    // Atomic: one run that refuses is enough.
    for (const { decision } of decisions) if (Result.isFailure(decision)) return decision.failure.code
    for (const { decision, model } of decisions) this.commit(model, decision)
    if (operation === "delete") for (const item of items) this.queue.delete(item)
    return "ok"
  }

  remove(run: string): Prediction {
    const model = this.runs.get(run)
    if (model === undefined) return "CONFLICT"
    if (model.run.state !== "completed" && model.run.state !== "unresolved") return "CONFLICT"
    this.runs.delete(run)
    return "ok"
  }

  /** Advances time and handles everything due. */
  pass(millis: number): void {
    this.clock += millis
    for (const worker of this.workers) if (!worker.silent) worker.seen = this.clock
    const models = [...this.runs.values()]
    for (const model of models) model.clock = this.clock
    const of = (state: string) =>
      models.flatMap((model) =>
        model.live().flatMap((stepRun) => (stepRun.state === state ? [{ model, stepRun }] : []))
      )
    for (const { stepRun } of of("awaiting_worker")) {
      if ((this.leases.get(stepRun.id)?.until ?? Infinity) < this.clock) this.leases.delete(stepRun.id)
    }
    for (const { model, stepRun } of of("in_progress")) {
      const worker = this.workers[this.leases.get(stepRun.id)?.worker ?? -1]
      if (worker !== undefined && worker.seen < this.clock - lostMillis) {
        this.finishIn(model, stepRun.id, {
          code: "WORKER_LOST",
          message: "the worker has sent no heartbeat in time"
        })
      }
    }
    for (const { model, stepRun } of of("in_progress")) {
      if (stepRun.timeoutAt !== null && stepRun.timeoutAt < model.now) {
        this.finishIn(model, stepRun.id, {
          code: "TIMEOUT",
          message: "the step run exceeded the time limit of its step"
        })
      }
    }
    for (const model of models) {
      const due = [...model.items.values()].some(
        ({ notBefore, state, stepRun }) =>
          state === "pending" && stepRun === null && notBefore !== null && notBefore <= model.now
      )
      if (due) model.commit({ run: model.run, changes: [] })
    }
  }
}
