/** Bodies that compute, or wait for something that is no step: how they are shown, and how they end. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { engineOf } from "../src/internal/engine/EngineOf.ts"
import { defineFlow, defineStep } from "../src/Promises.ts"
import { throughTime } from "./support/Time.ts"

const log: Array<string> = []
const echo = Flow.step("echo", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (text) => Effect.sync(() => (log.push(text), text))
})
const flowOf = (body: (id: string) => Effect.Effect<unknown, never, Flow.FlowContext<never>>) =>
  Flow.make("computing", {
    version: 1,
    input: Schema.String,
    success: Schema.Void,
    error: Schema.Never,
    idempotencyKey: (text) => text,
    run: (text) => Effect.asVoid(body(text))
  })

const echoAsync = defineStep({
  name: "echo",
  input: Schema.String,
  output: Schema.String,
  run: async (text) => {
    log.push(text)
    return text
  }
})
type Body = Parameters<typeof defineFlow<typeof Schema.String, typeof Schema.Void>>[0]["run"]
const definedBy = (run: Body) =>
  defineFlow({ name: "computing", input: Schema.String, output: Schema.Void, key: (text) => text, run })

/** Resolves after a time of the test, unless the signal is aborted first. */
const aborted = (signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      log.push(`aborted: ${String(signal.reason._tag)}`)
      reject(signal.reason)
    })
  })
const never = () => new Promise<void>(() => {})

/** A body with an undo, which then does something outside of a step. */
const undone = (
  then: Effect.Effect<unknown, never, Flow.FlowContext<never>>,
  undo: Effect.Effect<unknown, never, Flow.FlowContext<never>> = echo("undone")
) =>
  Effect.andThen(
    Flow.compensate(echo("done"), () => undo),
    then
  )
const undoneAsync =
  (then: Body, undo: (ctx: Parameters<Body>[0]) => Promise<unknown> = (ctx) => ctx.step(echoAsync, "undone")): Body =>
  async (ctx, input) => {
    await ctx.compensate(
      (ctx) => ctx.step(echoAsync, "done"),
      (ctx) => undo(ctx)
    )
    await then(ctx, input)
  }

interface Form {
  readonly flow: { readonly layer: ReturnType<typeof definedBy>["layer"] }
  readonly submit: Effect.Effect<string, unknown, FlowEngine>
}
const ofEffect = (body: Effect.Effect<unknown, never, Flow.FlowContext<never>>): Form => {
  const flow = flowOf(() => body)
  return { flow: { layer: Flow.layer(flow) }, submit: Flow.submit(flow, "one") }
}
const ofPromises = (body: Body): Form => {
  const flow = definedBy(body)
  return { flow, submit: Flow.submit(flow, "one") }
}

/** Bodies that hang outside of a step, and end when they are cancelled; and bodies that do not. */
const forms = {
  effect: {
    obedient: ofEffect(undone(Effect.never)),
    deaf: ofEffect(undone(Effect.uninterruptible(Effect.never))),
    corrected: ofEffect(undone(Flow.sleep("nap", "10 days"))),
    passing: ofEffect(Effect.andThen(undone(Effect.sleep("5 minutes")), Flow.sleep("nap", "10 days"))),
    slowToUndo: ofEffect(undone(Effect.never, Flow.sleep("day", "1 day")))
  },
  promise: {
    obedient: ofPromises(undoneAsync((ctx) => aborted(ctx.abortSignal))),
    deaf: ofPromises(undoneAsync(never)),
    corrected: ofPromises(undoneAsync((ctx) => ctx.sleep("nap", "10 days"))),
    passing: ofPromises(
      undoneAsync(async (ctx) => {
        await new Promise((resolve) => released.push(resolve))
        await ctx.sleep("nap", "10 days")
      })
    ),
    slowToUndo: ofPromises(
      undoneAsync(
        (ctx) => aborted(ctx.abortSignal),
        (ctx) => ctx.sleep("day", "1 day")
      )
    )
  }
}
const released: Array<(value: unknown) => void> = []
const release = Effect.sync(() => {
  for (const resolve of released.splice(0)) resolve(undefined)
})

const inProgram = <A, E, R>({ flow }: Form, effect: Effect.Effect<A, E, R>) =>
  Effect.flatten(throughTime(Effect.provide(effect, flow.layer)))

const test = <E>(title: string, body: Effect.Effect<void, E, FlowEngine>) =>
  it.effect(title, () =>
    Effect.andThen(
      Effect.sync(() => log.splice(0)),
      Effect.provide(body, Layer.fresh(FlowEngine.layerMemory))
    )
  )

/** Submits an execution, and lets it hang for a while. */
const hung = (form: Form) => Effect.tap(form.submit, Effect.sleep("90 seconds"))

for (const kind of ["effect", "promise"] as const) {
  const { corrected, deaf, obedient, passing, slowToUndo } = forms[kind]
  describe(`a body of ${kind === "effect" ? "an effect" : "promises"} that hangs outside of a step`, () => {
    test(
      "is shown as computing after a minute, and the step before it as done",
      inProgram(
        obedient,
        Effect.gen(function* () {
          const id = yield* obedient.submit
          yield* Effect.sleep("30 seconds")
          assert.isNull((yield* FlowExecutions.inspect(id)).computingSince)
          yield* Effect.sleep("1 minute")
          const { computingSince, execution, now, remedy, steps, summary } = yield* FlowExecutions.inspect(id)
          assert.isNotNull(computingSince)
          assert.isBelow(computingSince ?? Infinity, 5_000)
          assert.strictEqual(execution.state, "running")
          assert.deepStrictEqual(now, [])
          assert.strictEqual(steps[0]?.state, "succeeded")
          const since = new Date(computingSince ?? 0).toISOString()
          assert.strictEqual(summary, `running: computes or waits outside of a step after echo, since ${since}`)
          assert.match(remedy ?? "", /^if it does not end, cancel it, which interrupts its body/)
          yield* FlowExecutions.terminate(id)
        })
      )
    )

    test(
      "is shown so no more when it goes on",
      inProgram(
        passing,
        Effect.gen(function* () {
          const id = yield* hung(passing)
          assert.isNotNull((yield* FlowExecutions.inspect(id)).computingSince)
          yield* release
          yield* Effect.sleep("10 minutes")
          const { computingSince, execution, summary } = yield* FlowExecutions.inspect(id)
          assert.isNull(computingSince)
          assert.strictEqual(execution.state, "waiting")
          assert.match(summary, /^waiting: sleeps in nap/)
          const { engine } = yield* engineOf
          assert.deepStrictEqual(yield* engine.journal.names("computing "), [])
        })
      )
    )

    test(
      "ends when it is cancelled, and its undos run",
      inProgram(
        obedient,
        Effect.gen(function* () {
          const id = yield* hung(obedient)
          yield* FlowExecutions.cancel(id)
          yield* Effect.sleep("5 seconds")
          assert.strictEqual((yield* FlowExecutions.get(id)).state, "cancelled")
          const told = kind === "promise" ? ["aborted: FlowCancelled"] : []
          assert.deepStrictEqual(log, ["done", ...told, "undone"])
        })
      )
    )

    test(
      "halts as STALLED when it does not end after a cancel, and is terminated",
      inProgram(
        deaf,
        Effect.gen(function* () {
          const id = yield* hung(deaf)
          yield* FlowExecutions.cancel(id)
          yield* Effect.sleep("5 seconds")
          assert.strictEqual((yield* FlowExecutions.get(id)).state, "running")
          yield* Effect.sleep("10 seconds")
          const { cancelling, computingSince, execution, halt, remedy } = yield* FlowExecutions.inspect(id)
          assert.strictEqual(execution.state, "halted")
          assert.isTrue(cancelling)
          assert.isNull(computingSince)
          assert.deepInclude(halt, { code: "STALLED", after: "echo" })
          assert.match(
            halt?.message ?? "",
            /^the body was cancelled while it computed or waited outside of a step after echo, and has not ended: it runs since 1970-/
          )
          assert.match(remedy ?? "", /^make the body end when it is cancelled, or move the long work into a step/)
          assert.deepStrictEqual(log, ["done"])
          yield* FlowExecutions.terminate(id)
          assert.strictEqual((yield* FlowExecutions.get(id)).state, "cancelled")
        })
      )
    )

    test(
      "that stalled is cancelled with its undos by a build that is corrected",
      Effect.gen(function* () {
        const id = yield* inProgram(
          deaf,
          Effect.gen(function* () {
            const id = yield* hung(deaf)
            yield* FlowExecutions.cancel(id)
            yield* Effect.sleep("20 seconds")
            assert.strictEqual((yield* FlowExecutions.get(id)).state, "halted")
            return id
          })
        )
        yield* inProgram(
          corrected,
          Effect.gen(function* () {
            yield* FlowExecutions.resume(id)
            yield* Effect.sleep("30 seconds")
          })
        )
        assert.strictEqual((yield* FlowExecutions.get(id)).state, "cancelled")
        assert.deepStrictEqual(log, ["done", "undone"])
      })
    )

    test(
      "that stalled and is resumed as it was stalls again",
      inProgram(
        deaf,
        Effect.gen(function* () {
          const id = yield* hung(deaf)
          yield* FlowExecutions.cancel(id)
          yield* Effect.sleep("20 seconds")
          yield* FlowExecutions.resume(id)
          yield* Effect.sleep("5 seconds")
          assert.notStrictEqual((yield* FlowExecutions.get(id)).state, "halted")
          yield* Effect.sleep("30 seconds")
          const { halt } = yield* FlowExecutions.inspect(id)
          assert.strictEqual(halt?.code, "STALLED")
        })
      )
    )

    test(
      "and was cancelled goes on with its undos in another process",
      Effect.gen(function* () {
        const id = yield* inProgram(
          slowToUndo,
          Effect.gen(function* () {
            const id = yield* hung(slowToUndo)
            yield* FlowExecutions.cancel(id)
            yield* Effect.sleep("5 seconds")
            assert.strictEqual((yield* FlowExecutions.get(id)).state, "undoing")
            return id
          })
        )
        yield* inProgram(slowToUndo, Effect.sleep("2 days"))
        const { execution, halt } = yield* FlowExecutions.inspect(id)
        assert.isNull(halt)
        assert.strictEqual(execution.state, "cancelled")
      })
    )

    test(
      "is terminated at any moment, and its program ends",
      Effect.gen(function* () {
        const id = yield* inProgram(
          deaf,
          Effect.gen(function* () {
            const id = yield* deaf.submit
            yield* Effect.sleep("100 millis")
            yield* FlowExecutions.terminate(id)
            yield* Effect.sleep("1 second")
            return id
          })
        )
        assert.strictEqual((yield* FlowExecutions.get(id)).state, "cancelled")
      })
    )

    test(
      "is given back when its program ends",
      Effect.gen(function* () {
        const id = yield* inProgram(deaf, hung(deaf))
        const { execution } = yield* FlowExecutions.inspect(id)
        assert.isNull(execution.owner)
        assert.isNull((yield* FlowExecutions.inspect(id)).computingSince)
      })
    )
  })
}
