import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as TestClock from "effect/testing/TestClock"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import {
  defineFlow,
  defineStep,
  defineTransaction,
  FlowCancelled,
  FlowError,
  FlowsClosed,
  inbox,
  type OpenOptions,
  openFlows,
  signal
} from "../src/Promises.ts"
import { until } from "./support/Polling.ts"

const log: Array<string> = []
const keys: Array<string> = []
const note = defineStep({
  name: "note",
  input: Schema.String,
  output: Schema.String,
  run: async (text, { idempotencyKey }) => {
    log.push(text)
    keys.push(idempotencyKey)
    return text
  }
})
class OutOfStock extends Error {
  override readonly name = "OutOfStock"
}
const refuse = defineStep({
  name: "refuse",
  input: Schema.String,
  output: Schema.String,
  run: async (text) => {
    throw new OutOfStock(`no ${text}`)
  }
})
let failures = 0
const flaky = defineStep({
  name: "flaky",
  input: Schema.Void,
  output: Schema.Finite,
  retry: { attempts: 3, while: ({ type }) => type === "OutOfStock" },
  run: async () => {
    if (++failures < 3) throw new OutOfStock("once more")
    return failures
  }
})
const slow = defineStep({
  name: "slow",
  input: Schema.Void,
  output: Schema.Void,
  timeout: "1 second",
  run: (_input, { signal }) =>
    new Promise<void>((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        log.push("aborted")
        reject(new Error("aborted"))
      })
    })
})
const price = signal("price", Schema.Finite)
const offers = inbox("offers", Schema.String)

const common = { input: Schema.String, output: Schema.String, key: (text: string) => text } as const

/** Runs a flow under virtual time, and durably: what it returns or fails with. */
const executed = <S extends Schema.ConstraintCodec<unknown, unknown, never, never>>(
  flow: ReturnType<typeof defineFlow<typeof Schema.String, S>>,
  input: string
) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.exit(Flow.execute(flow, input)))
    yield* passes("3 days")
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(flow.layer, FlowEngine.layerMemory))))

/** Time passes, in parts: promises are answered in between. */
const passes = (duration: "3 days" | "1 minute") =>
  Effect.gen(function* () {
    for (let part = 0; part < 20; part++) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust(duration === "3 days" ? "4 hours" : "3 seconds")
    }
  })

describe("a flow of promises", () => {
  it.effect("runs steps, sleeps, loops, groups and races, plainly and durably", () =>
    Effect.gen(function* () {
      const sub = defineFlow({ name: "sub", ...common, run: (ctx, text) => ctx.step(note, `sub ${text}`) })
      const flow = defineFlow({
        name: "all of it",
        ...common,
        run: async (ctx, text) => {
          const first = await ctx.step(note, text)
          await ctx.sleep("nap", "10 hours")
          const each = await ctx.forEach(
            "item",
            ["a", "b", "c"],
            { key: (item) => item, concurrency: 2 },
            (ctx, item) => ctx.step(note, item)
          )
          const both = await ctx.all("both", {
            one: (ctx) => ctx.step(note, "one"),
            two: async (ctx) => (await ctx.step(note, "two")).length
          })
          expectTypeOf(both).toEqualTypeOf<{ one: string; two: number }>()
          const [x] = await ctx.all("list", [(ctx) => ctx.step(note, "x")])
          const winner = await ctx.race("first", {
            late: (ctx) => ctx.sleep("late", "2 hours").then(() => "late"),
            soon: (ctx) => ctx.sleep("soon", "1 hour").then(() => "soon")
          })
          const over = await ctx
            .timeout("limit", "1 hour", (ctx) => ctx.sleep("long", "5 hours"))
            .catch((error) => error._tag)
          const at = await ctx.now("now")
          const called = await ctx.call(sub, "s")
          return [first, ...each, both.one, both.two, x, winner, over, at instanceof Date, called].join(" ")
        }
      })
      const expected = "t a b c one 3 x soon FlowTimeout true sub s"
      assert.deepStrictEqual(yield* executed(flow, "t"), Exit.succeed(expected))
      const plain = yield* Effect.forkChild(Flow.run(flow, "t"))
      yield* passes("3 days")
      assert.strictEqual(yield* Fiber.join(plain), expected)
    })
  )

  it.effect("waits for signals and messages of an inbox", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "asks",
        ...common,
        signals: [price, offers],
        run: async (ctx) => `${await ctx.signal(price)} ${await ctx.inbox(offers)} ${await ctx.inbox(offers)}`
      })
      const program = Effect.gen(function* () {
        const id = yield* Flow.submit(flow, "s")
        yield* passes("1 minute")
        yield* FlowExecutions.signal(id, "offers", "a")
        yield* FlowExecutions.signal(id, "offers", "b")
        yield* FlowExecutions.signal(id, "price", 3)
        yield* passes("1 minute")
        assert.strictEqual(yield* Flow.execute(flow, "s"), "3 a b")
      })
      yield* program.pipe(Effect.provide(Layer.fresh(Layer.provideMerge(flow.layer, FlowEngine.layerMemory))))
    })
  )

  it.effect("starts children, sends to them, cancels them and collects their results, in any branch", () =>
    Effect.gen(function* () {
      const order = defineFlow({
        name: "order",
        ...common,
        signals: [price],
        run: async (ctx, text) => {
          await ctx.compensate(
            (ctx) => ctx.step(note, text),
            (ctx) => ctx.step(note, `undo ${text}`)
          )
          const cents = await ctx.signal(price)
          if (cents === 0) throw new OutOfStock(text)
          return `${text} for ${cents}`
        }
      })
      const flow = defineFlow({
        name: "orders",
        ...common,
        run: async (ctx) => {
          const a = await ctx.start(order, "a", { key: "a" })
          const b = await ctx.start(order, "b")
          const c = await ctx.start(order, "c", { onParentEnd: "leave" })
          await ctx.send(a, price, 5)
          await ctx.send(b, price, 0)
          await ctx.sleep("a while", "1 hour")
          await ctx.cancel(c)
          const results = await ctx.forEach("child", [a, b, c], { key: ({ id }) => id, concurrency: 3 }, (ctx, child) =>
            ctx.result(child).catch((error) => `${error._tag} ${error.type ?? ""}`)
          )
          expectTypeOf(await ctx.result(a)).toEqualTypeOf<string>()
          return results.join(", ")
        }
      })
      const done = Exit.succeed("a for 5, FlowError OutOfStock, FlowCancelled ")
      log.length = 0
      const fiber = yield* Effect.forkChild(Effect.exit(Flow.run(flow, "t")))
      yield* passes("3 days")
      assert.deepStrictEqual(yield* Fiber.join(fiber), done)
      assert.sameMembers(log, ["a", "b", "c", "undo b", "undo c"])

      const both = Layer.merge(flow.layer, order.layer)
      const durably = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Effect.exit(Flow.execute(flow, "t")))
        yield* passes("3 days")
        const exit = yield* Fiber.join(fiber)
        const { executions } = yield* FlowExecutions.list({ flow: "order" })
        return { exit, states: executions.map(({ state }) => state) }
      }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(both, FlowEngine.layerMemory))))
      const { exit, states } = yield* durably
      assert.deepStrictEqual(exit, done)
      assert.sameMembers(states, ["completed", "failed", "cancelled"])
    })
  )

  it.effect("is halted when it sends what its child does not list, so that a corrected deployment continues it", () =>
    Effect.gen(function* () {
      const order = defineFlow({ name: "order", ...common, run: (ctx, text) => ctx.step(note, text) })
      const flow = defineFlow({
        name: "orders",
        ...common,
        run: async (ctx) => {
          const child = await ctx.start(order, "a")
          await ctx.send(child, price, 5)
          return ctx.result(child)
        }
      })
      const both = Layer.merge(flow.layer, order.layer)
      const fiber = yield* Effect.forkChild(
        Effect.flip(Flow.execute(flow, "t")).pipe(
          Effect.provide(Layer.fresh(Layer.provideMerge(both, FlowEngine.layerMemory)))
        )
      )
      yield* passes("1 minute")
      const error = yield* Fiber.join(fiber)
      assert.match(error.message, /the flow order does not list price/)
    })
  )

  it.effect("passes steps their idempotency key, and retries failures", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "tools",
        ...common,
        run: async (ctx, text) => {
          await ctx.step(note, text, { key: "k" })
          return `${await ctx.step(flaky, undefined)}`
        }
      })
      assert.deepStrictEqual(yield* executed(flow, "tools"), Exit.succeed("3"))
      assert.match(keys.at(-1) ?? "", /^[0-9a-f-]{36}\/note\[k\]$/)
    })
  )

  it.effect("aborts a step at its timeout", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "slow",
        ...common,
        run: (ctx) =>
          ctx.step(slow, undefined).then(
            () => "",
            (error) => error.type
          )
      })
      assert.deepStrictEqual(yield* executed(flow, "x"), Exit.succeed("StepTimeout"))
      assert.include(log, "aborted")
    })
  )

  it.effect("rejects with the error of a step, and fails with what it throws", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "fails",
        ...common,
        run: async (ctx, text) => {
          try {
            return await ctx.step(refuse, text)
          } catch (error) {
            assert.instanceOf(error, FlowError)
            if (text === "caught") return error.type
            throw new FlowError({ type: "Refused", message: error.message, data: { text } })
          }
        }
      })
      assert.deepStrictEqual(yield* executed(flow, "caught"), Exit.succeed("OutOfStock"))
      assert.deepStrictEqual(
        yield* executed(flow, "apples"),
        Exit.fail(new FlowError({ type: "Refused", message: "no apples", data: { text: "apples" } }))
      )
    })
  )

  it.effect("undoes when it fails", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "undone",
        ...common,
        run: async (ctx, text) => {
          await ctx.compensate(
            (ctx) => ctx.step(note, `${text} done`),
            (ctx, value) => ctx.step(note, `${value} undone`)
          )
          return ctx.step(refuse, text)
        }
      })
      yield* executed(flow, "u")
      assert.deepStrictEqual(log.slice(-2), ["u done", "u done undone"])
    })
  )

  it.effect("halts on a mistake in its code, and undoes nothing", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "mistake",
        ...common,
        run: async (_ctx, text) => (JSON.parse("{}") as { name: string }).name.concat(text)
      })
      const exit = yield* executed(flow, "m")
      assert.match(String(exit), /FlowHalted/)
    })
  )

  for (const [what, run] of [
    ["Promise.all over steps", (ctx) => Promise.all([ctx.step(note, "p"), ctx.step(note, "q")]).then(String)],
    [
      "a second operation while a promise of the first is open",
      async (ctx) => {
        const nap = ctx.sleep("nap", "1 hour")
        await new Promise((resolve) => setImmediate(resolve))
        await ctx.step(note, "r")
        await nap
        return ""
      }
    ],
    ["the context of the outside in a member", (ctx) => ctx.all("in", { a: () => ctx.step(note, "s") }).then(String)]
  ] satisfies ReadonlyArray<
    [string, Parameters<typeof defineFlow<typeof Schema.String, typeof Schema.String>>[0]["run"]]
  >) {
    it.effect(`refuses ${what}`, () =>
      Effect.gen(function* () {
        const before = log.length
        const exit = yield* executed(defineFlow({ name: "two", ...common, run }), "x")
        assert.match(String(exit), /FlowHalted.*ctx\.all/)
        assert.strictEqual(log.length, before)
      })
    )
  }

  it.effect("refuses a call that is not awaited when it returns", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "floating",
        ...common,
        run: async (ctx) => {
          void ctx.sleep("nap", "1 hour")
          return ""
        }
      })
      assert.match(String(yield* executed(flow, "x")), /FlowHalted.*await every call/)
    })
  )

  it.effect("continues to run while it awaits another promise", () =>
    Effect.gen(function* () {
      const flow = defineFlow({
        name: "foreign",
        ...common,
        run: async (ctx, text) => {
          await new Promise((resolve) => setTimeout(resolve, 5))
          return ctx.step(note, text)
        }
      })
      const program = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Flow.execute(flow, "f"))
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 30)))
        assert.strictEqual(yield* Fiber.join(fiber), "f")
      })
      yield* program.pipe(Effect.provide(Layer.fresh(Layer.provideMerge(flow.layer, FlowEngine.layerMemory))))
    })
  )

  it.effect("rejects when it is cancelled, again if that was caught, and undoes", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const flow = defineFlow({
        name: "cancelled",
        ...common,
        run: async (ctx, text) => {
          await ctx.compensate(
            (ctx) => ctx.step(note, text),
            (ctx) => ctx.step(note, `${text} undone`)
          )
          await ctx.sleep("nap", "10 days").catch((error) => seen.push(error))
          await ctx.step(note, "never").catch((error) => seen.push(error))
          return "escaped"
        }
      })
      const program = Effect.gen(function* () {
        const id = yield* Flow.submit(flow, "c")
        yield* passes("1 minute")
        yield* FlowExecutions.cancel(id)
        yield* passes("1 minute")
        assert.strictEqual((yield* FlowExecutions.get(id)).state, "cancelled")
        assert.deepStrictEqual(seen, [new FlowCancelled({ execution: id }), new FlowCancelled({ execution: id })])
        assert.strictEqual(log.at(-1), "c undone")
        assert.notInclude(log, "never")
      })
      yield* program.pipe(Effect.provide(Layer.fresh(Layer.provideMerge(flow.layer, FlowEngine.layerMemory))))
    })
  )

  it.effect("runs no finally when it is parked, and one when it ends", () =>
    Effect.gen(function* () {
      let ended = 0
      const flow = defineFlow({
        name: "parked",
        ...common,
        run: async (ctx, text) => {
          try {
            await ctx.sleep("nap", "1 hour")
            return text
          } finally {
            ended++
          }
        }
      })
      const program = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Flow.execute(flow, "p"))
        yield* passes("1 minute")
        assert.strictEqual(ended, 0)
        yield* passes("3 days")
        assert.strictEqual(yield* Fiber.join(fiber), "p")
        assert.strictEqual(ended, 1)
      })
      yield* program.pipe(Effect.provide(Layer.fresh(Layer.provideMerge(flow.layer, FlowEngine.layerMemory))))
    })
  )
})

/** As libraries make them: a number that may come as text. */
const positive: StandardSchemaV1<unknown, number> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      Number(value) > 0 ? { value: Number(value) } : { issues: [{ message: "must be positive", path: ["amount"] }] }
  }
}

describe("a schema of another library", () => {
  const double = defineStep({ name: "double", input: positive, output: positive, run: (n) => n * 2 })
  const flow = defineFlow({
    name: "doubled",
    input: positive,
    output: positive,
    key: String,
    run: (ctx, n) => {
      expectTypeOf(n).toEqualTypeOf<number>()
      return ctx.step(double, n)
    }
  })
  it.effect("checks inputs and results", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Flow.run(flow, 4), 8)
      const exit = yield* Effect.exit(Flow.run(flow, -4))
      assert.match(String(exit), /amount: must be positive/)
    })
  )
})

describe("openFlows", () => {
  const flow = defineFlow({
    name: "opened",
    ...common,
    signals: [price],
    run: async (ctx, text) => {
      if (text === "bad") await ctx.step(refuse, text)
      return `${await ctx.step(note, text)} ${text === "asks" ? await ctx.signal(price) : 0}`
    }
  })

  it("executes, submits, signals and cancels with promises", async () => {
    const flows = await openFlows({ memory: true, flows: [flow] })
    assert.strictEqual(await flows.execute(flow, "x"), "x 0")
    const error = await flows.execute(flow, "bad").catch((error: unknown) => error)
    assert.deepStrictEqual(error, new FlowError({ type: "OutOfStock", message: "no bad", data: null }))
    const id = await flows.submit(flow, "asks")
    await flows.signal(flow, "asks", price, 5)
    const handle = await flows.handle(flow, "asks")
    assert.strictEqual(handle.id, id)
    assert.strictEqual(await handle.result(), "asks 5")
    await flows.close()
  })

  it("takes no new execution of a flow that it drains", async () => {
    const flows = await openFlows({ memory: true, flows: [], drain: [flow] })
    const error = await flows.submit(flow, "x").catch((error: unknown) => error)
    assert.propertyVal(error, "_tag", "FlowDraining")
    const [version] = await flows.run(FlowExecutions.versions())
    assert.deepStrictEqual(
      version?.processes.map(({ draining }) => draining),
      [true]
    )
    await flows.close()
  })

  it("rejects calls that wait when it is closed with the execution, which continues in the next program", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-flows-"))
    const file = join(folder, "flows.db")
    const flows = await openFlows({ file, flows: [flow] })
    const pending = flows.execute(flow, "asks").catch((error: unknown) => error)
    const handle = await flows
      .handle(flow, "asks")
      .catch(() => flows.submit(flow, "asks").then(() => flows.handle(flow, "asks")))
    const awaited = handle.result().catch((error: unknown) => error)
    await flows.close()
    for (const error of [await pending, await awaited]) {
      assert.instanceOf(error, FlowsClosed)
      assert.deepInclude(error, { _tag: "FlowsClosed", execution: handle.id })
      assert.include(String(error), `before the execution ${handle.id} had ended: it continues in the next program`)
    }
    const late = await flows.submit(flow, "x").catch((error: unknown) => error)
    assert.deepInclude(late, { _tag: "FlowsClosed", execution: null })
    const next = await openFlows({ file, flows: [flow] })
    await next.signal(flow, "asks", price, 7)
    assert.strictEqual(await next.execute(flow, "asks"), "asks 7")
    await next.close()
    rmSync(folder, { recursive: true })
  })

  it("retains executions as long as it is told", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-flows-"))
    const file = join(folder, "flows.db")
    const flows = await openFlows({ file, flows: [flow] })
    await flows.execute(flow, "x")
    await flows.close()
    const next = await openFlows({ file, flows: [flow], retain: { completed: 1 } })
    const error = await next
      .run(until(Effect.map(FlowExecutions.list(), ({ executions }) => executions.length === 0)))
      .then(() => next.execute(flow, "x").catch((error: unknown) => error))
    assert.propertyVal(error, "_tag", "FlowExpired")
    await next.close()
    assert.match(
      String(await openFlows({ file, flows: [flow], retain: { completed: -1 } }).catch(String)),
      /retain\.completed/
    )
    rmSync(folder, { recursive: true })
  })

  it("has the management of its executions for the server of the program", async () => {
    const flows = await openFlows({ memory: true, flows: [flow] })
    const id = await flows.submit(flow, "asks")
    const token = "a token of some length"
    const headers = { authorization: `Bearer ${token}` }
    const manage = await flows.toWebHandler({ token, prefix: "/flows" })
    const response = await manage(new Request(`http://localhost/flows/flow-executions/${id}`, { headers }))
    assert.strictEqual((await response.json()).execution.id, id)
    const server = createServer(await flows.toNodeHandler({ token }))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const listed = await fetch(`http://127.0.0.1:${port}/flow-executions`, { headers })
    assert.strictEqual((await listed.json()).executions[0].id, id)
    assert.strictEqual((await fetch(`http://127.0.0.1:${port}/flow-executions`)).status, 401)
    const short = await flows.toWebHandler({ token: "short" }).catch((error: unknown) => error)
    assert.propertyVal(short, "_tag", "InvalidManagement")
    server.close()
    await flows.close()
  })

  it("names the storage that is missing", async () => {
    // @ts-expect-error no storage
    const error = await openFlows({ flows: [flow] }).catch((error: unknown) => error)
    assert.match(String(error), /TypeError: openFlows: needs one of `file`/)
    assert.match(String(await openFlows({ file: "", flows: [flow] }).catch(String)), /`file` is empty/)
  })

  it("gives steps the services that the flow names, from a layer", async () => {
    class Prices extends Context.Service<Prices, { readonly of: (article: string) => number }>()("test/Prices") {}
    class Stock extends Context.Service<Stock, { readonly of: (article: string) => number }>()("test/Stock") {}
    const given = { input: Schema.String, success: Schema.Finite, error: Schema.Never }
    const priceOf = Flow.step("price", { ...given, run: (article) => Prices.useSync(({ of }) => of(article)) })
    const stockOf = Flow.step("stock", { ...given, run: (article) => Stock.useSync(({ of }) => of(article)) })
    const definition = { input: Schema.String, output: Schema.Finite, key: (text: string) => text }
    const worth = defineFlow({
      ...definition,
      name: "worth",
      services: [Prices, Stock],
      run: async (ctx, article) => (await ctx.step(priceOf, article)) * (await ctx.step(stockOf, article))
    })
    expectTypeOf(worth.layer).toEqualTypeOf<Layer.Layer<never, never, Prices | Stock | FlowEngine>>()
    // @ts-expect-error the flow does not name the services of the step
    // @effect-diagnostics-next-line missingEffectContext:off
    defineFlow({ ...definition, name: "unnamed", run: (ctx, article) => ctx.step(priceOf, article) })
    expectTypeOf<{ memory: true; flows: [typeof worth] }>().not.toExtend<OpenOptions<Prices | Stock>>()
    const layer = Layer.mergeAll(Layer.succeed(Prices, { of: () => 3 }), Layer.succeed(Stock, { of: () => 14 }))
    const flows = await openFlows({ memory: true, flows: [worth], layer })
    assert.strictEqual(await flows.execute(worth, "lamp"), 42)
    await flows.close()
  })
})

describe("a transaction", () => {
  const book = defineTransaction({
    name: "book",
    input: Schema.String,
    output: Schema.String,
    run: async (order, { query }) => {
      await query("INSERT INTO ledger (id) VALUES (?)", [order])
      if (order === "refused") throw new OutOfStock("no paper")
      return `booked ${order}`
    }
  })
  const books = defineFlow({
    name: "books",
    input: Schema.String,
    output: Schema.String,
    key: (order) => order,
    run: (ctx, order) => ctx.step(book, order)
  })

  it("commits rows with the executions that it submits, and a step its rows with its result", async () => {
    const flows = await openFlows({ memory: true, flows: [books] })
    const ids = (table: string) =>
      flows.transaction(async ({ query }) =>
        (await query<{ readonly id: string }>(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id)
      )
    await flows.transaction(async ({ query }) => {
      await query("CREATE TABLE orders (id TEXT PRIMARY KEY)")
      await query("CREATE TABLE ledger (id TEXT PRIMARY KEY)")
    })
    const accept = (order: string, isBad: boolean) =>
      flows.transaction(async ({ query, submit }) => {
        await query("INSERT INTO orders (id) VALUES (?)", [order])
        await submit(books, order)
        if (isBad) throw new OutOfStock("no paper")
      })
    await accept("one", false)
    assert.strictEqual(await flows.execute(books, "one"), "booked one")
    const error: unknown = await accept("two", true).catch((error: unknown) => error)
    assert.instanceOf(error, OutOfStock)
    assert.deepStrictEqual([await ids("orders"), await ids("ledger")], [["one"], ["one"]])
    const refused: unknown = await flows.execute(books, "refused").catch((error: unknown) => error)
    assert.deepInclude(refused, { _tag: "FlowError", type: "OutOfStock", message: "no paper" })
    assert.deepStrictEqual(await ids("ledger"), ["one"])
    await flows.close()
  })
})
