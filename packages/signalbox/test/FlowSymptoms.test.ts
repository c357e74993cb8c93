/** The page of symptoms of durable flows: what it shows is what `signalbox flows show` prints of such executions. */
import { assert, describe, it } from "@effect/vitest"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { report } from "../src/internal/output/FlowReport.ts"

const page = readFileSync(new URL("../../../docs/flow-symptoms.md", import.meta.url), "utf8")

class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", { message: Schema.String }) {}

const Price = Schema.Struct({ cents: Schema.Union([Schema.Finite, Schema.String]) })
const NewPrice = Schema.Struct({ cents: Schema.Finite })
const priced = (success: typeof Price | typeof NewPrice) =>
  Flow.step("price", {
    input: Schema.String,
    success,
    error: Schema.Never,
    // What the recorded code returned; the new schema does not accept it.
    run: () => Effect.succeed({ cents: "450" } as never)
  })
const price = priced(Price)
const does = (
  name: string,
  run: (order: string) => Effect.Effect<string, Unavailable>,
  more: { readonly repeat?: "never"; readonly retry?: { readonly attempts: number; readonly delay: "1 hour" } } = {}
) => Flow.step(name, { input: Schema.String, success: Schema.String, error: Unavailable, run, ...more })
const charge = does("charge", Effect.succeed)
const hanging = does("charge", () => Effect.never)
const away = does("charge", () => Effect.fail(new Unavailable({ message: "the payments service does not respond" })), {
  retry: { attempts: 20, delay: "1 hour" }
})
const refused = does("refund", () => Effect.fail(new Unavailable({ message: "the payments service refuses" })))
const approval = Flow.approval("approval")

type Body = (order: string) => Effect.Effect<unknown, Unavailable, Flow.FlowContext<never>>
const flowOf = (run: Body, limit: ReadonlyArray<Flow.FlowLimit<string>> = []) =>
  Flow.make("payments", {
    version: 1,
    input: Schema.String,
    success: Schema.Void,
    error: Unavailable,
    idempotencyKey: (order) => order,
    signals: [approval],
    limit,
    run: (order) => Effect.asVoid(run(order))
  })
type PaymentFlow = ReturnType<typeof flowOf>

const recorded: Body = (order) =>
  Effect.andThen(Effect.andThen(price(order), charge(order)), Flow.sleep("three days", "3 days"))
const nap = Flow.sleep("three days", "3 days")
const mistake = new TypeError("order.lines is not a function")

/** Moves virtual time while an effect runs. */
const passing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust("500 millis")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return yield* Fiber.join(fiber)
  })
const inProgram = <A, E, R>(flow: PaymentFlow, effect: Effect.Effect<A, E, R>) =>
  passing(Effect.provide(effect, Flow.layer(flow)))

/** Starts executions, and returns the last one after a while. */
const started = (
  flow: PaymentFlow,
  orders: ReadonlyArray<string> = ["one"],
  pause: "1 second" | "2 minutes" = "2 minutes"
) =>
  Effect.gen(function* () {
    let last = ""
    for (const order of orders) {
      last = yield* Flow.submit(flow, order)
      // The order of a queue is that of the times.
      yield* Effect.sleep("1 second")
    }
    yield* Effect.sleep(pause)
    return last
  })
/** The last of these executions, after a while. */
const stuck = (
  run: Body,
  limit: ReadonlyArray<Flow.FlowLimit<string>> = [],
  orders: ReadonlyArray<string> = ["one"]
) => {
  const flow = flowOf(run, limit)
  return inProgram(flow, Effect.flatMap(started(flow, orders), FlowExecutions.inspect))
}
const changed = (after: Body, before = recorded) =>
  Effect.gen(function* () {
    // Not parked yet, so that the next program continues it at its start.
    const id = yield* inProgram(flowOf(before), started(flowOf(before), ["one"], "1 second"))
    return yield* inProgram(flowOf(after), Effect.andThen(Effect.sleep("2 minutes"), FlowExecutions.inspect(id)))
  })
const commanded = (run: Body, command: (id: string) => Effect.Effect<void, unknown, FlowEngine>) =>
  inProgram(
    flowOf(run),
    Effect.gen(function* () {
      const id = yield* started(flowOf(run))
      yield* command(id)
      yield* Effect.sleep("2 minutes")
      return yield* FlowExecutions.inspect(id)
    })
  )

const symptoms: Readonly<Record<string, Effect.Effect<FlowExecutions.Inspection, unknown, FlowEngine>>> = {
  "waits for a signal": stuck(() => approval.receive()),
  sleeps: stuck(() => nap),
  "retries a step": stuck(away),
  "runs a step": stuck(hanging),
  computes: stuck((order) => Effect.andThen(charge(order), Effect.never)),
  "has no program": Effect.flatMap(inProgram(flowOf(recorded), started(flowOf(recorded))), FlowExecutions.inspect),
  "is suspended": commanded(() => nap, FlowExecutions.suspend),
  "is behind a limit": stuck(() => nap, [{ concurrency: 1 }], ["one", "two", "three"]),
  "is behind a limit of its key": stuck(() => nap, [{ key: () => "acme", concurrency: 1 }], ["one", "two"]),
  "is behind a rate": stuck(() => nap, [{ rate: "2/h" }], ["one", "two", "three"]),
  "reaches other steps": changed((order) => Effect.andThen(price(order), charge(order, { key: "card" }))),
  "reaches its steps in another order": changed((order) => Effect.andThen(charge(order), price(order))),
  "passes another input": changed((order) => Effect.andThen(Effect.andThen(price(order), charge(`${order}!`)), nap)),
  "fails earlier": changed(() => Effect.fail(new Unavailable({ message: "no order" }))),
  throws: changed((order) => Effect.andThen(price(order), Effect.die(mistake))),
  "cannot read its record": changed((order) =>
    Effect.andThen(Effect.andThen(priced(NewPrice)(order), charge(order)), nap)
  ),
  "has a step that throws": stuck(does("charge", () => Effect.die(mistake))),
  "breaks a rule": stuck((order) => Effect.andThen(charge(order, { key: "card" }), charge(order, { key: "card" }))),
  "must not repeat a step": changed(
    does("charge", () => Effect.never, { repeat: "never" }),
    does("charge", () => Effect.never, { repeat: "never" })
  ),
  "could not undo": stuck((order) =>
    Effect.andThen(
      Flow.compensate(charge(order), () => refused(order)),
      does("ship", () => Effect.fail(new Unavailable({ message: "no stock" })))(order)
    )
  ),
  "does not end when it is cancelled": commanded(
    (order) => Effect.andThen(charge(order), Effect.uninterruptible(Effect.never)),
    FlowExecutions.cancel
  )
}

/** What the command prints, without its tables, and with one time, host and id for all. */
const printed = (inspection: FlowExecutions.Inspection) => {
  const [, ...lines] = report(inspection, inspection.execution.startedAt).split("\n")
  const first = lines.findIndex((line) => line.startsWith("key "))
  return lines
    .slice(0, first)
    .join("\n")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-11-27T14:02:00.000Z")
    .replaceAll(hostname(), "worker-1")
    .replaceAll(/process [\w-]+/g, "process 1d7c…")
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, "01a4…")
}

describe("the page of symptoms shows what is printed of an execution that", () => {
  for (const [name, inspection] of Object.entries(symptoms)) {
    it.effect(name, () =>
      Effect.map(inspection, (inspection) => {
        assert.include(page, `\`\`\`text\n${printed(inspection)}\n\`\`\`\n`)
      }).pipe(Effect.provide(Layer.fresh(FlowEngine.layerMemory)))
    )
  }
})
