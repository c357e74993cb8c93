/**
 * The rows of one run in memory: applies the changes of the engine as the repositories do, and recounts.
 */
import { ProcessId, ProcessRunId, StepId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Engine from "../../src/internal/engine/Engine.ts"
import type * as State from "../../src/internal/engine/State.ts"

export interface ModelItem extends State.Item {
  readonly notBefore: string | null
  readonly exception: State.Exception | null
  readonly stateUpdatedAt: string
  /** The item whose output it was. */
  readonly parent: WorkItemId | null
}

interface ModelStepRun extends State.StepRun {
  readonly stopRequested: boolean
  readonly error: string | null
  readonly timeoutAt: string | null
  /** Its events, each with its item. */
  readonly events: ReadonlyArray<readonly [type: string, item: WorkItemId | null]>
}

interface ModelOutput {
  readonly id: WorkItemId
  readonly stepRun: StepRunId
  readonly parent: WorkItemId
}

export const startTime = Date.parse("2026-01-01T00:00:00.000Z")

export const newRun = (steps: ReadonlyArray<Partial<State.RunStep>>, items: number, id = "run") =>
  Engine.begin(
    {
      id: ProcessRunId.make(id),
      workspaceId: WorkspaceId.make("workspace"),
      processId: ProcessId.make("process"),
      steps: steps.map((step, index) => ({
        id: StepId.make(`step-${index}`),
        name: `step ${index}`,
        task: { name: `task ${index}` },
        ...step
      }))
    },
    items
  )

export class Model {
  run: State.Run
  clock = startTime
  readonly items = new Map<WorkItemId, ModelItem>()
  readonly stepRuns = new Map<StepRunId, ModelStepRun>()
  readonly outputs = new Map<WorkItemId, ModelOutput>()
  readonly released: Array<ModelOutput> = []
  readonly notified: Array<State.Notification["action"]> = []
  private ids = 0
  private readonly nextId: () => string

  /** `items`: how many new ones, or which of the waiting ones. */
  constructor(
    steps: ReadonlyArray<Partial<State.RunStep>>,
    items: number | ReadonlyArray<WorkItemId>,
    of: { readonly id?: string; readonly clock?: number; readonly nextId?: () => string } = {}
  ) {
    this.clock = of.clock ?? startTime
    this.nextId = of.nextId ?? (() => String(++this.ids).padStart(6, "0"))
    const ids = typeof items === "number" ? Array.from({ length: items }, () => WorkItemId.make(this.nextId())) : items
    this.run = newRun(steps, ids.length, of.id)
    for (const id of ids) this.addItem(0, "pending", id)
    this.commit({ run: this.run, changes: [] })
  }

  get now(): string {
    return new Date(this.clock).toISOString()
  }

  private addItem(
    step: number,
    state: ModelItem["state"],
    id: WorkItemId,
    of: { readonly parent: WorkItemId | null; readonly exception: State.Exception | null } = {
      parent: null,
      exception: null
    }
  ): void {
    const fresh = { stepRun: null, attempts: 0, releasedBy: null, notBefore: null, stateUpdatedAt: this.now }
    this.items.set(id, { id, step, state, ...fresh, ...of })
  }

  /** Records what happened to a step run. */
  happened(id: StepRunId, type: string, item: WorkItemId | null = null): void {
    const { events = [] } = this.stepRuns.get(id) ?? {}
    this.setStepRun(id, { events: [...events, [type, item]] })
  }

  addOutput(stepRun: StepRunId, parent: WorkItemId): void {
    const id = WorkItemId.make(this.nextId())
    this.outputs.set(id, { id, stepRun, parent })
  }

  private setItem(id: WorkItemId, patch: Partial<ModelItem>): void {
    const item = this.items.get(id)
    if (item === undefined) throw new Error(`no item ${id}`)
    this.items.set(id, { ...item, ...patch })
  }

  private setStepRun(id: StepRunId, patch: Partial<ModelStepRun>): void {
    const stepRun = this.stepRuns.get(id)
    if (stepRun === undefined) throw new Error(`no step run ${id}`)
    this.stepRuns.set(id, { ...stepRun, ...patch })
  }

  private apply(change: State.Change): void {
    switch (change._tag) {
      case "ItemMoved":
        this.setItem(change.id, {
          state: change.to,
          stepRun: change.stepRun,
          attempts: change.attempts,
          releasedBy: change.releasedBy,
          notBefore: change.notBefore,
          stateUpdatedAt: this.now,
          ...(change.exception === undefined ? {} : { exception: change.exception })
        })
        return
      case "ItemAhead":
        this.setItem(change.id, { stepRun: change.stepRun, notBefore: null })
        return
      case "ItemDeleted":
        this.items.delete(change.id)
        return
      case "WaitingSettled":
        for (const item of this.items.values()) {
          if (item.state === "pending" && item.stepRun === null) {
            this.setItem(item.id, {
              state: change.to,
              notBefore: null,
              stateUpdatedAt: this.now,
              ...(change.exception === null ? {} : { exception: change.exception })
            })
          }
        }
        return
      case "StepRunCreated": {
        const id = StepRunId.make(this.nextId())
        const fresh = { stopRequested: false, error: null, timeoutAt: null, events: [] }
        this.stepRuns.set(id, { id, step: change.step, state: change.state, ...fresh })
        this.setItem(change.item, { stepRun: id, notBefore: null })
        this.happened(id, "CREATED", change.item)
        if (change.state === "awaiting_worker") this.happened(id, "QUEUED")
        return
      }
      case "StepRunsQueued":
        for (const stepRun of this.stepRuns.values()) {
          if (stepRun.step === change.step && stepRun.state === "new") {
            this.setStepRun(stepRun.id, { state: "awaiting_worker" })
            this.happened(stepRun.id, "QUEUED")
          }
        }
        return
      case "StepRunMoved":
        this.setStepRun(change.id, {
          state: change.to,
          error: change.error,
          ...(change.to === "in_progress" ? { timeoutAt: change.timeoutAt } : {})
        })
        return
      case "StepRunLimited":
        this.setStepRun(change.id, { timeoutAt: change.timeoutAt })
        return
      case "StopRequested":
        this.setStepRun(change.stepRun, { stopRequested: true })
        return
      case "OutputsDropped":
        for (const output of this.outputs.values())
          if (change.items.includes(output.parent) && output.stepRun === change.stepRun) this.outputs.delete(output.id)
        return
      case "ItemForwarded":
        this.addOutput(change.stepRun, change.item)
        return
      case "OutputsReleased":
        for (const output of [...this.outputs.values()].filter((output) => output.stepRun === change.stepRun)) {
          this.outputs.delete(output.id)
          if (change.step === null) this.released.push(output)
          else
            this.addItem(change.step, change.state, output.id, { parent: output.parent, exception: change.exception })
        }
        return
      case "Notification":
        this.notified.push(change.action)
        return
      case "Event":
        this.happened(change.stepRun, change.type, change.item)
        return
    }
  }

  due(step: number): ReadonlyArray<ModelItem> {
    return [...this.items.values()]
      .filter(
        (item) =>
          item.step === step &&
          item.state === "pending" &&
          item.stepRun === null &&
          (item.notBefore === null || item.notBefore <= this.now)
      )
      .sort((a, b) => {
        // Those whose retry is due come first, in the order of that time; no timestamp sorts after "~".
        const [of, than] = [a.notBefore ?? "~", b.notBefore ?? "~"]
        return of === than ? (a.id < b.id ? -1 : 1) : of < than ? -1 : 1
      })
  }

  /** The open items of a step run. */
  hand(id: StepRunId): State.Hand {
    const own = [...this.items.values()].filter(
      (item) => item.stepRun === id && (item.state === "pending" || item.state === "in_progress")
    )
    return Engine.handOf(
      this.stepRuns.get(id) ?? { state: "new" },
      own.sort((a, b) => (a.id < b.id ? -1 : 1))
    )
  }

  held(stepRun: StepRunId): State.Item | null {
    return this.hand(stepRun).item
  }

  live(): ReadonlyArray<ModelStepRun> {
    return [...this.stepRuns.values()].filter((stepRun) => stepRun.state !== "completed" && stepRun.state !== "failed")
  }

  outputsOf(stepRun: StepRunId, held: WorkItemId | null) {
    const own = [...this.outputs.values()].filter((output) => output.stepRun === stepRun)
    const ofHeld = own.filter((output) => output.parent === held).length
    return { held: ofHeld, done: own.length - ofHeld }
  }

  /** Writes an outcome without its consequences. */
  write(outcome: State.Outcome): void {
    outcome.changes.forEach((change) => this.apply(change))
    this.run = outcome.run
  }

  commit(outcome: State.Outcome): void {
    this.write(outcome)
    const due = Engine.capacity(outcome.run).map((free, step) =>
      this.due(step)
        .slice(0, free)
        .map((item) => item.id)
    )
    const settled = Engine.settle(outcome.run, due, this.now)
    settled.changes.forEach((change) => this.apply(change))
    this.run = settled.run
  }

  recount(): { readonly counts: ReadonlyArray<State.StepCounts>; readonly failed: number } {
    const items = [...this.items.values()]
    const live = this.live()
    return {
      counts: this.run.steps.map((_, step) => ({
        waiting: items.filter((item) => item.step === step && item.state === "pending" && item.stepRun === null).length,
        open: items.filter((item) => item.step === step && (item.state === "pending" || item.state === "in_progress"))
          .length,
        live: live.filter((stepRun) => stepRun.step === step).length,
        held: live.filter((stepRun) => stepRun.step === step && stepRun.state === "new").length
      })),
      failed: items.filter((item) => item.state === "failed").length
    }
  }
}
