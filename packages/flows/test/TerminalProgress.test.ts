import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { bar, elapsed } from "../src/internal/terminal/ProgressView.ts"
import * as TerminalProgress from "../src/TerminalProgress.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/** Reports `[after this many milliseconds, done, message]`, each pause counted from the one before. */
const script = Flow.step("work", {
  input: Schema.Struct({
    steps: Schema.Array(Schema.Tuple([Schema.Finite, Schema.Finite, Schema.String])),
    total: Schema.NullOr(Schema.Finite),
    fails: Schema.Boolean
  }),
  success: Schema.Void,
  error: Refused,
  run: Effect.fnUntraced(function* ({ fails, steps, total }) {
    for (const [pause, done, message] of steps) {
      yield* Effect.sleep(pause)
      yield* Flow.progress({ done, total, message })
    }
    if (fails) return yield* new Refused({ message: "the paper is out" })
  })
})

const flow = Flow.make("printing", {
  version: 1,
  input: script.input,
  success: Schema.Void,
  error: Refused,
  idempotencyKey: () => "one",
  run: (input) => script(input)
})

/** Everything that is written while an effect runs over virtual time. */
const written = Effect.fnUntraced(function* <A, E>(
  effect: Effect.Effect<A, E>,
  options: { readonly isTty: boolean; readonly columns?: number }
) {
  const texts: Array<string> = []
  const layer = TerminalProgress.layer({ ...options, write: (text) => Effect.sync(() => void texts.push(text)) })
  const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(effect, layer)))
  yield* TestClock.adjust("2 minutes")
  yield* Fiber.join(fiber)
  return texts
})

/** What a terminal shows after some text: lines, with the live line last. */
const screenOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lines = [""]
  for (const part of texts
    .join("")
    .replaceAll("\r\u001b[2K", "\f")
    .split(/(\n|\f)/)) {
    if (part === "\n") lines.push("")
    else if (part === "\f") lines[lines.length - 1] = ""
    else lines[lines.length - 1] += part
  }
  return lines
}

const plain = { isTty: false }

describe("without a terminal", () => {
  it.effect("writes the start, changes at most once a second, and the end", () =>
    Effect.gen(function* () {
      const steps: Array<[number, number, string]> = Array.from({ length: 40 }, (_, index) => [110, index + 1, "pages"])
      const texts = yield* written(Flow.run(flow, { steps, total: 40, fails: false }), plain)
      assert.deepStrictEqual(texts.join("").split("\n"), [
        "> printing",
        "  work",
        "  work  [####----------------] 9/40 pages  1.0s",
        "  work  [#########-----------] 18/40 pages  2.0s",
        "  work  [#############-------] 27/40 pages  3.0s",
        "  work  [##################--] 36/40 pages  4.0s",
        "✓ work  [####################] 40/40 pages  4.4s",
        "✓ printing  4.4s",
        ""
      ])
    })
  )

  it.effect("writes a change that came too early once a second has passed, and nothing without a change", () =>
    Effect.gen(function* () {
      const steps: Array<[number, number, string]> = [
        [100, 1, "a"],
        [100, 2, "b"],
        [5_000, 2, "b"]
      ]
      const texts = yield* written(Flow.run(flow, { steps, total: null, fails: false }), plain)
      assert.deepStrictEqual(texts.join("").split("\n"), [
        "> printing",
        "  work",
        "  work  2 b  1.0s",
        "✓ work  2 b  5.2s",
        "✓ printing  5.2s",
        ""
      ])
    })
  )

  it.effect("shows why a step failed", () =>
    Effect.gen(function* () {
      const texts = yield* written(Flow.run(flow, { steps: [[0, 1, "page"]], total: 3, fails: true }), plain)
      assert.deepStrictEqual(texts.join("").split("\n").slice(-3), [
        "✗ work  [######--------------] 1/3 page  0.0s  the paper is out",
        "✗ printing  0.0s  the paper is out",
        ""
      ])
    })
  )

  it.effect("shows retries", () =>
    Effect.gen(function* () {
      const stubborn = Flow.step("stubborn", {
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        retry: { attempts: 2, delay: "90 seconds" },
        run: () => Effect.fail(new Refused({ message: "jam" }))
      })
      const texts = yield* written(
        Flow.run(
          Flow.make("f", {
            version: 1,
            input: Schema.Void,
            success: Schema.Void,
            error: Refused,
            idempotencyKey: () => "1",
            run: () => stubborn(undefined)
          }),
          undefined
        ),
        plain
      )
      assert.deepStrictEqual(texts.join("").split("\n"), [
        "> f",
        "  stubborn",
        "! stubborn  attempt 1 failed, next in 1m 30s: jam",
        "✗ stubborn  1m 30s  jam",
        "✗ f  1m 30s  jam",
        ""
      ])
    })
  )

  it.effect("removes control characters", () =>
    Effect.gen(function* () {
      const steps: Array<[number, number, string]> = [[1_500, 1, "a\u001b[2Jb\r\nc"]]
      const text = (yield* written(Flow.run(flow, { steps, total: 2, fails: false }), plain)).join("")
      assert.include(text, "1/2 a [2Jb c  1.5s\n")
      assert.notInclude(text, "\u001b")
    })
  )
})

describe("on a terminal", () => {
  const tty = { isTty: true, columns: 60 }

  it.effect("keeps one live line with a bar and the time, and leaves a line for what ended", () =>
    Effect.gen(function* () {
      const texts = yield* written(
        Flow.run(flow, {
          steps: [
            [0, 45, "pages"],
            [2_000, 70, "pages"]
          ],
          total: 70,
          fails: false
        }),
        tty
      )
      const screens = texts.map((_, index) => screenOf(texts.slice(0, index + 1)))
      const live = screens.map((screen) => screen.at(-1) ?? "")
      assert.isTrue(
        live.some((line) => /^[|/\\-] work {2}\[#{12}-{8}\] 45\/70 pages {2}1\.\ds$/.test(line)),
        live.join("\n")
      )
      for (const screen of screens) assert.isAtMost(screen.length, 4)
      assert.deepStrictEqual(screenOf(texts), [
        "> printing",
        "✓ work  [####################] 70/70 pages  2.0s",
        "✓ printing  2.0s",
        ""
      ])
    })
  )

  it.effect("moves on while nothing is reported", () =>
    Effect.gen(function* () {
      const nap = Flow.make("f", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => Flow.sleep("nap", "10 seconds")
      })
      const texts = yield* written(Flow.run(nap, undefined), tty)
      const live = texts.map((_, index) => screenOf(texts.slice(0, index + 1)).at(-1) ?? "")
      for (const second of [1, 5, 9])
        assert.isTrue(
          live.some((line) => line.endsWith(`nap  ${second}.0s`)),
          `${second}`
        )
    })
  )

  it.effect("fits the width, and does not redraw for every report", () =>
    Effect.gen(function* () {
      const steps: Array<[number, number, string]> = Array.from({ length: 1_000 }, (_, i) => [1, i, "m".repeat(99)])
      const texts = yield* written(Flow.run(flow, { steps, total: 1_000, fails: false }), tty)
      const live = texts.map((_, index) => screenOf(texts.slice(0, index + 1)).at(-1) ?? "")
      assert.isAbove(live.filter((line) => line.includes("…")).length, 5)
      for (const line of live) assert.isBelow(line.length, 60)
      assert.isBelow(texts.length, 50)
    })
  )

  it.effect("counts what else runs, and clears the live line when it is interrupted", () =>
    Effect.gen(function* () {
      const three = Flow.make("f", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () =>
          Effect.asVoid(
            Flow.forEach("n", ["a", "b", "c"], { key: String, concurrency: 3 }, () => Flow.sleep("nap", "1 hour"))
          )
      })
      const texts = yield* written(Effect.timeout(Flow.run(three, undefined), "1 second"), tty)
      const live = texts.map((_, index) => screenOf(texts.slice(0, index + 1)).at(-1) ?? "")
      assert.isTrue(
        live.some((line) => /n\[c\]\/nap {2}0\.\ds {2}\+2 running$/.test(line)),
        live.join("\n")
      )
      assert.deepStrictEqual(screenOf(texts).slice(-2), ["✗ f  1.0s  interrupted", ""])
    })
  )
})

describe("the pieces", () => {
  it("elapsed is short", () => {
    assert.deepStrictEqual([0, 449, 12_345, 59_999, 60_000, 125_000, 3_720_000].map(elapsed), [
      "0.0s",
      "0.4s",
      "12.3s",
      "59.9s",
      "1m 00s",
      "2m 05s",
      "1h 02m"
    ])
  })

  it("a bar is full only at the end, and takes odd numbers", () => {
    assert.strictEqual(bar(45, 70, 10), "[######----]")
    assert.strictEqual(bar(699, 700, 10), "[#########-]")
    assert.strictEqual(bar(0, 0, 10), "[##########]")
    assert.strictEqual(bar(-1, 10, 10), "[----------]")
    assert.strictEqual(bar(11, 10, 10), "[##########]")
  })
})
