/** How passwords are stored and compared. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PasswordCost, Passwords } from "../src/internal/vault/Passwords.ts"

const costing = (N: number) =>
  Layer.fresh(Passwords.layer).pipe(Layer.provide(Layer.succeed(PasswordCost, { N, r: 8, p: 1 })))

it.effect("a password is stored with a salt of its own, and no other one has its form", () =>
  Effect.gen(function* () {
    const { hash, matches } = yield* Passwords
    const [one, two] = [yield* hash("a lantern over the river"), yield* hash("a lantern over the river")]
    assert.notStrictEqual(one, two)
    assert.deepStrictEqual(yield* matches("a lantern over the river", one), { matches: true, isWeak: false })
    assert.deepStrictEqual(yield* matches("a lantern over the rivers", one), { matches: false, isWeak: false })
    // The same letters, as another keyboard writes them.
    const accent = yield* hash("caf\u00e9 de la gare")
    assert.isTrue((yield* matches("cafe\u0301 de la gare", accent)).matches)
  }).pipe(Effect.provide(costing(2 ** 10)))
)

it.effect("one that was stored at lower cost is known as weak", () =>
  Effect.gen(function* () {
    const weak = yield* Effect.provide(
      Effect.flatMap(Passwords, ({ hash }) => hash("a lantern over the river")),
      costing(2 ** 9)
    )
    const { matches } = yield* Passwords
    assert.deepStrictEqual(yield* matches("a lantern over the river", weak), { matches: true, isWeak: true })
  }).pipe(Effect.provide(costing(2 ** 10)))
)

it.live("where there is no account one is computed too: two at a time, with twenty waiting, and no more", () =>
  Effect.gen(function* () {
    const { matches } = yield* Passwords
    const one = Effect.result(matches("a lantern over the river", null))
    const all = yield* Effect.all(
      Array.from({ length: 30 }, () => one),
      { concurrency: "unbounded" }
    )
    const refused = all.filter(({ _tag }) => _tag === "Failure")
    assert.lengthOf(refused, 8)
    // There is room again.
    assert.deepStrictEqual(yield* matches("a lantern over the river", null), { matches: false, isWeak: false })
  }).pipe(Effect.provide(costing(2 ** 10)))
)
