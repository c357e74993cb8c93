/** The paths of steps, and what is around steps: loops, time and sub-flows. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { Diary, Refused, note, flowOf, defectOf, pathsOf } from "./support/Flows.ts"

describe("paths", () => {
  it.effect("are made of the names and keys of what is around a step", () =>
    Effect.gen(function* () {
      const part = Flow.make("part", {
        version: 1,
        input: Schema.String,
        success: Schema.Finite,
        error: Refused,
        idempotencyKey: (text) => text,
        run: (text) => note(text)
      })
      const flow = flowOf(
        Schema.Void,
        Effect.fnUntraced(function* () {
          yield* Flow.forEach("file", ["a.csv", "dir/b[1].csv"], { key: (file) => file }, (file) =>
            Effect.andThen(note(file), note(file, { key: "again" }))
          )
          yield* Flow.all("both", { left: note("l"), right: Flow.call(part, "r") })
          yield* Flow.all("pair", [note("0"), Flow.sleep("nap", 0)])
          yield* Flow.call(part, "p", { key: "k" })
          yield* Flow.now("end")
        })
      )
      assert.deepStrictEqual(yield* pathsOf(Flow.run(flow, undefined)), [
        "file[a.csv]/note",
        "file[a.csv]/note[again]",
        "file[dir/b[1\\].csv]/note",
        "file[dir/b[1\\].csv]/note[again]",
        "both[left]/note",
        "both[right]/part",
        "both[right]/part/note",
        "pair[0]/note",
        "pair[1]/nap",
        "part[k]",
        "part[k]/note",
        "end"
      ])
    }).pipe(Effect.provide(Diary.layer))
  )

  const twice = (body: () => Effect.Effect<unknown, Refused, Flow.FlowContext<Diary>>) =>
    defectOf(
      Flow.run(
        flowOf(Schema.Void, () => Effect.asVoid(body())),
        undefined
      )
    ).pipe(
      Effect.map((defect) => defect.message),
      Effect.provide(Diary.layer)
    )

  it.effect("used twice are a defect that says which, and what to do", () =>
    Effect.gen(function* () {
      const message = yield* twice(() => Effect.andThen(note("a", { key: "k" }), note("b", { key: "k" })))
      assert.match(message, /the path note\[k\] is used twice/)
      assert.match(message, /give each use a different key/)
    })
  )

  it.effect("count for keys, loops, sub-flows and sleeps", () =>
    Effect.gen(function* () {
      assert.match(
        yield* twice(() => Flow.forEach("f", ["a", "a"], { key: (x) => x }, (x) => note(x))),
        /path f\[a\] is used twice/
      )
      assert.match(
        yield* twice(() => Effect.andThen(Flow.sleep("nap", 0, { key: "k" }), Flow.sleep("nap", 0, { key: "k" }))),
        /path nap\[k\] is used twice/
      )
    })
  )

  it.effect("are numbered where a call has no key", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Void,
        Effect.fnUntraced(function* () {
          yield* note("a")
          yield* note("b")
          yield* Flow.sleep("nap", 0)
          yield* Flow.sleep("nap", 0)
          for (const text of ["c", "d"]) yield* Flow.forEach("f", [text], { key: (x) => x }, (x) => note(x))
        })
      )
      assert.deepStrictEqual(yield* pathsOf(Flow.run(flow, undefined)), [
        "note",
        "note#2",
        "nap",
        "nap#2",
        "f[c]/note",
        "f#2[d]/note"
      ])
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("are separate for executions, and no two keys make equal paths", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => note("a"))
      yield* Flow.run(flow, undefined)
      yield* Flow.run(flow, undefined)
      const tricky = flowOf(Schema.Void, () =>
        Effect.asVoid(Effect.all([note("1", { key: "a]" }), note("2", { key: "a\\]" }), note("3", { key: "a" })]))
      )
      yield* Flow.run(tricky, undefined)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("take no slashes, brackets or number signs from names", () =>
    Effect.gen(function* () {
      for (const name of ["a/b", "a[b]", "a#2", ""]) {
        const message = yield* twice(() => Flow.sleep(name, 0))
        assert.match(message, /cannot be part of a path/)
      }
    })
  )
})

describe("forEach and all", () => {
  it.effect("run as many at a time as asked, and keep the order of results", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const slow = Flow.step("slow", {
        input: Schema.Finite,
        success: Schema.Finite,
        error: Schema.Never,
        run: (millis) =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Effect.sleep(millis)
            running--
            return millis
          })
      })
      const flow = flowOf(Schema.Array(Schema.Finite), () =>
        Flow.forEach("n", [40, 10, 30, 20], { key: String, concurrency: 2 }, (millis) => slow(millis))
      )
      const fiber = yield* Effect.forkChild(Flow.run(flow, undefined))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [40, 10, 30, 20])
      assert.strictEqual(most, 2)
    })
  )

  it.effect("are one after the other by default, and interrupt the rest when one fails", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.asVoid(Flow.forEach("n", ["a", "", "b"], { key: (_, index) => `${index}` }, (text) => note(text)))
      )
      yield* Effect.flip(Flow.run(flow, undefined))
      assert.deepStrictEqual(yield* Diary.read, ["a"])
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("all returns the shape of its members", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const flow = flowOf(
        Schema.Void,
        Effect.fnUntraced(function* () {
          seen.push(yield* Flow.all("record", { a: note("x"), b: Flow.sleep("nap", 0) }, { concurrency: "unbounded" }))
          seen.push(yield* Flow.all("tuple", [note("xy"), note("xyz")]))
          seen.push(yield* Flow.all("nothing", []))
        })
      )
      yield* Flow.run(flow, undefined)
      assert.deepStrictEqual(seen, [{ a: 1, b: undefined }, [2, 3], []])
    }).pipe(Effect.provide(Diary.layer))
  )
})

describe("time and sub-flows", () => {
  it.effect("sleep waits, now returns the time", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-20T08:00:00.000Z"))
      const flow = flowOf(
        Schema.String,
        Effect.fnUntraced(function* () {
          yield* Flow.sleep("nap", "1 day")
          return DateTime.formatIso(yield* Flow.now("woke"))
        })
      )
      const fiber = yield* Effect.forkChild(Flow.run(flow, undefined))
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* Fiber.join(fiber), "2026-11-21T08:00:00.000Z")
    })
  )

  it.effect("a sub-flow hands on its result and its error, and records both", () =>
    Effect.gen(function* () {
      const part = Flow.make("part", {
        version: 1,
        input: Schema.String,
        success: Schema.String.check(Schema.isMaxLength(3)),
        error: Refused,
        idempotencyKey: (text) => text,
        run: (text) => Effect.as(note(text), text)
      })
      const run = (text: string) =>
        Flow.run(
          flowOf(Schema.String, () => Flow.call(part, text)),
          undefined
        )
      assert.strictEqual(yield* run("abc"), "abc")
      assert.instanceOf(yield* Effect.flip(run("")), Refused)
      assert.match((yield* defectOf(run("abcd"))).message, /the result of the flow part does not fit/)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("a step can run a whole flow", () =>
    Effect.gen(function* () {
      const inner = flowOf(Schema.Finite, () => note("inner"))
      const nested = Flow.step("note", {
        input: Schema.Void,
        success: Schema.Finite,
        error: Schema.Union([Refused, Flow.FlowTimeout]),
        run: () => Effect.catchTag(Flow.run(inner, undefined), "InvalidInput", Effect.die)
      })
      assert.strictEqual(
        yield* Flow.run(
          flowOf(Schema.Finite, () => nested(undefined)),
          undefined
        ),
        5
      )
    }).pipe(Effect.provide(Diary.layer))
  )
})
