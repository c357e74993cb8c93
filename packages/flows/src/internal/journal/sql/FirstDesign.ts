/**
 * Converts executions of the first design to the journal, one key at a time, each in a separate transaction, so that a killed process
 * continues at its next start.
 */
import * as Dialect from "@signalbox/sql/Dialect"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Failure } from "../../../FlowEvents.ts"
import { FlowEngineError } from "../../../FlowErrors.ts"
import {
  carryOver,
  type OldDeferred,
  type OldExecution,
  type OldStep,
  type OldWait,
  seedsOf
} from "../../FirstDesign.ts"
import type { Entry } from "../../Journal.ts"
import { partitionOf } from "../../Partitions.ts"
import { Database } from "../../sql/Database.ts"
import { entryRow, entryTable, fromJson, messageTable, newMessageRow, toFailure, toJson } from "./Rows.ts"
import { put } from "./Tables.ts"
import { carrySchedules } from "./FirstSchedules.ts"
import * as Texts from "./Texts.ts"

interface ExecutionRow {
  readonly id: string
  readonly flow: string
  readonly version: number
  readonly flow_key: string
  readonly generation: number
  readonly input: string
  readonly resumes: string | null
  readonly state: OldExecution["state"]
  readonly phase: OldExecution["phase"]
  readonly interrupted: string
  readonly value: string | null
  readonly failure: string | null
  readonly started_at: number
  readonly ended_at: number | null
}

interface StepRow {
  readonly path: string
  readonly attempt: number
  readonly name: string
  readonly kind: OldStep["kind"]
  readonly input: string | null
  readonly state: OldStep["state"]
  readonly value: string | null
  readonly failure: string | null
  readonly started_at: number
  readonly ended_at: number
}

// Columns that the first design wrote from a `Failure` and from what an execution resumes.
const failureOf = (text: string | null): Failure | null => (text === null ? null : (JSON.parse(text) as Failure))
// As above.
const resumesOf = (text: string | null) => (text === null ? null : (JSON.parse(text) as OldExecution["resumes"]))

const executionOf = (row: ExecutionRow): OldExecution => ({
  id: row.id,
  flow: row.flow,
  version: row.version,
  key: row.flow_key,
  generation: row.generation,
  input: fromJson(row.input),
  resumes: resumesOf(row.resumes),
  state: row.state,
  phase: row.phase,
  cancelled: row.interrupted !== "no",
  value: fromJson(row.value),
  failure: failureOf(row.failure),
  startedAt: row.started_at,
  endedAt: row.ended_at
})

const stepOf = (row: StepRow): OldStep => ({
  path: row.path,
  attempt: row.attempt,
  name: row.name,
  kind: row.kind,
  input: fromJson(row.input),
  state: row.state,
  value: fromJson(row.value),
  failure: failureOf(row.failure),
  startedAt: row.started_at,
  endedAt: row.ended_at
})

/** The value of a deferred that succeeded, as the first design encoded it. */
const resultOf = (text: string | null) => {
  const exit = fromJson(text)
  return typeof exit === "object" && exit !== null && !Array.isArray(exit) && "value" in exit ? exit["value"] : null
}

const tables = ["flow_step", "flow_deferred", "flow_wait"] as const

const carryKey = Effect.fnUntraced(function* (sql: SqlClient, flow: string, key: string, now: number) {
  const generations = (yield* sql<ExecutionRow>`
    SELECT * FROM flow_execution WHERE flow = ${flow} AND flow_key = ${key} ORDER BY generation`).map(executionOf)
  const execution = generations.at(-1)
  if (execution === undefined) return
  const stepsOf = (id: string) =>
    Effect.map(sql<StepRow>`SELECT * FROM flow_step WHERE execution = ${id} ORDER BY seq`, (rows) => rows.map(stepOf))
  const { id, resumes } = execution
  const steps = yield* stepsOf(id)
  const deferreds = (yield* sql<{ readonly name: string; readonly due: number | null; readonly result: string | null }>`
    SELECT name, due, result FROM flow_deferred WHERE execution = ${id}`).map(({ due, name, result }): OldDeferred => ({
    name,
    due,
    result: resultOf(result),
    isDone: result !== null
  }))
  const waits = yield* sql<OldWait>`SELECT path, kind, subject FROM flow_wait WHERE execution = ${id}`
  const seeds = resumes === null ? [] : seedsOf(yield* stepsOf(resumes.execution), resumes.before)
  const carried = carryOver(execution, { steps, deferreds, waits }, seeds)
  const active = carried.state === "waiting"
  const messages = carried.messages.map((message, index) => newMessageRow(message, index + 1))
  const [flow_key, long_key] = Texts.split(key)
  yield* sql`INSERT INTO flow_run ${sql.insert({
    id,
    flow: Texts.toText(flow),
    version: execution.version,
    flow_key,
    long_key,
    input: toJson(execution.input),
    state: carried.state,
    result: carried.state === "completed" ? toJson(execution.value) : null,
    error: carried.state === "failed" ? toJson(execution.value) : null,
    failure: toFailure(execution.failure),
    chapter: 0,
    round: generations.length - 1,
    tags: "[]",
    parent: null,
    partition_no: partitionOf(id),
    epoch: 1,
    owner: null,
    wake_at: active ? now : null,
    mail: messages.length,
    seen: 0,
    asides: generations.length - 1,
    token: "",
    started_at: execution.startedAt,
    changed_at: now,
    ended_at: carried.state === "halted" ? null : execution.endedAt,
    expired: 0
  })}`
  const putEntries = (aside: number, entries: ReadonlyArray<Entry>) =>
    Effect.forEach(
      put(sql, entryTable, { execution: id, aside, next_redo: aside === 0 ? 0 : -1 }, entries.map(entryRow)),
      (statement) => sql`${statement}`,
      { discard: true }
    )
  yield* putEntries(0, carried.entries)
  for (const statement of put(sql, messageTable, { execution: id, at: now, token: "" }, messages))
    yield* sql`${statement}`
  // Older generations become its discarded entries.
  for (const [index, older] of generations.slice(0, -1).entries()) {
    const { entries } = carryOver(older, { steps: yield* stepsOf(older.id), deferreds: [], waits: [] }, [])
    yield* putEntries(index + 1, entries)
  }
  const ids = generations.map((one) => one.id)
  for (const table of tables) yield* sql`DELETE FROM ${sql(table)} WHERE ${sql.in("execution", ids)}`
  yield* sql`DELETE FROM flow_execution WHERE ${sql.in("id", ids)}`
})

const refuse = (message: string) => new FlowEngineError({ message })

/** On Postgres another process may still run the first design. */
const refuseOthers = Effect.fnUntraced(function* (sql: SqlClient): Effect.fn.Return<void, FlowEngineError | SqlError> {
  if (!Dialect.isPostgres(sql)) return
  const [clustered] = yield* sql<{ readonly found: boolean }>`
    SELECT EXISTS (SELECT 1 FROM information_schema.tables
      WHERE table_schema = current_schema() AND table_name = 'cluster_messages') AS found`
  const [running] = yield* sql`SELECT id FROM flow_execution WHERE state = 'running' LIMIT 1`
  if (clustered?.found === true && running !== undefined) {
    return yield* refuse(
      "executions of the cluster engine of an older version have not ended in this schema: let them end with that version, " +
        "or choose another schema"
    )
  }
  const [lock] = yield* sql<{ readonly held: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended('signalbox flows ' || current_schema(), 0)) AS held`
  if (lock?.held !== true) {
    return yield* refuse(
      "a process of an older version runs the flows of this schema: stop it first, so that its executions can be converted"
    )
  }
})

const atATime = 100

/** Converts existing executions before any flow runs. */
export const layerCarryOver: Layer.Layer<never, FlowEngineError, Database> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { now, persist, sql } = yield* Database
    const transaction = <A, E>(effect: Effect.Effect<A, E | SqlError>) => sql.withTransaction(effect)
    const more = transaction(
      Effect.gen(function* () {
        const keys = yield* sql<{ readonly flow: string; readonly flow_key: string }>`
          SELECT DISTINCT flow, flow_key FROM flow_execution WHERE version IS NOT NULL LIMIT ${atATime}`
        if (keys.length === 0) return 0
        yield* refuseOthers(sql)
        const at = yield* now
        for (const { flow, flow_key } of keys) yield* carryKey(sql, flow, flow_key, at)
        return keys.length
      })
    )
    // Before the executions, because schedules find them by the keys of the first design.
    const schedules = transaction(
      Effect.flatMap(now, (at) =>
        Effect.tap(carrySchedules(sql, at), (carried) => (carried > 0 ? refuseOthers(sql) : Effect.void))
      )
    )
    const all = Effect.andThen(schedules, Effect.repeat(more, { while: (carried) => Effect.succeed(carried > 0) }))
    yield* persist(Effect.catchTag(all, "FlowEngineError", (error) => Effect.succeed(error))).pipe(
      Effect.flatMap((result) => (result instanceof FlowEngineError ? Effect.fail(result) : Effect.void))
    )
  })
)
