/** What the parts of the conformance suite of flows are made with. */
import { assert, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as Flow from "../../../src/Flow.ts"
import { FlowDefect } from "../../../src/FlowDefect.ts"
import type { FlowEngine } from "../../../src/FlowEngine.ts"
import { FlowHalted } from "../../../src/FlowErrors.ts"
import * as FlowExecutions from "../../../src/FlowExecutions.ts"
import { engineOf } from "../../../src/internal/engine/EngineOf.ts"
import type { Codec } from "../../../src/internal/model/Values.ts"
import { Diary, work } from "../Flows.ts"
import { throughTime } from "../Time.ts"

export interface Runner<R> {
  readonly run: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.Flow<I, S, E, Diary>,
    input: I["Type"]
  ) => Effect.Effect<S["Type"], E["Type"] | unknown, R | Diary>
  /** Sends a signal that is awaited at a path. */
  readonly answering: <A, E, R2>(
    signal: { readonly name: string; readonly path: string; readonly value: Schema.Json },
    effect: Effect.Effect<A, E, R2>
  ) => Effect.Effect<A, unknown, R2 | R>
  /** Whether defects halt an execution, for a person. */
  readonly halts: boolean
}

/** On any engine. */
export const durable: Runner<FlowEngine> = {
  run: (flow, input) => Effect.provide(Flow.execute(flow, input), Flow.layer(flow)),
  answering: ({ name, value }, effect) =>
    Effect.gen(function* () {
      const { engine } = yield* engineOf
      const begun = yield* Effect.forkChild(
        Effect.gen(function* () {
          while (true) {
            const execution = yield* engine.journal.findKey("test", "one")
            if (execution !== null) return yield* FlowExecutions.signal(execution.id, name, value)
            yield* Effect.sleep("50 millis")
          }
        })
      )
      const result = yield* effect
      yield* Fiber.join(begun)
      return result
    }),
  halts: true
}

/** `layer` is built for each test. */
export const makeBench = <R>(runner: Runner<R>, layer: Layer.Layer<R, unknown>, isVirtual: boolean) => {
  const through = <A, E, R>(effect: Effect.Effect<A, E, R>) => (isVirtual ? throughTime(effect) : Effect.exit(effect))
  /** Of seconds; where time is real they are short. */
  const time = (seconds: number) => seconds * (isVirtual ? 1_000 : 40)
  const working = (name: string, seconds: number) => work({ name, seconds: time(seconds) / 1_000 })
  const test = (title: string, body: Effect.Effect<void, unknown, R | Diary>) =>
    (isVirtual ? it.effect : it.live)(title, () =>
      Effect.provide(body, Layer.merge(Layer.fresh(layer), Layer.fresh(Diary.layer)))
    )

  const exitOf = <S extends Codec, E extends Codec>(flow: Flow.Flow<typeof Schema.Void, S, E, Diary>) =>
    through(runner.run(flow, undefined))
  const resultOf = <S extends Codec, E extends Codec>(flow: Flow.Flow<typeof Schema.Void, S, E, Diary>) =>
    Effect.flatten(exitOf(flow))
  /** What a defect says, or what halts the execution because of it. */
  const defectOf = <S extends Codec, E extends Codec>(flow: Flow.Flow<typeof Schema.Void, S, E, Diary>) =>
    Effect.map(exitOf(flow), (exit) => {
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      if (runner.halts) {
        assert.instanceOf(error, FlowHalted)
        assert.strictEqual(error.tag, "FlowDefect")
      } else {
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), "expected a defect")
        assert.instanceOf(error, FlowDefect)
      }
      return error
    })

  return { defectOf, exitOf, resultOf, runner, test, through, time, working }
}

export type Bench<R> = ReturnType<typeof makeBench<R>>
