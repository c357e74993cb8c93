/** A cancel of what halted because its record does not fit the body: what fits is replayed, and undone. */
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import type { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { newEntry } from "../src/internal/interpreter/calls/Spec.ts"
import { engineOf } from "../src/internal/engine/EngineOf.ts"
import type { Entry, EntryKind } from "../src/internal/model/Execution.ts"
import { cancelPath, outcomePath } from "../src/internal/model/Replay.ts"
import type { Codec } from "../src/internal/model/Values.ts"
import { Diary, flowOf, note, Refused, work } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { memory, restarting, stateOf } from "./support/Running.ts"
import { advance } from "./support/Time.ts"

describe("a cancel of an execution that halted because its body was changed", () => {
  type Bodies<E extends Codec> = (isChanged: boolean) => Flow.Flow<typeof Schema.Void, typeof Schema.Void, E, Diary>

  /** The state after one process has run the first body for a while, and another one has halted with the second. */
  const cancelled = <E extends Codec>(bodyOf: Bodies<E>, runs: Duration.Input) =>
    Effect.gen(function* () {
      const [before, today] = [bodyOf(false), bodyOf(true)]
      const submitted = Effect.tap(Flow.submit(before, undefined), () => advance(runs))
      const id = yield* inProcess(Flow.layer(before), submitted)
      return yield* inProcess(
        Flow.layer(today),
        Effect.gen(function* () {
          yield* advance("1 second")
          assert.strictEqual((yield* FlowExecutions.get(id)).failure?.tag, "FlowChanged")
          yield* FlowExecutions.cancel(id)
          yield* advance("1 second")
          yield* advance("1 hour")
          return yield* stateOf(id)
        })
      )
    })

  it.effect("undoes what other branches have recorded", () =>
    Effect.gen(function* () {
      const bodyOf = (isChanged: boolean) =>
        flowOf(Schema.Void, () =>
          Effect.gen(function* () {
            yield* Flow.all(
              "both",
              {
                left: Effect.andThen(
                  Flow.compensate(note("left"), () => note("undo left")),
                  note(isChanged ? "other" : "second", { key: isChanged ? "other" : "second" })
                ),
                right: Flow.compensate(work({ name: "right", seconds: 60 }), () => note("undo right"))
              },
              { concurrency: 2 }
            )
            yield* Flow.sleep("long", "30 days")
          })
        )
      assert.strictEqual(yield* cancelled(bodyOf, "61 seconds"), "cancelled")
      assert.sameMembers((yield* Diary.read).slice(4), ["undo left", "undo right"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("continues with an undo after its last recorded step", () =>
    Effect.gen(function* () {
      const bodyOf = (isChanged: boolean) =>
        flowOf(Schema.Void, () =>
          Effect.gen(function* () {
            yield* Flow.compensate(note("one"), () =>
              Effect.andThen(note("undo one"), work({ name: "undo two", seconds: 60 }))
            )
            if (isChanged) yield* note("more", { key: "more" })
            yield* note("", { key: "fails" })
          })
        )
      assert.strictEqual(yield* cancelled(bodyOf, "10 seconds"), "cancelled")
      assert.deepStrictEqual(yield* Diary.read, [
        "one",
        "undo one",
        "undo two begins",
        "undo two begins",
        "undo two ends"
      ])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("halts again when the step that is to be undone is another one", () =>
    Effect.gen(function* () {
      const bodyOf = (isChanged: boolean) =>
        flowOf(Schema.Void, () =>
          Effect.andThen(
            Flow.compensate(note(isChanged ? "another" : "one", { key: "same" }), () => note("undo it")),
            Flow.sleep("long", "30 days")
          )
        )
      assert.strictEqual(yield* cancelled(bodyOf, "1 second"), "halted")
      assert.deepStrictEqual(yield* Diary.read, ["one"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("runs a call to its end that was interrupted between its steps", () =>
    Effect.gen(function* () {
      const bodyOf = (isChanged: boolean) =>
        flowOf(Schema.Void, () =>
          Effect.asVoid(
            Flow.all(
              "both",
              {
                left: Effect.andThen(note("left"), Flow.sleep(isChanged ? "another" : "long", "30 days")),
                right: Flow.compensate(
                  Effect.andThen(
                    note("one", { key: "one" }),
                    Effect.andThen(Flow.sleep("nap", "10 minutes"), note("two", { key: "two" }))
                  ),
                  () => note("undo both")
                )
              },
              { concurrency: 2 }
            )
          )
        )
      assert.strictEqual(yield* cancelled(bodyOf, "2 seconds"), "cancelled")
      assert.deepStrictEqual(yield* Diary.read, ["left", "one", "two", "undo both"])
    }).pipe(Effect.provide(restarting))
  )
})

describe("a cancel of an execution that halted because a step died", () => {
  const state = { isBroken: true }
  const book = Flow.step("book", {
    input: Schema.Void,
    success: Schema.String,
    error: Schema.Never,
    run: Effect.fnUntraced(function* () {
      yield* Diary.write("book")
      return state.isBroken ? yield* Effect.die(new TypeError("a bug")) : "booked"
    })
  })
  const cancelled = (flow: Flow.Flow<typeof Schema.Void, typeof Schema.String, Codec, Diary>, isBroken: boolean) =>
    Effect.gen(function* () {
      state.isBroken = true
      const id = yield* Flow.submit(flow, undefined)
      yield* advance("1 second")
      assert.strictEqual(yield* stateOf(id), "halted")
      state.isBroken = isBroken
      yield* FlowExecutions.cancel(id)
      yield* advance("1 second")
      return yield* stateOf(id)
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), memory)))
  const compensated = flowOf(Schema.String, () => Flow.compensate(book(undefined), () => note("undo")))

  it.effect("abandons it", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* cancelled(
          flowOf(Schema.String, () => book(undefined)),
          true
        ),
        "cancelled"
      )
    })
  )

  it.effect("runs it again when it is to be undone, and halts again when it dies again", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* cancelled(compensated, true), "halted")
      assert.strictEqual(yield* cancelled(compensated, false), "cancelled")
    })
  )
})

describe("a cancel of an execution in which an undo fails when a race is decided", () => {
  it.effect("comes after the undo, which is tried again", () =>
    Effect.gen(function* () {
      const state: { atFailure: Effect.Effect<void> | null } = { atFailure: Effect.void }
      const undoing = Flow.step("undoing", {
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        run: Effect.fnUntraced(function* () {
          yield* Diary.write("undoing")
          if (state.atFailure === null) return
          yield* state.atFailure
          return yield* new Refused({ why: "out of order" })
        })
      })
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.race("race", {
            lost: Effect.andThen(
              Flow.compensate(note("lost"), () => undoing(undefined)),
              Flow.sleep("long", "1 day")
            ),
            won: Flow.sleep("short", "1 second")
          })
          yield* note("after")
        })
      )
      yield* Effect.gen(function* () {
        const services = yield* Effect.context<FlowEngine>()
        const id = yield* Flow.submit(flow, undefined)
        // It arrives with the failure.
        state.atFailure = FlowExecutions.cancel(id).pipe(Effect.orDie, Effect.provideContext(services))
        yield* advance("2 seconds")
        assert.strictEqual((yield* FlowExecutions.get(id)).failure?.tag, "UndoFailed")
        state.atFailure = null
        yield* FlowExecutions.resume(id)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, ["lost", "undoing", "undoing"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("a cancel of an execution that halted because an undo broke a rule when a race was decided", () => {
  it.effect("halts again, and takes effect once that undo is skipped", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(note("first", { key: "first" }), () => note("undo first"))
          yield* Flow.race("race", {
            lost: Effect.andThen(
              Flow.compensate(note("lost"), () => Effect.all([note("one"), note("two")], { concurrency: 2 })),
              Flow.sleep("long", "1 day")
            ),
            won: Flow.sleep("short", "1 second")
          })
          yield* note("after")
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("2 seconds")
        assert.strictEqual((yield* FlowExecutions.get(id)).failure?.tag, "FlowDefect")
        yield* FlowExecutions.cancel(id)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "halted")
        yield* FlowExecutions.resume(id, { skip: ["race[lost]/note"] })
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "cancelled")
        assert.deepStrictEqual(yield* Diary.read, ["first", "lost", "undo first"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("a cancel that an older version recorded, by which it interrupted a wait inside Flow.compensate", () => {
  const flow = flowOf(Schema.Void, () =>
    Effect.asVoid(
      Flow.compensate(
        Effect.gen(function* () {
          yield* note("one", { key: "one" })
          yield* Flow.sleep("nap", "1 hour")
          yield* note("two", { key: "two" })
        }),
        () => note("undo both")
      )
    )
  )
  /** The execution as that version has left it. */
  const left = (more: (at: number) => ReadonlyArray<Entry>) =>
    Effect.gen(function* () {
      const submitted = Effect.tap(Flow.submit(flow, undefined), () => advance("1 second"))
      const id = yield* inProcess(Flow.layer(flow), submitted)
      const older = Effect.gen(function* () {
        const { journal } = (yield* engineOf).engine
        const claimed = yield* journal.claimOne("older", id)
        assert(claimed !== null)
        const history = yield* journal.history(id)
        const nap = history?.entries.find(({ path }) => path === "nap")
        assert(nap !== undefined)
        const at = nap.begun + 1
        const cutOff = { ...nap, state: "interrupted", ended: at + 1, endedAt: nap.startedAt, due: null } as const
        yield* journal.write(
          { id, epoch: claimed.epoch },
          {
            execution: { owner: null, wakeAt: yield* journal.now },
            entries: [marker(cancelPath, "cancel", at, null), cutOff, ...more(at + 2)],
            undos: [],
            taken: [],
            seen: claimed.mail
          }
        )
      })
      yield* inProcess(Layer.empty, older)
      return id
    })
  const marker = (path: string, kind: EntryKind, at: number, value: Schema.Json): Entry => ({
    ...newEntry({ path, name: kind, kind, input: null, subject: null }, 0),
    state: "succeeded",
    value,
    begun: at,
    ended: at
  })

  it.effect("waits again, runs the call to its end and undoes it", () =>
    Effect.gen(function* () {
      const id = yield* left(() => [])
      const after = inProcess(
        Flow.layer(flow),
        Effect.andThen(advance("1 second"), Effect.andThen(advance("1 hour"), stateOf(id)))
      )
      assert.strictEqual(yield* after, "cancelled")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "undo both"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("halts when undoing had begun, and does so after another cancel", () =>
    Effect.gen(function* () {
      const id = yield* left((at) => [marker(outcomePath, "outcome", at, { cancelled: true, error: null })])
      yield* inProcess(
        Flow.layer(flow),
        Effect.gen(function* () {
          yield* advance("1 second")
          assert.strictEqual((yield* FlowExecutions.get(id)).failure?.tag, "FlowChanged")
          yield* FlowExecutions.cancel(id)
          yield* advance("1 second")
          yield* advance("1 hour")
          assert.strictEqual(yield* stateOf(id), "cancelled")
          assert.deepStrictEqual(yield* Diary.read, ["one", "two", "undo both"])
        })
      )
    }).pipe(Effect.provide(restarting))
  )
})
