/** The tasks of the room that the browser looks at: as in an accounts department, and one that writes what may harm a page. */
import * as Robot from "@signalbox/worker/Robot"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"

const Invoice = Schema.Struct({ invoice: Schema.String, customer: Schema.String, amount: Schema.Number })

const read = Task.make("Read mailbox", {
  input: Invoice,
  output: Invoice,
  run: Effect.fnUntraced(function* ({ payload }) {
    yield* Effect.log(`mail with ${payload.invoice} and one attachment`)
    return payload
  })
})

const post = Task.make("Post to ERP", {
  input: Invoice,
  output: Invoice,
  run: Effect.fnUntraced(function* ({ payload }) {
    const { amount, customer, invoice } = payload
    yield* Effect.log(`open invoice ${invoice}`)
    yield* Effect.log(`supplier 4711, ${amount.toFixed(2)} EUR, search customer ${customer}`)
    if (!customer.startsWith("88-")) return payload
    yield* Effect.log(`no such customer: ${customer}`)
    yield* Robot.saveArtifact({ name: "customer-search.png", bytes: picture })
    yield* Robot.saveArtifact({ name: "log.html", bytes: new TextEncoder().encode("<h1>Log</h1>") })
    return yield* new Task.BusinessFailure({
      code: "UNKNOWN_CUSTOMER",
      message: `the customer number ${customer} is unknown`
    })
  })
})

const archive = Task.make("Archive PDF", { input: Invoice, output: Invoice, run: () => Effect.void })

const download = Task.make("Download statement", {
  input: Schema.Struct({ bank: Schema.String }),
  output: Schema.Struct({}),
  run: Effect.fnUntraced(function* ({ payload: { bank } }) {
    yield* Effect.log(`sign in to ${bank}`)
    return yield* new Task.ApplicationFailure({ code: "TIMEOUT", message: "login page did not answer" })
  })
})

/** It stays in progress as long as the room is there: a worker that ends waits for what it does. */
const wait = (isEnding: Effect.Effect<void>) =>
  Task.make("Wait for approval", {
    input: Schema.Struct({ invoice: Schema.String }),
    output: Schema.Struct({}),
    run: ({ payload }) => Effect.andThen(Effect.log(`${payload.invoice} waits for its approver`), isEnding)
  })

/** The name of the task that writes what it is told to. */
export const statement = "Read statement"

/** Writes each line when the test has it, and ends with the line that is empty. */
const dictated = (lines: Queue.Dequeue<string>, isEnding: Effect.Effect<void>) =>
  Task.make(statement, {
    input: Schema.Struct({}),
    output: Schema.Struct({}),
    run: () =>
      Queue.take(lines).pipe(
        Effect.tap((line) => Effect.log(line)),
        Effect.repeat({ while: (line) => line !== "" }),
        Effect.raceFirst(isEnding),
        Effect.asVoid
      )
  })

/** Names and texts that must stay text. */
export const hostile = {
  html: `<img src=x onerror="window.harmed=true"><script>window.harmed=true</script>`,
  link: "javascript:window.harmed=true",
  ansi: "\u001b[31mred\u001b[0m \u001b]8;;javascript:window.harmed=true\u0007link\u001b]8;;\u0007 \u001b[2J",
  turned: "invoice \u202Efdp.exe\u202C \u2066isolated\u2069 \u0007 \u0000 \u200Fend"
}

const harm = Task.make(hostile.html, {
  input: Schema.Struct({ invoice: Schema.String }),
  output: Schema.Struct({}),
  run: Effect.fnUntraced(function* () {
    for (const text of Object.values(hostile)) yield* Effect.log(text)
    yield* Effect.log("5 MB in one line: ".padEnd(5_000_000, "x"))
    yield* Robot.saveArtifact({ name: "evil.html", bytes: new TextEncoder().encode(hostile.html) })
    return yield* new Task.BusinessFailure({ code: hostile.link, message: `${hostile.html} ${hostile.turned}` })
  })
})

/** One pixel. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

export const tasks = (lines: Queue.Dequeue<string>, isEnding: Effect.Effect<void>) => [
  read,
  post,
  archive,
  download,
  wait(isEnding),
  dictated(lines, isEnding),
  harm
]
