/**
 * A process whose executions set states, append to feeds and answer requests, and that ends itself where it is told to.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createInterface } from "node:readline"
import * as Flow from "../../../src/Flow.ts"
import { type FlowEngine, over } from "../../../src/FlowEngine.ts"
import * as FlowStates from "../../../src/FlowStates.ts"
import { Journal } from "../../../src/internal/journal/Journal.ts"
import * as Postgres from "../../../src/internal/journal/Postgres.ts"
import * as Sqlite from "../../../src/internal/journal/Sqlite.ts"
import * as Leases from "../../../src/internal/ownership/Leases.ts"
import * as Local from "../../../src/internal/ownership/Local.ts"
import { Ownership } from "../../../src/internal/ownership/Ownership.ts"
import { NumberedSaidOrder, requests, rounds, type SaidOrder, SaidPlan } from "./Said.ts"

const { leaseMillis, store } = Schema.decodeSync(Schema.fromJsonString(SaidPlan))(process.argv[2] ?? "")
const say = (line: object) => Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`))

const progress = Flow.state("progress", Schema.Finite)
const lines = Flow.feed("lines", Schema.String)
const ask = Flow.request("ask", { input: Schema.String, success: Schema.Finite })
const tick = Flow.step("tick", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (n) {
    yield* lines.append(`ticks ${n}`)
    yield* Effect.sleep(n % 4)
    return n
  })
})

const teller = Flow.make("teller", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: (n) => `${n}`,
  signals: [ask],
  states: [progress, lines],
  run: Effect.fnUntraced(function* () {
    yield* Flow.all("both", {
      works: Effect.gen(function* () {
        for (let n = 0; n < rounds; n++) {
          yield* progress.set(n)
          yield* lines.append(`begins ${n}`)
          yield* tick(n)
          yield* lines.append(`ends ${n}`)
        }
      }),
      answers: Effect.gen(function* () {
        for (let n = 0; n < requests; n++) {
          const { answer, id } = yield* ask.receive()
          yield* lines.append(`asked ${id}`)
          yield* tick(n)
          yield* answer(n)
          yield* lines.append(`answered ${id} by ${n}`)
        }
      })
    })
    yield* progress.set(rounds)
    yield* lines.append("done")
  })
})

let death: { readonly at: string; count: number } | null = null
const reach = (at: string) =>
  Effect.sync(() => {
    if (death?.at === at && --death.count === 0) process.kill(process.pid, "SIGKILL")
  })
const dying = (journal: typeof Journal.Service) =>
  Journal.of({
    ...journal,
    write: (fence, write) =>
      reach("before a write").pipe(
        Effect.andThen(journal.write(fence, write)),
        Effect.tap(() => reach("after a write"))
      )
  })

const handle = (n: number) => Flow.handle(teller, `${n}`)
const carryOut = (order: SaidOrder): Effect.Effect<unknown, unknown, FlowEngine> => {
  switch (order.do) {
    case "submit":
      return Flow.submit(teller, order.n)
    case "request":
      return Effect.flatMap(handle(order.n), ({ request }) => request(ask, order.id, { id: order.id }))
    case "next":
      return Effect.flatMap(handle(order.n), ({ id }) =>
        FlowStates.next(id, { after: order.after, wait: "100 millis", limit: 7 })
      )
    case "die":
      return Effect.sync(() => {
        death = { at: order.at, count: order.count }
        return null
      })
  }
}

const program = Effect.gen(function* () {
  yield* say({ ready: true })
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), (cause) => cause).pipe(
    Stream.runForEach((line) =>
      Effect.gen(function* () {
        const { id, order } = yield* Schema.decodeEffect(Schema.fromJsonString(NumberedSaidOrder))(line)
        const exit = yield* Effect.exit(carryOut(order))
        const value = Exit.isSuccess(exit) ? exit.value : String(Cause.squash(exit.cause))
        yield* say({ id, ok: Exit.isSuccess(exit), value })
      }).pipe(Effect.forkScoped)
    )
  )
}).pipe(Effect.scoped)

const journal =
  "file" in store ? Sqlite.layer(store.file) : Postgres.layer({ url: Redacted.make(store.url), schema: store.schema })
const ownership = "file" in store ? Local.layer : Layer.effect(Ownership, Leases.makeWith(leaseMillis))
const engine = over(Layer.effect(Journal, Effect.map(Journal, dying)).pipe(Layer.provide(journal)), ownership)
NodeRuntime.runMain(program.pipe(Effect.provide(Layer.provideMerge(Flow.layer(teller), engine))))
