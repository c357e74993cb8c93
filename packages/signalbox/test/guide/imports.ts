import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** How many files are imported. A state has one value, that of now. */
export const imported = Flow.state("imported", Schema.Finite)
/** The last hundred problems, for a week. A feed has a list of values. */
export const problems = Flow.feed("problems", Schema.String, {
  count: 100,
  age: "7 days"
})

/** Asks for a file to be imported, and is answered with its rows. */
export const add = Flow.request("add", {
  input: Schema.Struct({ file: Schema.String }),
  success: Schema.Struct({ rows: Schema.Finite }),
  error: Schema.Struct({ why: Schema.String }),
  validate: ({ file }) =>
    file.endsWith(".csv") ? null : "expected the name of a .csv file"
})

const importFile = Flow.step("importFile", {
  input: Schema.String,
  success: Schema.Finite,
  error: Schema.Never,
  run: (file) => Effect.succeed(file.length)
})

/** Imports three files. */
export const imports = Flow.make("imports", {
  version: 1,
  input: Schema.Struct({ day: Schema.String }),
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: ({ day }) => day,
  signals: [add],
  states: [imported, problems],
  run: Effect.fnUntraced(function* () {
    for (let count = 0; count < 3;) {
      yield* imported.set(count)
      const { answer, input, refuse } = yield* add.receive()
      const rows = yield* importFile(input.file)
      if (rows > 10) {
        yield* problems.append(`${input.file} is too large`)
        yield* refuse({ why: "too large" })
        continue
      }
      count++
      yield* answer({ rows })
    }
  })
})

/** In a web application: `id` is that of the upload, so a repeat is no second import. */
export const upload = (day: string, file: string, id: string) =>
  Effect.flatMap(Flow.handle(imports, day), (handle) =>
    handle.request(add, { file }, { id, within: "20 seconds" })
  )

/** Prints what the execution says, until it has ended. */
export const follow = (day: string) =>
  Effect.flatMap(Flow.handle(imports, day), (handle) =>
    Stream.runForEach(handle.watch(), ({ name, value }) =>
      Effect.logInfo(name, value)
    )
  )
