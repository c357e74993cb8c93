/**
 * Marks which step's code runs, so that a step which keeps the event loop can be named by a thread that only sees the marks.
 *
 * Exact for the code of effects, where each operation sets the mark. What an async function does after an `await` is followed only
 * while steps run that are suspected, because their process has stood still before: to follow every promise costs time.
 */
import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import { AsyncLocalStorage, createHook } from "node:async_hooks"
import type { StepName } from "../model/Execution.ts"
import type { Writer } from "./thread/Marks.ts"

/** A step to start. */
export interface Started extends StepName {
  /** Whether its process has stood still before. */
  readonly isSuspect: boolean
}

export interface StepCode {
  /** Starts the fiber of a step in a context. */
  readonly within: <A, E>(
    step: Started,
    context: Context.Context<never>,
    start: (context: Context.Context<never>) => Fiber.Fiber<A, E>
  ) => Fiber.Fiber<A, E>
}

/** Runs code with a mark. */
const marked = <A>(marks: Writer, slot: number, run: () => A): A => {
  const before = marks.getCurrent()
  marks.setCurrent(slot)
  try {
    return run()
  } finally {
    marks.restoreCurrent(before)
  }
}

/** Marks every operation of the fibers of a step, however they were continued. */
class MarkingScheduler extends Scheduler.MixedScheduler {
  readonly #marks: Writer
  readonly #slot: number
  #isForgotten = true
  constructor(marks: Writer, slot: number) {
    super("async", (task) => {
      const handle = setImmediate(() => marked(marks, slot, task))
      return () => clearImmediate(handle)
    })
    this.#marks = marks
    this.#slot = slot
  }
  override shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    if (this.#marks.getCurrent() !== this.#slot) {
      this.#marks.setCurrent(this.#slot)
      if (this.#isForgotten) {
        this.#isForgotten = false
        // After what is done without a pause.
        queueMicrotask(() => {
          this.#isForgotten = true
          if (this.#marks.getCurrent() === this.#slot) this.#marks.setCurrent(0)
        })
      }
    }
    return super.shouldYield(fiber)
  }
}

/** Marks the code after each `await` and in each callback of steps, while it is enabled. */
const makeFollower = (marks: Writer, slotOf: () => number) => {
  const slots = new Map<number, number>()
  const outer: Array<number> = []
  const hook = createHook({
    init: (id) => {
      const slot = slotOf()
      if (slot !== 0) slots.set(id, slot)
    },
    before: (id) => {
      outer.push(marks.getCurrent())
      marks.setCurrent(slots.get(id) ?? 0)
    },
    after: () => marks.restoreCurrent(outer.pop() ?? 0),
    destroy: (id) => void slots.delete(id)
  })
  let suspects = 0
  return {
    began: () => {
      if (suspects++ > 0) return
      hook.enable()
      marks.setPrecise(true)
    },
    ended: () => {
      if (--suspects > 0) return
      hook.disable()
      marks.setPrecise(false)
      slots.clear()
      outer.length = 0
    }
  }
}

export const make = (marks: Writer): StepCode => {
  const running = new AsyncLocalStorage<number>()
  // One for each slot, not one for each step.
  const schedulers: Array<MarkingScheduler> = []
  const follower = makeFollower(marks, () => running.getStore() ?? 0)

  return {
    within: ({ execution, isSuspect, path }, context, start) => {
      const slot = marks.begin({ execution, path })
      if (slot === null) return start(context)
      if (isSuspect) follower.began()
      const usual = Context.get(context, Scheduler.Scheduler)
      // Another one may order the fibers of a test.
      const isUsual = Object.getPrototypeOf(usual) === Scheduler.MixedScheduler.prototype
      const own =
        isUsual && usual.executionMode === "async"
          ? Context.add(context, Scheduler.Scheduler, (schedulers[slot] ??= new MarkingScheduler(marks, slot)))
          : context
      const fiber = running.run(slot, () => marked(marks, slot, () => start(own)))
      fiber.addObserver(() => {
        marks.end(slot)
        if (isSuspect) follower.ended()
      })
      return fiber
    }
  }
}
