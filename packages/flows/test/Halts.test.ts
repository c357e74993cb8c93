/** Why an execution halted, from the code that no longer fits its record: for bodies of effects and of promises, and in `Flow.check`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { defineFlow, defineStep } from "../src/Promises.ts"
import { throughTime } from "./support/Time.ts"

const Order = Schema.Struct({
  lines: Schema.Array(Schema.Struct({ price: Schema.Union([Schema.String, Schema.Finite]) }))
})
const Numbers = Schema.Struct({ lines: Schema.Array(Schema.Struct({ price: Schema.Finite })) })
const secret = "no value of a record is shown"
const order = { lines: [{ price: secret }] }

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

const load = (success: typeof Order | typeof Numbers) =>
  Flow.step("load", { input: Schema.Void, success, error: Schema.Never, run: () => Effect.succeed(order as never) })
const charge = Flow.step("charge", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: Effect.succeed
})
const flowOf = (body: Effect.Effect<unknown, Refused, Flow.FlowContext<never>>) =>
  Flow.make("order", {
    version: 1,
    input: Schema.String,
    success: Schema.Void,
    error: Refused,
    idempotencyKey: (text) => text,
    run: () => Effect.asVoid(body)
  })
const nap = Flow.sleep("nap", "10 days")
const broken = new TypeError("lines is not a function")

const loadAsync = (output: typeof Order | typeof Numbers) =>
  defineStep({ name: "load", input: Schema.Void, output, run: async () => order as never })
const chargeAsync = defineStep({
  name: "charge",
  input: Schema.String,
  output: Schema.String,
  run: async (text) => text
})
type Body = Parameters<typeof defineFlow<typeof Schema.String, typeof Schema.Void>>[0]["run"]
const definedBy = (run: Body) =>
  defineFlow({ name: "order", input: Schema.String, output: Schema.Void, key: (text) => text, run })

const bodies = {
  recorded: {
    effect: Effect.andThen(Effect.andThen(load(Order)(undefined), charge("x")), nap),
    promise: async (ctx) => {
      await ctx.step(loadAsync(Order), undefined)
      await ctx.step(chargeAsync, "x")
      await ctx.sleep("nap", "10 days")
    }
  },
  unreadable: {
    effect: Effect.andThen(Effect.andThen(load(Numbers)(undefined), charge("x")), nap),
    promise: async (ctx) => {
      await ctx.step(loadAsync(Numbers), undefined)
      await ctx.step(chargeAsync, "x")
      await ctx.sleep("nap", "10 days")
    }
  },
  "broken at once": {
    effect: Effect.die(broken),
    promise: () => {
      throw broken
    }
  },
  "broken later": {
    effect: Effect.andThen(load(Order)(undefined), Effect.die(broken)),
    promise: async (ctx) => {
      await ctx.step(loadAsync(Order), undefined)
      throw broken
    }
  },
  "failing at once": {
    effect: Effect.fail(new Refused({ message: "no stock" })),
    promise: () => {
      throw new Refused({ message: "no stock" })
    }
  },
  "in another order": {
    effect: Effect.andThen(Effect.andThen(charge("x"), load(Order)(undefined)), nap),
    promise: async (ctx) => {
      await ctx.step(chargeAsync, "x")
      await ctx.step(loadAsync(Order), undefined)
      await ctx.sleep("nap", "10 days")
    }
  },
  "with another step": {
    effect: Effect.andThen(Effect.andThen(load(Order)(undefined), charge("x", { key: "new" })), nap),
    promise: async (ctx) => {
      await ctx.step(loadAsync(Order), undefined)
      await ctx.step(chargeAsync, "x", { key: "new" })
      await ctx.sleep("nap", "10 days")
    }
  },
  "of another kind": {
    effect: Effect.andThen(Effect.andThen(load(Order)(undefined), Flow.sleep("charge", "1 day")), nap),
    promise: async (ctx) => {
      await ctx.step(loadAsync(Order), undefined)
      await ctx.sleep("charge", "1 day")
      await ctx.sleep("nap", "10 days")
    }
  },
  "with another input": {
    effect: Effect.andThen(Effect.andThen(load(Order)(undefined), charge("y")), nap),
    promise: async (ctx) => {
      await ctx.step(loadAsync(Order), undefined)
      await ctx.step(chargeAsync, "y")
      await ctx.sleep("nap", "10 days")
    }
  },
  "that ends earlier": {
    effect: load(Order)(undefined),
    promise: async (ctx) => {
      await ctx.step(loadAsync(Order), undefined)
    }
  }
} satisfies Record<string, { effect: Effect.Effect<unknown, Refused, Flow.FlowContext<never>>; promise: Body }>

const loadStep = { path: "load", kind: "step", name: "load" }
const chargeStep = { path: "charge", kind: "step", name: "charge" }
const none = { recorded: null, reached: null, value: null }
const body = "the body of order, version 1,"

interface Expected {
  readonly body: Exclude<keyof typeof bodies, "recorded">
  readonly halt: Pick<FlowExecutions.Halt, "code" | "recorded" | "reached" | "value" | "after">
  readonly message: string
  readonly remedy: RegExp
}

const fits = (halt: Pick<Expected["halt"], "code" | "after"> & Partial<Expected["halt"]>) => ({ ...none, ...halt })

const cases: ReadonlyArray<Expected> = [
  {
    body: "unreadable",
    halt: fits({
      code: "RECORD_UNREADABLE",
      after: "load",
      value: {
        what: "the recorded result of load",
        path: "lines.0.price",
        expected: "Expected number",
        type: "string"
      }
    }),
    message:
      "the recorded result of load does not fit its schema: lines.0.price: Expected number, and string is recorded",
    remedy:
      /^make the schema of the recorded result of load accept what is recorded, and start that build: it continues automatically/
  },
  {
    body: "broken at once",
    halt: fits({ code: "BODY_DEFECT", after: null }),
    message: "the body of order@1 threw: TypeError: lines is not a function",
    remedy: /^correct the program and start it: it continues automatically when a corrected build registers order@1/
  },
  {
    body: "broken later",
    halt: fits({ code: "BODY_DEFECT", after: "load" }),
    message: "the body of order@1 threw after load: TypeError: lines is not a function",
    remedy: /^correct the program and start it: it continues automatically when a corrected build registers order@1/
  },
  {
    body: "failing at once",
    halt: fits({ code: "BODY_FAILED", after: null, recorded: loadStep }),
    message: `${body} failed before the recorded step load: Refused: no stock; the code that was recorded had passed this point`,
    remedy: /^correct the body, so that it does not fail: it continues automatically/
  },
  {
    body: "in another order",
    halt: fits({ code: "ORDER_CHANGED", after: null, recorded: loadStep, reached: chargeStep }),
    message:
      `${body} reached charge before the recorded step load, which the record has first: a body that calls its steps in ` +
      "another order, or leaves one out, needs a new version",
    remedy: /^call load before charge again in order@1, and deploy the new order as a new version/
  },
  {
    body: "with another step",
    halt: fits({
      code: "STEPS_CHANGED",
      after: "load",
      recorded: chargeStep,
      reached: { path: "charge[new]", kind: "step", name: "charge" }
    }),
    message:
      `${body} reached charge[new] before the recorded step charge: a body that calls other steps than before needs a new ` +
      "version",
    remedy: /^run code that fits its record as order@1, and the changed code under a new version/
  },
  {
    body: "of another kind",
    halt: fits({
      code: "STEPS_CHANGED",
      after: "load",
      recorded: chargeStep,
      reached: { path: "charge", kind: "sleep", name: "charge" }
    }),
    message:
      `${body} reached charge (sleep charge) before the recorded step charge: a body that calls other steps than before ` +
      "needs a new version",
    remedy: /^run code that fits its record as order@1/
  },
  {
    body: "with another input",
    halt: fits({ code: "INPUT_CHANGED", after: "load", recorded: chargeStep, reached: chargeStep }),
    message:
      `${body} reached charge with a different input than the recorded one: "y" instead of "x"; inputs come from results of ` +
      "steps and from Flow.now, not from the clock or from random numbers",
    remedy: /^make charge get the recorded input in order@1/
  },
  {
    body: "that ends earlier",
    halt: fits({ code: "STEPS_CHANGED", after: "load", recorded: chargeStep }),
    message: `${body} ended before the recorded step charge: a body that calls other steps than before needs a new version`,
    remedy: /^run code that fits its record as order@1/
  }
]

type Runnable = Pick<ReturnType<typeof definedBy>, "layer">

const forms = {
  effect: (name: keyof typeof bodies) => flowOf(bodies[name].effect),
  promise: (name: keyof typeof bodies) => definedBy(bodies[name].promise)
}
const layerOf = (form: keyof typeof forms, name: keyof typeof bodies): Runnable["layer"] =>
  form === "effect" ? Flow.layer(forms.effect(name)) : forms.promise(name).layer

const submitted = (form: keyof typeof forms) =>
  form === "effect" ? Flow.submit(forms.effect("recorded"), "one") : Flow.submit(forms.promise("recorded"), "one")

const inProgram = <A, E, R>(layer: Runnable["layer"], effect: Effect.Effect<A, E, R>) =>
  Effect.flatten(throughTime(Effect.provide(effect, layer)))

/** Begun by the recorded body, continued by another one. */
const continued = Effect.fnUntraced(function* (form: keyof typeof forms, name: keyof typeof bodies) {
  const id = yield* inProgram(layerOf(form, "recorded"), Effect.tap(submitted(form), Effect.sleep("1 second")))
  return yield* inProgram(
    layerOf(form, name),
    Effect.andThen(Effect.sleep("1 second"), Effect.zip(FlowExecutions.inspect(id), FlowExecutions.history(id)))
  )
})

for (const form of ["effect", "promise"] as const) {
  describe(`an execution whose body of ${form === "effect" ? "an effect" : "promises"} is continued`, () => {
    for (const { body, halt: expected, message, remedy } of cases) {
      it.effect(`${body === "unreadable" ? "by a schema that does not accept what is recorded" : body} says so`, () =>
        Effect.gen(function* () {
          const [{ execution, halt, ...inspection }] = yield* continued(form, body)
          assert.strictEqual(execution.state, "halted")
          if (halt === null) return assert.fail("no halt")
          const said = form === "promise" ? message.replace("Refused: no stock", "FlowError: no stock") : message
          assert.strictEqual(halt.message, said)
          assert.deepInclude(halt, expected)
          assert.match(halt.remedy, remedy)
          assert.strictEqual(inspection.remedy, halt.remedy)
          assert.strictEqual(halt.lastRun?.path, "charge")
          assert.isNotNull(halt.host)
          assert.isNotNull(halt.process)
          assert.notInclude(JSON.stringify([halt, execution.failure]), secret)
        }).pipe(Effect.provide(Layer.fresh(FlowEngine.layerMemory)))
      )

      it.effect(`${body}, in Flow.check`, () =>
        Effect.gen(function* () {
          const [, history] = yield* continued(form, "recorded")
          const checked =
            form === "effect" ? Flow.check(forms.effect(body), history) : Flow.check(forms.promise(body), history)
          const error = yield* Effect.flip(checked)
          if (error._tag === "FlowHalted") {
            assert.strictEqual(error.code, expected.code)
            assert.include(message, error.message)
          } else {
            const said = form === "promise" ? message.replace("Refused: no stock", "FlowError: no stock") : message
            assert.strictEqual(error.message, said)
          }
          assert.notInclude(JSON.stringify(error), secret)
        }).pipe(Effect.provide(Layer.fresh(FlowEngine.layerMemory)))
      )
    }
  })
}

describe("an execution that halted because its body threw", () => {
  for (const form of ["effect", "promise"] as const) {
    it.effect(`is continued by a build that is corrected, of ${form}`, () =>
      Effect.gen(function* () {
        const [{ execution }] = yield* continued(form, "broken at once")
        const [state, halt] = yield* inProgram(
          layerOf(form, "recorded"),
          Effect.andThen(
            Effect.sleep("1 second"),
            Effect.map(FlowExecutions.inspect(execution.id), ({ execution, halt }) => [execution.state, halt] as const)
          )
        )
        assert.strictEqual(state, "waiting")
        assert.isNull(halt)
      }).pipe(Effect.provide(Layer.fresh(FlowEngine.layerMemory)))
    )
  }

  it.effect("where the record ends is resumed by a person", () =>
    Effect.gen(function* () {
      const flow = flowOf(bodies["broken later"].effect)
      const { halt } = yield* inProgram(
        Flow.layer(flow),
        Effect.gen(function* () {
          const id = yield* Flow.submit(flow, "one")
          yield* Effect.sleep("1 second")
          return yield* FlowExecutions.inspect(id)
        })
      )
      assert.strictEqual(halt?.message, "the body of order@1 threw after load: TypeError: lines is not a function")
      assert.match(halt?.remedy ?? "", /^correct the program and start it, then resume the execution; or cancel it/)
    }).pipe(Effect.provide(Layer.fresh(FlowEngine.layerMemory)))
  )
})
