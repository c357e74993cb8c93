/**
 * The tasks of the robot: a table of orders becomes one work item per order, and each order becomes an invoice.
 */
import * as Robot from "@signalbox/worker/Robot"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Order = Schema.Struct({
  order: Schema.String,
  customer: Schema.String,
  amount: Schema.Finite
})

/** The producer: reads the table that is attached to its item and creates an output for each row. */
const readOrders = Task.make("read-orders", {
  input: Schema.Struct({ file: Schema.String }),
  output: Order,
  run: ({ payload, readFile }) =>
    readFile(payload.file).pipe(
      Stream.pipeThroughChannel(Csv.decodeSchema(Order)({ headers: true })),
      Stream.tap(({ order }) => Effect.log(`read the order ${order}`)),
      Stream.catchTag(["FileMissing", "CsvError", "SchemaError"], (error) =>
        Stream.fail(
          new Task.BusinessFailure({
            code: "UNREADABLE_TABLE",
            message: error.message.replace(/\s+/g, " ")
          })
        )
      )
    )
})

/** The consumer: writes the invoice of one order. An order without a customer fails as BUSINESS: a retry would not help. */
const makeInvoice = Task.make("make-invoice", {
  input: Order,
  output: Schema.Struct({ order: Schema.String, total: Schema.Finite }),
  run: Effect.fnUntraced(function* ({ payload: { amount, customer, order } }) {
    if (customer === "") {
      return yield* new Task.BusinessFailure({
        code: "NO_CUSTOMER",
        message: `the order ${order} has no customer`
      })
    }
    // With 19 % tax, in whole cents.
    const total = Math.round(amount * 119) / 100
    const invoice = new TextEncoder().encode(
      `Invoice ${order} for ${customer}: EUR ${total.toFixed(2)}\n`
    )
    // Stored with the step run, for people; the file of the output is for the program that collects the outputs.
    yield* Robot.saveArtifact({ name: `invoices/${order}.txt`, bytes: invoice })
    yield* Effect.log(`made the invoice of order ${order}`)
    return Task.output(
      { order, total },
      { files: [{ name: `invoice-${order}.txt`, bytes: invoice }] }
    )
  })
})

/** What `signalbox package`, `apply` and `up --tasks` take. */
export const tasks = [readOrders, makeInvoice]
