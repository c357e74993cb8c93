import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"

export class Rates extends Context.Service<
  Rates,
  {
    readonly toEuro: (
      currency: string
    ) => Effect.Effect<number, Task.ApplicationFailure>
  }
>()("example/Rates") {}

export const convert = Task.make("convert-invoice", {
  input: Schema.Struct({
    number: Schema.String,
    amount: Schema.Finite,
    currency: Schema.String
  }),
  output: Schema.Struct({ number: Schema.String, euro: Schema.Finite }),
  run: Effect.fnUntraced(function* (item) {
    const { amount, currency, number } = item.payload
    if (amount <= 0) {
      return yield* new Task.BusinessFailure({
        code: "BAD_AMOUNT",
        message: `invoice ${number} has no amount to pay`
      })
    }
    const rates = yield* Rates
    const euro =
      Math.round(amount * (yield* rates.toEuro(currency)) * 100) / 100
    const receipt = new TextEncoder().encode(
      `${number}: EUR ${euro.toFixed(2)}\n`
    )
    return Task.output(
      { number, euro },
      { files: [{ name: `${number}.txt`, bytes: receipt }] }
    )
  })
})

export const ConvertWorker = Layer.unwrap(
  Effect.map(Config.Redacted("SIGNALBOX_LINK_TOKEN"), (linkToken) =>
    Worker.layer({
      origin: "http://127.0.0.1:4700",
      linkToken,
      name: "converter",
      tasks: [convert],
      capacity: 4
    })
  )
).pipe(Layer.provide(FetchHttpClient.layer))
