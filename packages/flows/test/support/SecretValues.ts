/**
 * Executions with values that can be recognised, and the search for their bytes in all that a database leaves behind.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { SqlClient } from "effect/sql/SqlClient"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine, type FlowEngineError } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import type { FlowValues } from "../../src/FlowValues.ts"
import { until } from "./Polling.ts"
import { ring } from "./Keys.ts"
import { stateOf } from "./Running.ts"

/** What is recorded, each with a text that is nowhere else. */
const kinds = [
  "input",
  "next input",
  "result",
  "error",
  "defect",
  "step input",
  "step result",
  "step error",
  "attempt",
  "undo",
  "signal",
  "message",
  "transaction",
  "child input",
  "child result",
  "state",
  "item",
  "question",
  "answer",
  "debounced input",
  "step item",
  "details"
] as const
type Kind = (typeof kinds)[number]

const secret = (kind: Kind): string => `SECRET-${kind.toUpperCase().replaceAll(" ", "~")}-5f2c91`

class Bad extends Schema.TaggedError<Bad>()("Bad", { what: Schema.String }) {}

const common = {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Bad,
  idempotencyKey: (_input: string) => "only"
} as const

const echo = Flow.step("echo", {
  input: Schema.String,
  success: Schema.String,
  error: Bad,
  run: () => Effect.succeed(secret("step result"))
})
const fails = Flow.step("fails", {
  input: Schema.String,
  success: Schema.String,
  error: Bad,
  run: (what) => Effect.fail(new Bad({ what }))
})
const records = Flow.step("records", {
  input: Schema.Null,
  success: Schema.String,
  error: Bad,
  retry: { attempts: 3, delay: "1 hour" },
  run: Effect.fnUntraced(function* () {
    const { record } = yield* Flow.details(Schema.String)
    yield* record(secret("details"))
    yield* feed.append(secret("step item"))
    return yield* Effect.fail(new Bad({ what: "it" }))
  })
})
const throws = Flow.step("throws", {
  input: Schema.String,
  success: Schema.String,
  error: Bad,
  run: (what) => Effect.die(new Error(what))
})
const book = Flow.transaction("book", {
  input: Schema.Null,
  success: Schema.String,
  error: Schema.Never,
  run: () =>
    Effect.as(
      Effect.flatMap(SqlClient, (sql) => sql`SELECT 1`),
      secret("transaction")
    )
})
const signal = Flow.signal("go", Schema.String)
const inbox = Flow.inbox("box", Schema.String)

const state = Flow.state("state", Schema.String)
const feed = Flow.feed("feed", Schema.String)

const ask = Flow.request("ask", { input: Schema.String, success: Schema.String })

const child = Flow.make("child", { ...common, run: () => Effect.succeed(secret("child result")) })

const completes = Flow.make("completes", {
  ...common,
  error: Flow.errorsOf(book, Flow.InvalidInput),
  signals: [signal, inbox],
  states: [state, feed],
  run: Effect.fnUntraced(function* () {
    yield* state.set(secret("state"))
    yield* feed.append(secret("item"))
    yield* Effect.orDie(echo(secret("step input")))
    yield* Effect.ignore(fails(secret("step error")))
    yield* signal.receive()
    yield* inbox.receive()
    yield* book(null)
    const started = yield* Flow.start(child, secret("child input"))
    yield* Effect.orDie(started.result)
    return secret("result")
  })
})
const errs = Flow.make("errs", { ...common, run: () => Effect.fail(new Bad({ what: secret("error") })) })
const halts = Flow.make("halts", { ...common, run: () => Effect.die(new Error(secret("defect"))) })
const retries = Flow.make("retries", {
  ...common,
  states: [feed],
  run: () =>
    Effect.map(
      Flow.all(
        "both",
        {
          fails: fails.with({ retry: { attempts: 3, delay: "1 hour" } })(secret("attempt")),
          records: records(null)
        },
        { concurrency: 2 }
      ),
      ({ records }) => records
    )
})
const undoes = Flow.make("undoes", {
  ...common,
  run: Effect.fnUntraced(function* () {
    yield* Flow.compensate(echo("a"), () => throws(secret("undo")))
    return yield* Effect.fail(new Bad({ what: "b" }))
  })
})
const continues = Flow.make("continues", {
  ...common,
  signals: [signal],
  run: Effect.fnUntraced(function* (input: string) {
    if (input !== secret("next input"))
      return yield* Flow.continueAs({ name: "continues", input: Schema.String }, secret("next input"))
    return yield* signal.receive()
  })
})
const answers = Flow.make("answers", {
  ...common,
  signals: [ask, signal],
  run: Effect.fnUntraced(function* () {
    const { answer } = yield* ask.receive()
    yield* answer(secret("answer"))
    return yield* signal.receive()
  })
})
const debounced = Flow.make("debounced", { ...common, run: Effect.succeed })

const flows = Layer.mergeAll(
  Flow.layer(completes),
  Flow.layer(child),
  Flow.layer(errs),
  Flow.layer(halts),
  Flow.layer(retries),
  Flow.layer(undoes),
  Flow.layer(continues),
  Flow.layer(answers),
  Flow.layer(debounced)
)

/** Records a value of each kind. */
const recordAll = Effect.gen(function* () {
  const id = yield* Flow.submit(completes, secret("input"))
  yield* FlowExecutions.signal(id, "go", secret("signal"))
  yield* FlowExecutions.signal(id, "box", secret("message"), { id: "1" })
  const [failed, halted, retried, undone, continued] = [
    yield* Flow.submit(errs, "a"),
    yield* Flow.submit(halts, "a"),
    yield* Flow.submit(retries, "a"),
    yield* Flow.submit(undoes, "a"),
    yield* Flow.submit(continues, "a")
  ]
  yield* Flow.submit(answers, "a")
  const { request } = yield* Flow.handle(answers, "only")
  yield* request(ask, secret("question"))
  yield* Flow.submit(debounced, secret("debounced input"), {
    debounce: { key: "a", quiet: "1 hour", most: "1 day" }
  })
  yield* until(Effect.map(stateOf(id), (state) => state === "completed"))
  // Its record is written at once.
  yield* FlowExecutions.fork(id, { from: "book" })
  yield* until(Effect.map(stateOf(failed), (state) => state === "failed"))
  for (const one of [halted, undone]) yield* until(Effect.map(stateOf(one), (state) => state === "halted"))
  yield* until(Effect.map(FlowExecutions.inspect(retried), ({ now }) => now.every(({ kind }) => kind === "pause")))
  yield* until(
    Effect.map(FlowExecutions.inspect(continued), ({ execution, now }) => execution.chapter === 1 && now.length > 0)
  )
})

/** Contents of files and tables, by their names. */
export type Left = ReadonlyMap<string, Buffer>

/** Returns all files below a folder. */
export const filesBelow = (folder: string): Left => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return new Map(files.map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name))]))
}

/** The forms of a text that are searched for. In base64 it depends on what precedes it. */
const formsOf = (text: string): ReadonlyArray<string> => [
  text,
  Buffer.from(text).toString("hex"),
  Buffer.from(text).toString("hex").toUpperCase(),
  ...[0, 1, 2].map((before) => {
    const shifted = Buffer.from("\0".repeat(before) + text).toString("base64")
    // Without the characters that neighbours have a share in.
    return shifted.slice(before === 0 ? 0 : 4, -4)
  })
]

const foundIn = (left: Left): ReadonlyArray<Kind> =>
  kinds.filter((kind) => formsOf(secret(kind)).some((form) => [...left.values()].some((bytes) => bytes.includes(form))))

export interface Place {
  readonly engine: (values: FlowValues | undefined) => Layer.Layer<FlowEngine, FlowEngineError>
  /** What the database has, while it is open. */
  readonly left: Effect.Effect<Left, unknown, SqlClient>
}

export const secretValues = (name: string, place: Effect.Effect<Place, unknown, Scope.Scope>) => {
  const search = Effect.fnUntraced(function* (values: FlowValues | undefined) {
    const { engine, left } = yield* place
    const layer = Layer.provideMerge(flows, Layer.provideMerge(FlowEngine.sqlClient, engine(values)))
    return yield* Effect.map(Effect.andThen(recordAll, left), foundIn).pipe(Effect.provide(Layer.fresh(layer)))
  })

  describe(`the values of executions ${name}`, () => {
    it.live("are in no file and no dump when they are encrypted", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* search(ring("a")), [])
      }).pipe(Effect.scoped)
    )

    it.live("are all found when they are not, so that the search would find them", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* search(undefined), kinds)
      }).pipe(Effect.scoped)
    )
  })
}

/** Returns all rows of the tables of the flows, as texts. */
export const rowsOf = (tables: Effect.Effect<ReadonlyArray<string>, unknown, SqlClient>, row: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const all = new Map<string, Buffer>()
    for (const table of yield* tables) {
      const rows = yield* sql.unsafe<{ readonly row: string }>(`SELECT ${row} AS row FROM ${table} t`)
      all.set(table, Buffer.from(rows.map((one) => one.row).join("\n")))
    }
    return all
  })
