/** Flows of tests of schedules: they note when they ran, in virtual time. */
import { it } from "@effect/vitest"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowSchedules from "../../src/FlowSchedules.ts"
import type { Journal } from "../../src/internal/journal/Journal.ts"
import * as Sqlite from "../../src/internal/journal/Sqlite.ts"
import { alone, engineOver, journalOf } from "./Processes.ts"

export const minuteOf = (at: number): string => new Date(at).toISOString().slice(0, 16)

/** A flow that notes its input, outside of the journal. By its input it dies, or its undo fails at first. */
export const makeNoting = (work: Duration.Input | null = null) => {
  const diary: Array<string> = []
  const note = Flow.step("note", {
    input: Schema.String,
    success: Schema.Void,
    error: Schema.Never,
    run: (text) => Effect.sync(() => void diary.push(text))
  })
  const flow = Flow.make("noting", {
    version: 1,
    input: Schema.String,
    success: Schema.Void,
    error: Schema.Never,
    idempotencyKey: () => "always the same",
    run: Effect.fnUntraced(function* (text) {
      if (text.startsWith("broken")) return yield* Effect.die(new Error("no such table"))
      yield* Flow.compensate(note(text), () =>
        Effect.andThen(Flow.sleep("slowly", "10 minutes"), note(`undid ${text}`))
      )
      if (work !== null) yield* Flow.sleep("work", work)
    })
  })
  return { diary, flow }
}
export type Noting = ReturnType<typeof makeNoting>

export type Options = FlowSchedules.Options<string>
export const daily = (options: Partial<Options> = {}): Options => ({
  name: "daily",
  cron: "0 6 * * *",
  input: ({ epochMilliseconds }: DateTime.Utc) => minuteOf(epochMilliseconds),
  ...options
})

export const scheduled = ({ flow }: Noting, options: Options) =>
  FlowSchedules.layer(flow, options).pipe(Layer.provide(Flow.layer(flow)))

/** Lets what is due begin. */
export const settle = Effect.repeat(TestClock.adjust("1 second"), { times: 19 })

/** A process on the journal, from a time on. */
export const process = Effect.fnUntraced(function* <A, E>(
  journal: Journal["Service"],
  program: Layer.Layer<never, FlowSchedules.InvalidSchedule, FlowEngine>,
  from: string,
  body: Effect.Effect<A, E, FlowEngine>
) {
  yield* TestClock.setTime(Date.parse(from))
  return yield* Effect.andThen(TestClock.adjust("1 second"), body).pipe(
    Effect.provide(Layer.provideMerge(program, engineOver(journal, alone)))
  )
})

export const test = (title: string, body: (journal: Journal["Service"]) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.effect(title, () => Effect.flatMap(journalOf(Sqlite.layerMemory), body))

/** What became of the occurrences, by their time. */
export const outcomes = (name = "daily") =>
  Effect.map(FlowSchedules.get(name), ({ recent }) =>
    recent.map(({ at, outcome, reason }) => `${minuteOf(at)} ${reason ?? outcome}`)
  )
export const whys = Effect.map(FlowSchedules.get("daily"), ({ recent }) =>
  recent.flatMap(({ outcome, why }) => (outcome === "skipped" ? [why] : []))
)
