/** The rows of one process and their invariants. */
import { assert } from "@effect/vitest"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type * as State from "../../src/internal/engine/State.ts"

export interface ItemRow {
  readonly id: string
  readonly process_run_id: string | null
  readonly step: number | null
  readonly step_run_id: string | null
  readonly parent_id: string | null
  readonly state: string
  readonly state_updated_at: string | null
  readonly attempts: number
  readonly released_by: string | null
  readonly not_before: string | null
  readonly exception: string | null
}

export interface RunRow {
  readonly id: string
  readonly state: string
  readonly counts: string
  readonly failed: number
  readonly stop: string | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly event_seq: number
}

export interface StepRunRow {
  readonly id: string
  readonly process_run_id: string
  readonly step: number
  readonly state: string
  readonly error_code: string | null
  readonly stop_requested: number
  readonly timeout_at: string | null
  readonly worker_id: string | null
}

export interface OutputRow {
  readonly id: string
  readonly process_run_id: string
  readonly step_run_id: string
  readonly parent_id: string
  readonly released: number
}

export interface EventRow {
  readonly step_run_id: string
  readonly event_type: string
  readonly work_item_id: string | null
}

export interface DeliveryRow {
  readonly process_run_id: string | null
  readonly event_type: string
}

/** All rows of a process, oldest first, without the events about missing workers: the model has none. */
export const rowsOf = Effect.fnUntraced(function* (process: ProcessId) {
  const sql = yield* SqlClient.SqlClient
  const [items, runs, stepRuns, outputs, events, deliveries] = yield* Effect.all([
    sql<ItemRow>`SELECT * FROM work_item WHERE process_id = ${process} ORDER BY id`,
    sql<RunRow>`SELECT * FROM process_run WHERE process_id = ${process} ORDER BY id`,
    sql<StepRunRow>`SELECT * FROM step_run WHERE process_id = ${process} ORDER BY id`,
    sql<OutputRow>`SELECT * FROM output WHERE process_id = ${process} ORDER BY id`,
    sql<EventRow>`
      SELECT step_run_event.* FROM step_run_event JOIN step_run ON step_run.id = step_run_event.step_run_id
      WHERE step_run.process_id = ${process} AND event_type <> 'NO_WORKER' ORDER BY step_run_event.id`,
    sql<DeliveryRow>`
      SELECT webhook_delivery.* FROM webhook_delivery JOIN webhook ON webhook.id = webhook_delivery.webhook_id
      WHERE webhook.process_id = ${process} ORDER BY webhook_delivery.id`
  ])
  return { items, runs, stepRuns, outputs, events, deliveries }
}, Effect.orDie)

export type ProcessRows = Effect.Success<ReturnType<typeof rowsOf>>

const isOpen = ({ state }: { readonly state: string }) => state === "pending" || state === "in_progress"
const isLive = ({ state }: { readonly state: string }) => state !== "completed" && state !== "failed"
export const hasEnded = ({ state }: { readonly state: string }) => state === "completed" || state === "unresolved"

/** The counters of a run, counted from its rows. */
export const recount = (rows: ProcessRows, run: RunRow) => {
  const items = rows.items.filter((item) => item.process_run_id === run.id)
  const live = rows.stepRuns.filter((stepRun) => stepRun.process_run_id === run.id).filter(isLive)
  const known: ReadonlyArray<State.StepCounts> = JSON.parse(run.counts)
  return {
    failed: items.filter(({ state }) => state === "failed").length,
    counts: known.map((_, step) => {
      const here = items.filter((item) => item.step === step)
      return {
        waiting: here.filter((item) => item.state === "pending" && item.step_run_id === null).length,
        open: here.filter(isOpen).length,
        live: live.filter((stepRun) => stepRun.step === step).length,
        held: live.filter((stepRun) => stepRun.step === step && stepRun.state === "new").length
      }
    })
  }
}

/** Valid sequences of the service's events of a step run. */
const life =
  /^CREATED (QUEUED )?(LEASED )*(START (ITEM_RESERVED |ITEM_RELEASED |ITEM_FAILED |OUTPUT_CREATED |STOP_REQUESTED )*)?(END )?$/

const ends: Readonly<Record<string, boolean>> = { completed: true, failed: true }

/**
 * The counters equal a recount of the rows, and a run has ended exactly when no item is open and no step run is live.
 */
export const assertCounted = (rows: ProcessRows): void => {
  for (const run of rows.runs) {
    const { counts, failed } = recount(rows, run)
    assert.deepStrictEqual(JSON.parse(run.counts), counts, run.id)
    assert.strictEqual(run.failed, failed, run.id)
    const quiet = counts.every(({ live, open }) => live === 0 && open === 0)
    assert.strictEqual(hasEnded(run), quiet, `${run.id} is ${run.state} with ${run.counts}`)
    assert.strictEqual(run.ended_at !== null, quiet, run.id)
    if (quiet) assert.strictEqual(run.state, failed > 0 ? "unresolved" : "completed", run.id)
  }
}

/**
 * Invariants between any two transactions, with any number of clients; for a process whose webhook receives all events,
 * and whose workers report no events.
 */
export const assertSound = (rows: ProcessRows): void => {
  assertCounted(rows)
  for (const run of rows.runs) {
    const quiet = hasEnded(run)
    const told = rows.deliveries.filter(({ process_run_id }) => process_run_id === run.id)
    const actions = told.map(({ event_type }) => event_type.replace("process_run.", ""))
    assert.strictEqual(told.length, run.event_seq, run.id)
    assert.isAtMost(actions.filter((action) => action === "started").length, 1, run.id)
    if (quiet) assert.include(actions, run.state, run.id)
  }
  for (const stepRun of rows.stepRuns) {
    const events = rows.events.filter(({ step_run_id }) => step_run_id === stepRun.id)
    const text = events.map(({ event_type }) => `${event_type} `).join("")
    assert.match(text, life, stepRun.id)
    assert.strictEqual(text.endsWith("END "), ends[stepRun.state] === true, `${stepRun.state}: ${text}`)
    if (stepRun.state === "in_progress") assert.include(text, "START ", stepRun.id)
    const held = rows.items.filter((item) => item.step_run_id === stepRun.id && isOpen(item))
    // Those that a step run in progress was given ahead are pending.
    assert.isAtMost(held.filter(({ state }) => state === "in_progress").length, 1, stepRun.id)
    // Only live step runs have a reserved item, and one that has not started always has one.
    if (!isLive(stepRun)) assert.strictEqual(held.length, 0, stepRun.id)
    if (stepRun.state === "new" || stepRun.state === "awaiting_worker") assert.strictEqual(held.length, 1, stepRun.id)
  }
  const done = rows.events.filter(({ event_type }) => event_type === "ITEM_RELEASED")
  const twice = done.map(({ work_item_id }) => work_item_id).filter((id, index, all) => all.indexOf(id) !== index)
  assert.deepStrictEqual(twice, [], "items that were completed twice")
  for (const output of rows.outputs.filter(({ released }) => released === 0)) {
    const maker = rows.stepRuns.find(({ id }) => id === output.step_run_id)
    assert.strictEqual(maker?.state, "in_progress", "an output waits for the end of the step run that made it")
    const item = rows.items.find(({ id }) => id === output.parent_id)
    assert.strictEqual(item?.step_run_id, output.step_run_id, "a held output is of the last attempt at its item")
    assert.notStrictEqual(item?.state, "pending", "the outputs of an attempt that is repeated were dropped")
  }
}
