/** Flows of one body, and the paths of their steps. */
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import { FlowDefect } from "../../src/FlowDefect.ts"
import { FlowEvents } from "../../src/FlowEvents.ts"
import type { Codec } from "../../src/internal/model/Values.ts"

/** Remembers what steps did, in their order. */
export class Diary extends Context.Service<Diary, Ref.Ref<ReadonlyArray<string>>>()("test/Diary") {
  static readonly layer = Layer.effect(Diary, Ref.make<ReadonlyArray<string>>([]))
  static readonly write = (line: string) =>
    Effect.flatMap(
      Diary,
      Ref.update((lines) => [...lines, line])
    )
  static readonly read = Effect.flatMap(Diary, (diary) => Ref.get(diary))
}

export class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

/** Writes a line and returns its length; refuses the empty line. */
export const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.Finite,
  error: Refused,
  run: Effect.fnUntraced(function* (text) {
    if (text === "") return yield* new Refused({ why: "nothing to note" })
    yield* Diary.write(text)
    return text.length
  })
})

/** Writes a line when it begins and one when it has taken its time. */
export const work = Flow.step("work", {
  input: Schema.Struct({ name: Schema.String, seconds: Schema.Finite }),
  success: Schema.String,
  error: Schema.Never,
  run: Effect.fnUntraced(function* ({ name, seconds }) {
    yield* Diary.write(`${name} begins`)
    yield* Effect.sleep(seconds * 1000)
    yield* Diary.write(`${name} ends`)
    return name
  })
})

const anyError = Schema.Union([Refused, Flow.FlowTimeout, Flow.InvalidInput])

/** A flow of no input around a body. */
export const flowOf = <S extends Codec, C extends Flow.FlowContext<unknown>>(
  success: S,
  body: () => Effect.Effect<S["Type"], typeof anyError.Type, C>,
  signals: ReadonlyArray<Flow.Signal<Codec>> = []
) =>
  Flow.make("test", {
    version: 1,
    input: Schema.Void,
    success,
    error: anyError,
    idempotencyKey: () => "one",
    signals,
    run: body
  })

export const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), "expected a defect")
    const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.instanceOf(defect, FlowDefect)
    return defect
  })

/** The paths of the steps that an effect runs, in the order in which they start. */
export const pathsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const paths: Array<string> = []
  yield* Effect.provideService(effect, FlowEvents, {
    publish: (event) =>
      Effect.sync(() => {
        if (event._tag === "StepStarted") paths.push(event.path)
      })
  })
  return paths
})
