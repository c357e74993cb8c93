import { assert } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { defineFlow, defineStep, FlowError, inbox, openFlows, signal } from "../../src/Promises.ts"
import { promised, scenarios } from "../support/Scenarios.ts"

const common = { input: Schema.String, output: Schema.String, key: (text: string) => text } as const
const upper = defineStep({
  name: "upper",
  input: Schema.String,
  output: Schema.String,
  run: async (text) => text.toUpperCase()
})
/** Fails until it is tried for the third time. */
const makeFlaky = () => {
  const tried: Array<string> = []
  const flaky = defineStep({
    name: "flaky",
    input: Schema.String,
    output: Schema.String,
    retry: { attempts: 3, delay: 10 },
    run: async (text) => {
      tried.push(text)
      if (tried.length < 3) throw new Error("not yet")
      return `${text} after ${tried.length}`
    }
  })
  return { flaky, tried }
}
const approval = signal("approval", Schema.Boolean)
const mail = inbox("mail", Schema.String)

scenarios("flows of promises", () => {
  promised("dbos: wf-free-step-run", async (storage) => {
    const flow = defineFlow({ name: "free", ...common, run: (ctx, text) => ctx.step(upper, text) })
    const flows = await openFlows({ ...storage, flows: [flow] })
    assert.strictEqual(await flows.execute(flow, "joe"), "JOE")
    assert.strictEqual(await flows.execute(flow, "joe"), "JOE")
    await flows.close()
  })

  promised("dbos: wf-free-step-retry", async (storage) => {
    const { flaky, tried } = makeFlaky()
    const flow = defineFlow({ name: "retries", ...common, run: (ctx, text) => ctx.step(flaky, text) })
    const flows = await openFlows({ ...storage, flows: [flow] })
    assert.strictEqual(await flows.execute(flow, "x"), "x after 3")
    assert.deepStrictEqual(tried, ["x", "x", "x"])
    await flows.close()
  })

  promised("dbos: retrieve-workflowstatus", async (storage) => {
    const flow = defineFlow({
      name: "waits",
      ...common,
      signals: [approval],
      run: async (ctx) => `${await ctx.signal(approval)}`
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    const id = await flows.submit(flow, "x")
    const before = await flows.run(FlowExecutions.get(id))
    await flows.signal(flow, "x", approval, true)
    const handle = await flows.handle(flow, "x")
    assert.strictEqual(await handle.result(), "true")
    const after = await flows.run(FlowExecutions.get(id))
    assert.deepStrictEqual([before.endedAt, after.state, after.result], [null, "completed", "true"])
    await flows.close()
  })

  promised("dbos: tight-loop", async (storage) => {
    const flow = defineFlow({
      name: "loop",
      ...common,
      run: async (ctx) => {
        let text = ""
        for (let n = 0; n < 50; n++) text += await ctx.step(upper, "a")
        return text
      }
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    assert.strictEqual(await flows.execute(flow, "x"), "A".repeat(50))
    await flows.close()
  })

  promised("dbos: abort-function", async (storage) => {
    const flow = defineFlow({
      name: "aborts",
      ...common,
      run: async (ctx, text) => {
        await ctx.step(upper, text)
        throw new FlowError({ type: "Aborted", message: `no ${text}`, data: { text } })
      }
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    const error = await flows.execute(flow, "x").catch((error: unknown) => error)
    assert.deepStrictEqual(error, new FlowError({ type: "Aborted", message: "no x", data: { text: "x" } }))
    await flows.close()
  })

  promised("dbos: send_recv_get_set", async (storage) => {
    const flow = defineFlow({
      name: "receives",
      ...common,
      signals: [mail],
      run: async (ctx) => `${await ctx.inbox(mail)} ${await ctx.inbox(mail)}`
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    await flows.submit(flow, "x")
    await flows.signal(flow, "x", mail, "a", { id: "1" })
    await flows.signal(flow, "x", mail, "a", { id: "1" })
    await flows.signal(flow, "x", mail, "b", { id: "2" })
    assert.strictEqual(await flows.execute(flow, "x"), "a b")
    await flows.close()
  })

  promised("dbos: promise-all-settled-manythings", async (storage) => {
    const flow = defineFlow({
      name: "settles",
      ...common,
      run: async (ctx) => {
        const fail = defineStep({
          name: "fail",
          input: Schema.Void,
          output: Schema.Void,
          run: () => Promise.reject(new Error("no"))
        })
        const all = await ctx.all("all", [
          (ctx) => ctx.step(upper, "a"),
          (ctx) => ctx.sleep("nap", 20).then(() => "slept"),
          (ctx) =>
            ctx.step(fail, undefined).then(
              () => "",
              (error) => `failed: ${error.message}`
            )
        ])
        return all.join(", ")
      }
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    assert.strictEqual(await flows.execute(flow, "x"), "A, slept, failed: no")
    await flows.close()
  })

  promised("restate: Combinators awakeableOrTimeout, in promises", async (storage) => {
    const flow = defineFlow({
      name: "races",
      ...common,
      signals: [approval],
      run: (ctx) =>
        ctx.race("first", {
          person: async (ctx) => `${await ctx.signal(approval)}`,
          over: (ctx) => ctx.sleep("over", 20).then(() => "nobody")
        })
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    assert.strictEqual(await flows.execute(flow, "x"), "nobody")
    await flows.close()
  })

  promised("dbos: recovery of a flow of promises", async (storage) => {
    const calls: Array<string> = []
    const note = defineStep({
      name: "note",
      input: Schema.String,
      output: Schema.String,
      run: async (text) => {
        calls.push(text)
        return text
      }
    })
    const flow = defineFlow({
      name: "recovers",
      ...common,
      signals: [approval],
      run: async (ctx, text) => {
        await ctx.step(note, "one")
        await ctx.signal(approval)
        return ctx.step(note, text)
      }
    })
    const before = await openFlows({ ...storage, flows: [flow] })
    await before.submit(flow, "two")
    await before.close()
    const after = await openFlows({ ...storage, flows: [flow] })
    await after.signal(flow, "two", approval, true)
    assert.strictEqual(await after.execute(flow, "two"), "two")
    assert.deepStrictEqual(calls, ["one", "two"])
    await after.close()
  })

  promised("temporal samples: saga, in promises", async (storage) => {
    const calls: Array<string> = []
    const note = defineStep({
      name: "note",
      input: Schema.String,
      output: Schema.Void,
      run: (text) => void calls.push(text)
    })
    const flow = defineFlow({
      name: "saga",
      ...common,
      run: async (ctx, text) => {
        for (const part of ["flight", "car"]) {
          await ctx.compensate(
            (ctx) => ctx.step(note, part),
            (ctx) => ctx.step(note, `cancel ${part}`)
          )
        }
        throw new FlowError({ type: "NoMoney", message: text, data: null })
      }
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    assert.propertyVal(await flows.execute(flow, "x").catch((error: unknown) => error), "type", "NoMoney")
    assert.deepStrictEqual(calls, ["flight", "car", "cancel car", "cancel flight"])
    await flows.close()
  })

  promised("temporal: child_workflow/result, in promises", async (storage) => {
    const child = defineFlow({ name: "child", ...common, run: (ctx, text) => ctx.step(upper, text) })
    const parent = defineFlow({
      name: "parent",
      ...common,
      run: async (ctx, text) => ctx.result(await ctx.start(child, text))
    })
    const flows = await openFlows({ ...storage, flows: [child, parent] })
    assert.strictEqual(await flows.execute(parent, "x"), "X")
    await flows.close()
  })

  promised("dbos: test-input-schema-rejects-bad-input, in promises", async (storage) => {
    const flow = defineFlow({
      name: "picky",
      ...common,
      input: Schema.NonEmptyString,
      run: (ctx, text) => ctx.step(upper, text)
    })
    const flows = await openFlows({ ...storage, flows: [flow] })
    const error = await flows.execute(flow, "").catch((error: unknown) => error)
    assert.propertyVal(error, "_tag", "InvalidInput")
    assert.strictEqual((await flows.run(FlowExecutions.list())).executions.length, 0)
    await flows.close()
  })
})
