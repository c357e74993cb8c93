/**
 * Schedules of the first design, as its tables kept them, and what a journal over these tables has of them.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { FlowEngineError } from "../../src/FlowErrors.ts"
import { Journal } from "../../src/internal/Journal.ts"
import { layerCarryOver } from "../../src/internal/journal/sql/FirstDesign.ts"
import * as Sql from "../../src/internal/journal/Sql.ts"
import * as Progress from "../../src/internal/schedules/Progress.ts"
import { Database } from "../../src/internal/sql/Database.ts"

type Client = Layer.Layer<SqlClient.SqlClient, FlowEngineError>

const scheduledTo = Date.parse("2020-11-20T06:00:00.000Z")

/** All of the past, but one. */
const rows = [
  { id: "done", key: "daily at 2020-11-19T06:00:00.000Z", state: "completed" },
  { id: "open", key: "daily at 2020-11-20T06:00:00.000Z", state: "running" },
  // Its process was killed before it had set how far the schedule was.
  { id: "last", key: "daily at 2020-11-21T06:00:00.000Z", state: "running" },
  { id: "ahead", key: "daily at 2999-01-01T06:00:00.000Z", state: "completed" },
  { id: "other", key: "daily at noon", state: "running" },
  { id: "weekly", key: "weekly at 2020-11-21T06:00:00.000Z", state: "completed" }
]

const old = Effect.gen(function* () {
  const { sql } = yield* Database
  yield* sql`INSERT INTO flow_schedule ${sql.insert([
    { name: "daily", scheduled_to: scheduledTo },
    { name: "quiet", scheduled_to: scheduledTo }
  ])}`
  yield* Effect.forEach(
    rows,
    ({ id, key, state }) =>
      sql`INSERT INTO flow_execution ${sql.insert({
        id,
        workflow: "nightly",
        flow: "nightly",
        version: 1,
        flow_key: key,
        generation: 1,
        input: "null",
        state,
        phase: "waiting",
        wakes: 0,
        interrupted: "no",
        started_at: 1
      })}`,
    { discard: true }
  )
})

/** `client` opens the same empty tables each time. */
export const suite = (name: string, client: Effect.Effect<Client, never, Scope.Scope>) =>
  describe(`schedules of the first design, ${name}`, () => {
    it.live("are carried over with how far they were, what runs, and the keys of what has begun", () =>
      Effect.gen(function* () {
        const connection = yield* client
        const database = Layer.provideMerge(Database.layer, connection)
        yield* Effect.provide(old, Layer.fresh(database))
        const opened = Layer.provideMerge(Layer.provide(Sql.layer, layerCarryOver), database)
        const look = Effect.gen(function* () {
          const context = yield* Layer.build(Layer.fresh(opened))
          const journal = Context.get(context, Journal)
          const sql = Context.get(context, SqlClient.SqlClient)
          const executions = yield* journal.list({ limit: 10 })
          return {
            daily: yield* Progress.read(journal, "daily"),
            quiet: yield* Progress.read(journal, "quiet"),
            keys: Object.fromEntries(executions.map(({ id, key }) => [id, key])),
            schedules: yield* journal.names("schedule "),
            left: yield* sql`SELECT * FROM flow_schedule`
          }
        }).pipe(Effect.scoped)
        const carried = yield* look
        assert.deepStrictEqual(carried, {
          daily: {
            upTo: Date.parse("2020-11-21T06:00:00.000Z"),
            running: [
              { at: Date.parse("2020-11-20T06:00:00.000Z"), execution: "open" },
              { at: Date.parse("2020-11-21T06:00:00.000Z"), execution: "last" }
            ]
          },
          quiet: { upTo: scheduledTo, running: [] },
          keys: {
            done: "daily 2020-11-19T06:00:00.000Z",
            open: "daily 2020-11-20T06:00:00.000Z",
            last: "daily 2020-11-21T06:00:00.000Z",
            ahead: "daily 2999-01-01T06:00:00.000Z",
            other: "daily at noon",
            weekly: "weekly at 2020-11-21T06:00:00.000Z"
          },
          schedules: [],
          left: []
        })
        assert.deepStrictEqual(yield* look, carried)
      })
    )
  })
