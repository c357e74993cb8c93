/** Commands between processes of two protocols: one owns executions while the other sends all five commands. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import * as Effects from "../support/drills/Effects.ts"
import type { Kind } from "../support/drills/Family.ts"
import * as Processes from "../support/drills/Processes.ts"
import { postgres } from "../support/drills/Stores.ts"

const Described = Schema.Struct({ state: Schema.String, commands: Schema.Array(Schema.String) })

/** An execution whose first POST is under way, in the one process; the other sends commands, and so does whoever looks. */
const bench = Effect.fnUntraced(function* (owner: { readonly first: boolean }, other: { readonly first: boolean }) {
  const effects = yield* Effects.start
  const gates = new Map<number, Latch.Latch>()
  const arrived = new Map<number, Latch.Latch>()
  const latch = (all: Map<number, Latch.Latch>, n: number) => {
    const there = all.get(n) ?? Latch.makeUnsafe()
    all.set(n, there)
    return there
  }
  effects.meanwhile = ({ n, name, undo }, phase) => {
    if (phase !== "arrived" || undo || name !== "a") return undefined
    latch(arrived, n).openUnsafe()
    return Effect.runPromise(latch(gates, n).await)
  }
  const plan = Processes.planOf({ store: yield* postgres, effects: effects.url })
  // The older one is there first: it would not open newer tables.
  const owning = yield* Processes.start({ ...plan, ...owner })
  const commanding = yield* Processes.start({ ...plan, ...other })
  const describe = (n: number) =>
    Effect.orDie(Effect.flatMap(commanding.ask({ do: "history", n }), Schema.decodeUnknownEffect(Described)))
  return {
    submit: Effect.fnUntraced(function* (n: number, kind: Kind = "plain") {
      yield* owning.ask({ do: "submit", n, kind })
      yield* latch(arrived, n).await
    }),
    open: (n: number) => latch(gates, n).open,
    send: (n: number, command: "cancel" | "terminate" | "suspend" | "resume") =>
      // Long enough for the owner to read it.
      Effect.andThen(commanding.ask({ do: command, n }), Effect.sleep("300 millis")),
    retry: (n: number) => commanding.ask({ do: "retry", n, from: "post[a]", version: null }),
    stands: Effect.fnUntraced(function* (n: number, state: string) {
      for (;;) {
        const described = yield* describe(n)
        // What the other left open is decided with the next lease.
        const isSettled = !described.commands.some((command) => command.endsWith("pending"))
        if (described.state === state && isSettled) return described.commands
        yield* Effect.sleep("100 millis")
      }
    }),
    done: (n: number) => effects.executed.filter((post) => post.n === n && !post.undo).map(({ name }) => name)
  }
})

it.live("a process of the first protocol owns executions while one of this version sends all commands", () =>
  Effect.gen(function* () {
    const { done, open, retry, send, stands, submit } = yield* bench({ first: true }, { first: false })
    for (const n of [0, 1, 2, 3]) yield* submit(n)
    yield* submit(4, "failed")

    yield* send(0, "suspend")
    yield* open(0)
    assert.deepStrictEqual(yield* stands(0, "suspended"), ["suspend applied"])
    assert.deepStrictEqual(done(0), ["a"])

    // It has read the suspend, and nothing takes that back from it.
    yield* send(1, "suspend")
    yield* send(1, "resume")
    yield* open(1)
    assert.deepStrictEqual(yield* stands(1, "completed"), ["suspend superseded", "resume applied"])

    yield* send(2, "suspend")
    yield* send(2, "cancel")
    yield* open(2)
    assert.deepStrictEqual(yield* stands(2, "cancelled"), ["suspend superseded", "cancel applied"])

    yield* send(3, "terminate")
    assert.deepStrictEqual(yield* stands(3, "cancelled"), ["terminate applied"])
    yield* open(3)

    yield* open(4)
    yield* stands(4, "failed")
    yield* retry(4)
    assert.deepStrictEqual(yield* stands(4, "failed"), ["retry applied"])

    yield* send(0, "resume")
    assert.deepStrictEqual(yield* stands(0, "completed"), ["suspend applied", "resume applied"])
    assert.deepStrictEqual([done(0), done(1), done(2), done(3)], [["a", "b"], ["a", "b"], ["a"], ["a"]])
  }).pipe(Effect.scoped)
)

it.live("a process of this version owns executions while one of the first protocol sends all commands", () =>
  Effect.gen(function* () {
    const { done, open, retry, send, stands, submit } = yield* bench({ first: false }, { first: true })
    for (const n of [0, 1, 2]) yield* submit(n)
    yield* submit(3, "failed")

    yield* send(0, "suspend")
    yield* open(0)
    yield* stands(0, "suspended")
    yield* send(0, "resume")
    yield* stands(0, "completed")

    // It sends a cancel beside a suspend that was read.
    yield* send(1, "suspend")
    yield* send(1, "cancel")
    yield* open(1)
    yield* stands(1, "cancelled")

    yield* send(2, "terminate")
    yield* stands(2, "cancelled")
    yield* open(2)

    yield* open(3)
    yield* stands(3, "failed")
    yield* retry(3)
    yield* stands(3, "failed")
    assert.deepStrictEqual([done(0), done(1), done(2)], [["a", "b"], ["a"], ["a"]])
  }).pipe(Effect.scoped)
)
