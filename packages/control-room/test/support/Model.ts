/**
 * The rows of one run in memory: applies the changes of the engine as the repositories do, and recounts.
 */
import { ProcessId, ProcessRunId, StepId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Engine from "../../src/engine/Engine.ts"

interface ModelItem extends Engine.Item {
  readonly notBefore: string | null
}

interface ModelStepRun extends Engine.StepRun {
  readonly stopRequested: boolean
}

interface ModelOutput {
  readonly id: WorkItemId
  readonly stepRun: StepRunId
  readonly parent: WorkItemId
}

export const startTime = Date.parse("2026-01-01T00:00:00.000Z")

export const newRun = (steps: ReadonlyArray<Partial<Engine.RunStep>>, items: number) =>
  Engine.begin(
    {
      id: ProcessRunId.make("run"),
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
  run: Engine.Run
  clock = startTime
  readonly items = new Map<WorkItemId, ModelItem>()
  readonly stepRuns = new Map<StepRunId, ModelStepRun>()
  readonly outputs = new Map<WorkItemId, ModelOutput>()
  readonly released: Array<WorkItemId> = []
  readonly notified: Array<Engine.Notification["action"]> = []
  private ids = 0

  constructor(steps: ReadonlyArray<Partial<Engine.RunStep>>, items: number) {
    this.run = newRun(steps, items)
    for (let index = 0; index < items; index++) this.addItem(0, "pending")
    this.commit({ run: this.run, changes: [] })
  }

  get now(): string {
    return new Date(this.clock).toISOString()
  }

  private nextId(): string {
    return String(++this.ids).padStart(6, "0")
  }

  private addItem(step: number, state: ModelItem["state"], id = WorkItemId.make(this.nextId())): void {
    this.items.set(id, { id, step, state, stepRun: null, attempts: 0, releasedBy: null, notBefore: null })
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

  private apply(change: Engine.Change): void {
    switch (change._tag) {
      case "ItemMoved":
        this.setItem(change.id, {
          state: change.to,
          stepRun: change.stepRun,
          attempts: change.attempts,
          releasedBy: change.releasedBy,
          notBefore: change.notBefore
        })
        return
      case "ItemDeleted":
        this.items.delete(change.id)
        return
      case "WaitingSettled":
        for (const item of this.items.values()) {
          if (item.state === "pending" && item.stepRun === null) this.setItem(item.id, { state: change.to })
        }
        return
      case "StepRunCreated": {
        const id = StepRunId.make(this.nextId())
        this.stepRuns.set(id, { id, step: change.step, state: change.state, stopRequested: false })
        this.setItem(change.item, { stepRun: id, notBefore: null })
        return
      }
      case "StepRunsQueued":
        for (const stepRun of this.stepRuns.values()) {
          if (stepRun.step === change.step && stepRun.state === "new") {
            this.setStepRun(stepRun.id, { state: "awaiting_worker" })
          }
        }
        return
      case "StepRunMoved":
        this.setStepRun(change.id, { state: change.to })
        return
      case "StopRequested":
        this.setStepRun(change.stepRun, { stopRequested: true })
        return
      case "OutputsDropped":
        for (const output of this.outputs.values()) if (output.parent === change.item) this.outputs.delete(output.id)
        return
      case "OutputsReleased":
        for (const output of [...this.outputs.values()].filter((output) => output.stepRun === change.stepRun)) {
          this.outputs.delete(output.id)
          if (change.step === null) this.released.push(output.id)
          else this.addItem(change.step, change.state, output.id)
        }
        return
      case "Notification":
        this.notified.push(change.action)
        return
      case "Event":
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
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  held(stepRun: StepRunId): ModelItem | null {
    const found = [...this.items.values()].find(
      (item) => item.stepRun === stepRun && (item.state === "pending" || item.state === "in_progress")
    )
    return found ?? null
  }

  live(): ReadonlyArray<ModelStepRun> {
    return [...this.stepRuns.values()].filter((stepRun) => stepRun.state !== "completed" && stepRun.state !== "failed")
  }

  outputsOf(stepRun: StepRunId, held: WorkItemId | null) {
    const own = [...this.outputs.values()].filter((output) => output.stepRun === stepRun)
    const ofHeld = own.filter((output) => output.parent === held).length
    return { held: ofHeld, done: own.length - ofHeld }
  }

  commit(outcome: Engine.Outcome): void {
    outcome.changes.forEach((change) => this.apply(change))
    const due = Engine.capacity(outcome.run).map((free, step) =>
      this.due(step)
        .slice(0, free)
        .map((item) => item.id)
    )
    const settled = Engine.settle(outcome.run, due, this.now)
    settled.changes.forEach((change) => this.apply(change))
    this.run = settled.run
  }

  recount(): { readonly counts: ReadonlyArray<Engine.StepCounts>; readonly failed: number } {
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
