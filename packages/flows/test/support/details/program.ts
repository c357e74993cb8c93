/**
 * A program with one execution, whose step works through rows and is killed while it does. Arguments: the URL of a Postgres and its
 * schema, or a file; a file for notes; and how many rows there are.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { appendFileSync } from "node:fs"
import * as Flow from "../../../src/Flow.ts"
import { FlowEngine } from "../../../src/FlowEngine.ts"

const [where = "", schema = "", notes = "", count = "0"] = process.argv.slice(2)
const total = Number(count)
const note = (line: string) => Effect.sync(() => appendFileSync(notes, `${line}\n`))

const rows = Flow.feed("rows", Schema.Finite)
const importRows = Flow.step("import", {
  input: Schema.Void,
  success: Schema.Void,
  error: Schema.Never,
  run: Effect.fnUntraced(function* () {
    const { last, record } = yield* Flow.details(Schema.Struct({ row: Schema.Int }))
    const first = Option.match(last, { onNone: () => 0, onSome: ({ row }) => row })
    yield* note(`from ${first}`)
    for (let row = first + 1; row <= total; row++) {
      yield* note(`row ${row}`)
      yield* rows.append(row)
      yield* record({ row })
      yield* Effect.sleep("25 millis")
    }
  })
})
const imports = Flow.make("imports", {
  version: 1,
  input: Schema.Void,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: () => "only",
  states: [rows],
  run: () => importRows(undefined)
})

const engine =
  schema === ""
    ? FlowEngine.layerSqlite({ file: where })
    : FlowEngine.layerPostgres({ url: Redacted.make(where), schema })
await Effect.runPromise(
  Effect.provide(Flow.execute(imports, undefined), Layer.provideMerge(Flow.layer(imports), engine))
)
