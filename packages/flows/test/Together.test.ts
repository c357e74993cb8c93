/** Which requests of the journal on Postgres share a statement. */
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Together from "../src/internal/journal/sql/Together.ts"

/** Requests are texts; a shared statement answers with their upper case, a single one with the text and a mark. */
const statements = (
  run?: (all: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string | null>, unknown>,
  passedAfterMillis = 60_000
) => {
  const shared: Array<ReadonlyArray<string>> = []
  const single: Array<string> = []
  const ask = Together.make<string, string>({
    context: Context.empty(),
    passedAfterMillis,
    run: (all) => {
      shared.push(all)
      return run?.(all) ?? Effect.succeed(all.map((text) => text.toUpperCase()))
    }
  })
  const alone = (text: string) => Effect.sync(() => (single.push(text), `${text}!`))
  return { shared, single, ask, one: (text: string) => ask(text, alone(text)) }
}

const all = (one: (text: string) => Effect.Effect<string>, ...texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, one, { concurrency: "unbounded" })

it.live("a request that comes alone goes alone, and those that come together share a statement", () =>
  Effect.gen(function* () {
    const { one, shared, single } = statements()
    assert.strictEqual(yield* one("a"), "a!")
    assert.deepStrictEqual(yield* all(one, "b", "c", "d"), ["B", "C", "D"])
    assert.deepStrictEqual([single, shared], [["a"], [["b", "c", "d"]]])
  })
)

it.live("what comes while a statement is on its way shares the next one", () =>
  Effect.gen(function* () {
    const { ask, one, shared } = statements()
    const [sent, answered] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<string>()]
    const first = yield* Effect.forkChild(
      ask("a", Effect.andThen(Deferred.succeed(sent, undefined), Deferred.await(answered)))
    )
    yield* Deferred.await(sent)
    const others = [yield* Effect.forkChild(one("b")), yield* Effect.forkChild(one("c"))]
    yield* Effect.sleep("5 millis")
    assert.deepStrictEqual(shared, [])
    yield* Deferred.succeed(answered, "a!")
    assert.strictEqual(yield* Fiber.join(first), "a!")
    for (const fiber of others) yield* Fiber.join(fiber)
    assert.deepStrictEqual(shared, [["b", "c"]])
  })
)

it.live("a statement that is not answered for long lets others pass", () =>
  Effect.gen(function* () {
    const { ask, one } = statements(undefined, 1)
    yield* Effect.forkChild(ask("a", Effect.never))
    assert.deepStrictEqual(yield* all(one, "b", "c"), ["B", "C"])
  })
)

it.live("what a shared statement does not answer is done alone, and everything when it fails", () =>
  Effect.gen(function* () {
    const some = statements((texts) => Effect.succeed(texts.map((text) => (text === "b" ? null : "done"))))
    assert.deepStrictEqual(yield* all(some.one, "a", "b", "c"), ["done", "b!", "done"])
    for (const failure of [Effect.fail("no"), Effect.die("no"), Effect.succeed([])]) {
      const { one } = statements(() => failure)
      assert.deepStrictEqual(yield* all(one, "a", "b"), ["a!", "b!"])
    }
  })
)

it.live("a request whose caller goes before it is sent is not sent", () =>
  Effect.gen(function* () {
    const { ask, one, shared } = statements()
    const [sent, answered] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<string>()]
    const first = yield* Effect.forkChild(
      ask("a", Effect.andThen(Deferred.succeed(sent, undefined), Deferred.await(answered)))
    )
    yield* Deferred.await(sent)
    const gone = yield* Effect.forkChild(one("b"), { startImmediately: true })
    const others = yield* Effect.forkChild(all(one, "c", "d"), { startImmediately: true })
    yield* Fiber.interrupt(gone)
    yield* Deferred.succeed(answered, "a!")
    yield* Fiber.join(first)
    yield* Fiber.join(others)
    assert.deepStrictEqual(shared, [["c", "d"]])
  })
)
