import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The rows that could not be read. */
export const unread = Flow.feed("unread", Schema.String)

const importRows = Flow.step("importRows", {
  input: Schema.Array(Schema.String),
  success: Schema.Int,
  error: Schema.Never,
  timeout: "1 hour",
  retry: { attempts: 5, delay: "1 minute" },
  run: Effect.fnUntraced(function* (rows) {
    const { last, record } = yield* Flow.details(Schema.Int)
    const done = Option.getOrElse(last, () => 0)
    for (const [index, row] of rows.entries()) {
      if (index < done) continue
      if (row === "") yield* unread.append(`row ${index + 1} is empty`)
      yield* record(index + 1)
    }
    return rows.length
  })
})

export const importing = Flow.make("importing", {
  version: 1,
  input: Schema.Struct({
    file: Schema.String,
    rows: Schema.Array(Schema.String)
  }),
  success: Schema.Int,
  error: Flow.errorsOf(importRows),
  idempotencyKey: ({ file }) => file,
  states: [unread],
  run: ({ rows }) => importRows(rows)
})
