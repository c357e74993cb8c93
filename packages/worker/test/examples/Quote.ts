import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Program from "@signalbox/worker/Program"
import * as Robot from "@signalbox/worker/Robot"
import * as Task from "@signalbox/worker/Task"

const quote = Task.make("quote", {
  input: Schema.Struct({ customer: Schema.String, pages: Schema.Finite }),
  output: Schema.Struct({ customer: Schema.String, price: Schema.Finite }),
  run: Effect.fnUntraced(function* (item) {
    const { customer, pages } = item.payload
    // An asset of the workspace: prices.json.
    const { perPage } = yield* Robot.assetJson(
      "prices.json",
      Schema.Struct({ perPage: Schema.Finite })
    )
    // A secret of its vault. It is redacted wherever it is shown.
    const account = yield* Robot.secretItem("shop", "account")
    const letter = `${customer}: ${pages * perPage}, payable to ${Redacted.value(account)}\n`
    yield* Robot.saveArtifact({
      name: `letters/${customer}.txt`,
      bytes: new TextEncoder().encode(letter)
    })
    return { customer, price: pages * perPage }
  })
})

Program.run([quote]).pipe(Program.main)
