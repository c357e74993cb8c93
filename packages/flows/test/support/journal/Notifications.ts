import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { until } from "../Polling.ts"
import {
  begin,
  create,
  end,
  hour,
  order,
  orders,
  owned,
  part,
  register,
  signal,
  type TheJournal,
  write
} from "./Bench.ts"

type Heard = readonly [process: string | null, execution: string | null, ended: boolean]

/** Listens until the test ends; returns what was heard since it listened. */
export const listen = Effect.fnUntraced(function* (journal: TheJournal, handle: Effect.Effect<void> = Effect.void) {
  const heard: Array<Heard> = []
  yield* Effect.forkScoped(
    journal.changes((process, execution, ended) =>
      Effect.andThen(
        Effect.sync(() => heard.push([process, execution, ended])),
        handle
      )
    )
  )
  yield* until(Effect.sync(() => heard.length > 0))
  assert.deepStrictEqual(heard.shift(), [null, null, false])
  return heard
})

const waitFor = (heard: ReadonlyArray<Heard>, count: number) => until(Effect.sync(() => heard.length >= count))

export const notifications = part("changes", (test) => {
  test("subscribers are notified of messages to an owner, of due executions, and of ends", ({ journal }) =>
    Effect.gen(function* () {
      const heard = yield* listen(journal)
      yield* register(journal, "me")
      const fence = yield* owned(journal, "a", { wakeAt: null })
      yield* journal.send("id-a", signal("go"))
      yield* waitFor(heard, 1)
      yield* journal.write(fence, write({ execution: { owner: null, wakeAt: begin }, seen: 1 }))
      yield* waitFor(heard, 2)
      const [claimed] = yield* journal.claim("me", [orders], begin, 1)
      assert(claimed !== undefined)
      yield* end(journal, claimed, begin)
      yield* waitFor(heard, 3)
      assert.deepStrictEqual(heard, [
        ["me", "id-a", false],
        [null, "id-a", false],
        [null, "id-a", true]
      ])
    }))

  test("executions that become due are notified, whatever the cause, and no others", ({ journal }) =>
    Effect.gen(function* () {
      const heard = yield* listen(journal)
      // None of these needs an owner now.
      yield* create(journal, order("later", { wakeAt: begin + hour }))
      yield* create(journal, order("never", { wakeAt: null }))
      yield* create(journal, order("halted", { state: "halted" }))
      yield* owned(journal, "owned")
      yield* journal.send("id-halted", signal("go"))
      yield* create(journal, order("due"))
      yield* waitFor(heard, 1)
      yield* journal.send("id-never", signal("go"))
      yield* waitFor(heard, 2)
      yield* journal.leave("me")
      yield* waitFor(heard, 3)
      assert.deepStrictEqual(
        heard.map(([process, execution]) => `${process} ${execution}`),
        ["null id-due", "null id-never", "null id-owned"]
      )
    }))

  test("an owner is notified when a change revokes its claim", ({ journal }) =>
    Effect.gen(function* () {
      yield* register(journal, "me")
      yield* owned(journal, "a")
      const heard = yield* listen(journal)
      const none = { aside: [], asideUndos: [], undos: [], taken: [] }
      yield* journal.change("id-a", () => Effect.succeed({ execution: { state: "suspended" }, ...none }))
      yield* waitFor(heard, 1)
      yield* journal.change("id-a", () => Effect.succeed({ execution: { state: "running", wakeAt: begin }, ...none }))
      yield* waitFor(heard, 2)
      assert.deepStrictEqual(heard, [
        ["me", "id-a", false],
        [null, "id-a", false]
      ])
    }))

  test("concurrent changes of one execution are notified once", ({ journal }) =>
    Effect.gen(function* () {
      yield* register(journal, "me")
      yield* owned(journal, "a")
      yield* owned(journal, "b")
      const gate = Latch.makeUnsafe(true)
      const heard = yield* listen(journal, gate.await)
      gate.closeUnsafe()
      yield* journal.send("id-a", signal("first"))
      yield* waitFor(heard, 1)
      // While the first one is handled.
      for (let n = 0; n < 20; n++) yield* journal.send("id-a", signal(`s${n}`))
      yield* journal.send("id-b", signal("go"))
      gate.openUnsafe()
      yield* waitFor(heard, 3)
      yield* journal.send("id-b", signal("last"))
      yield* waitFor(heard, 4)
      assert.deepStrictEqual(heard, [
        ["me", "id-a", false],
        ["me", "id-a", false],
        ["me", "id-b", false],
        ["me", "id-b", false]
      ])
    }))

  test("each subscriber is notified", ({ journal }) =>
    Effect.gen(function* () {
      const both = [yield* listen(journal), yield* listen(journal)]
      yield* create(journal, order("a"))
      for (const heard of both) {
        yield* waitFor(heard, 1)
        assert.deepStrictEqual(heard, [[null, "id-a", false]])
      }
    }))
})
