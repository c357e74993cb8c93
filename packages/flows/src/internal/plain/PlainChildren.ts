/**
 * Children of a plain run: they run concurrently with their parent, and end with the process.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Schema from "effect/Schema"
import { FlowDefect } from "../../FlowDefect.ts"
import { ExecutionConflict, SignalConflict } from "../../FlowErrors.ts"
import { FlowSignals } from "../../FlowSignals.ts"
import type { Children, Ended } from "../body/ChildExecutions.ts"
import type { NewMessage } from "../model/Execution.ts"
import { canonical } from "../model/Values.ts"

/** The signals of one name and key. */
interface Box {
  kind: NewMessage["kind"] | null
  readonly values: Array<Schema.Json>
  taken: number
}

/** Returns the last part of a path, without its number: the name and key of a signal. */
const addressOf = (path: string): string =>
  path.replace(/#\d+$/, "").replace(/^(?:(?:[^[\]/]|\[(?:\\.|[^\]])*\])*\/)+/, "")

/** Signals that a parent sends to its child; others come from the source of the parent. */
const makeBoxes = (outer: FlowSignals) => {
  const boxes = new Map<string, Box>()
  const changed = Latch.makeUnsafe()
  const boxOf = (name: string): Box => {
    const box = boxes.get(name) ?? { kind: null, values: [], taken: 0 }
    boxes.set(name, box)
    return box
  }
  const take = Effect.fnUntraced(function* (box: Box) {
    for (;;) {
      const value = box.values[box.kind === "inbox" ? box.taken : 0]
      if (value !== undefined) {
        box.taken++
        return value
      }
      changed.closeUnsafe()
      yield* changed.await
    }
  })
  const signals: FlowSignals = {
    receive: (address) => {
      const box = boxOf(addressOf(address.path))
      // Without an outer source its `receive` dies, and the parent may still send.
      return Effect.raceFirst(
        take(box),
        Effect.catchDefect(outer.receive(address), () => Effect.never)
      )
    }
  }
  return {
    signals,
    /** Returns false when the signal has another value. */
    send: ({ kind, name, value }: NewMessage): boolean => {
      const box = boxOf(name)
      const there = box.values[0]
      if (kind === "signal" && there !== undefined) return canonical(there) === canonical(value)
      box.kind = kind
      box.values.push(value)
      changed.openUnsafe()
      return true
    }
  }
}

interface Child {
  readonly fiber: Fiber.Fiber<unknown>
  readonly done: Deferred.Deferred<Ended>
  readonly send: (message: NewMessage) => boolean
  readonly isCancelled: boolean
}

export const make = (outer: FlowSignals, newId: () => string): Children => {
  const children = new Map<string, Child>()
  const ids = new Map<string, string>()

  const found = (id: string): Effect.Effect<Child> => {
    const child = children.get(id)
    return child === undefined
      ? Effect.die(new FlowDefect({ message: `the execution ${id} is not a child of this one` }))
      : Effect.succeed(child)
  }
  const cancel = (id: string) =>
    Effect.flatMap(found(id), ({ fiber }) => Effect.asVoid(Effect.forkDetach(Fiber.interrupt(fiber))))

  return {
    start: ({ flow, key, onParentEnd, run }) =>
      Effect.gen(function* () {
        const there = ids.get(`${flow} ${key}`)
        if (there !== undefined) return there
        const id = newId()
        const { send, signals } = makeBoxes(outer)
        const done = Deferred.makeUnsafe<Ended>()
        const whole = Effect.flatMap(Effect.provideService(run(id), FlowSignals, signals), (ended) =>
          Deferred.succeed(done, ended)
        )
        // Uninterruptible, so that its end is also known after an interrupt, which reaches `run`.
        const fiber = yield* Effect.forkDetach(Effect.uninterruptible(whole))
        children.set(id, { fiber, done, send, isCancelled: onParentEnd === "cancel" })
        ids.set(`${flow} ${key}`, id)
        return id
      }),
    find: (flow, key) => Effect.sync(() => ids.get(`${flow} ${key}`) ?? null),
    awaited: () => Effect.void,
    ended: (id) => Effect.flatMap(found(id), ({ done }) => Deferred.await(done)),
    send: Effect.fnUntraced(function* (id, message) {
      const { done, send } = yield* found(id)
      if (yield* Deferred.isDone(done)) {
        const { state } = yield* Deferred.await(done)
        const text = `the execution ${id} has ended and accepts no signals`
        return yield* new ExecutionConflict({ execution: id, state, message: text })
      }
      if (!send(message)) return yield* new SignalConflict({ execution: id, signal: message.name })
    }),
    cancel,
    // Waits until their undos have run: the process may end after this.
    endAll: () =>
      Effect.forEach(
        [...children.values()].filter(({ isCancelled }) => isCancelled),
        ({ fiber }) => Fiber.interrupt(fiber),
        { concurrency: "unbounded", discard: true }
      )
  }
}
