import { assert, describe, it } from "@effect/vitest"
import { processRunStates } from "@signalbox/api/contract/ProcessRuns"
import { stepRunErrorCodes, stepRunStates } from "@signalbox/api/contract/StepRuns"
import { workItemStates } from "@signalbox/api/contract/WorkItems"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Engine from "../src/internal/engine/Engine.ts"
import type * as State from "../src/internal/engine/State.ts"
import { bulkOperationStates } from "@signalbox/api/contract/BulkOperations"
import { failureStates } from "@signalbox/api/contract/Failures"
import {
  bulkOperationMoves,
  failureMoves,
  processRunMoves,
  stepRunMoves,
  workItemMoves
} from "../src/internal/engine/Moves.ts"
import { Model } from "./support/Model.ts"

const business: State.Exception = { code: "BAD", type: "business", message: "bad data" }
const application: State.Exception = { code: "BUG", type: "application", message: "a bug" }

const succeed = <A>(result: Result.Result<A, State.Refusal>): A =>
  Result.isSuccess(result) ? result.success : assert.fail(`refused: ${result.failure.message}`)

const only = <A>(values: ReadonlyArray<A>): A => {
  const [value] = values
  assert.strictEqual(values.length, 1)
  return value ?? assert.fail("nothing there")
}

/** How a task releases an item that has outputs. */
const as = (exception: State.Exception | null): State.Release => ({ exception, outputs: "some" })

/** Starts the waiting step run, like a worker. */
const start = (model: Model) => {
  const stepRun = only(model.live())
  model.commit(succeed(Engine.startStepRun(model.run, stepRun, model.held(stepRun.id), model.now)))
  return only(model.live())
}

const finish = (model: Model, error: Parameters<typeof Engine.finish>[4] = null) => {
  const stepRun = only(model.live())
  const held = model.held(stepRun.id)
  const outputs = model.outputsOf(stepRun.id, held?.id ?? null)
  model.commit(succeed(Engine.finish(model.run, stepRun, model.hand(stepRun.id), outputs, error, model.now)))
}

describe("the tables of moves", () => {
  it("know every state and repeat no move", () => {
    for (const [moves, states] of [
      [processRunMoves, processRunStates],
      [stepRunMoves, stepRunStates],
      [workItemMoves, workItemStates],
      [failureMoves, failureStates],
      [bulkOperationMoves, bulkOperationStates]
    ] as const) {
      const named = new Set(moves.flatMap((move) => [move.from, move.to]))
      assert.deepStrictEqual([...named].sort(), [...states].sort())
      const pairs = moves.map((move) => `${move.from} ${move.to}`)
      assert.strictEqual(new Set(pairs).size, pairs.length)
    }
  })
})

describe("items ahead", () => {
  const retry = { max_attempts: 3, delay_seconds: 0 }
  const cases: ReadonlyArray<readonly [string, Partial<State.RunStep>, number]> = [
    ["a step run has its share of those that wait, once each that may come has one", { retry, max_parallel: 2 }, 4],
    ["a step run alone has all", { retry }, 9],
    ["none without a retry", {}, 0],
    ["none under a limit, which counts what is given", { retry, concurrency: { limit: 5 } }, 0],
    ["none under a rate", { retry, rate: { limit: 5, per: "minute" } }, 0]
  ]
  for (const [what, step, share] of cases) {
    it(what, () => {
      const model = new Model([step], 10)
      for (const stepRun of model.live()) {
        model.commit(succeed(Engine.startStepRun(model.run, stepRun, model.held(stepRun.id), model.now)))
      }
      assert.strictEqual(Engine.shareAhead(model.run, 0), share)
    })
  }
})

describe("a run", () => {
  it("is in progress once its first step run starts, and completed when nothing is open", () => {
    const model = new Model([{}], 1)
    assert.strictEqual(model.run.state, "new")
    start(model)
    assert.strictEqual(model.run.state, "in_progress")
    finish(model)
    assert.strictEqual(model.run.state, "completed")
  })

  it("completes when the robot never touches work items and exits well", () => {
    const model = new Model([{}], 1)
    start(model)
    finish(model)
    assert.strictEqual(only([...model.items.values()]).state, "done")
  })

  it("passes the outputs of done items to the next step, and drops those of others", () => {
    const model = new Model([{}, {}], 1)
    const stepRun = start(model)
    const item = model.held(stepRun.id) ?? assert.fail()
    model.addOutput(stepRun.id, item.id)
    model.commit(succeed(Engine.release(model.run, stepRun, item, as(null), model.now)))
    finish(model)
    assert.strictEqual(only(model.live()).step, 1)

    const failing = new Model([{}, {}], 1)
    const second = start(failing)
    failing.addOutput(second.id, (failing.held(second.id) ?? assert.fail()).id)
    finish(failing, { code: "ROBOT_FAILURE", message: "exit 1" })
    assert.strictEqual(failing.live().length, 0)
    assert.strictEqual(failing.run.state, "unresolved")
  })

  it("releases the outputs of the last step as outputs of the run, not as work items", () => {
    const model = new Model([{}], 1)
    const stepRun = start(model)
    model.addOutput(stepRun.id, (model.held(stepRun.id) ?? assert.fail()).id)
    finish(model)
    assert.strictEqual(model.released.length, 1)
    assert.strictEqual(model.items.size, 1)
  })

  it("creates no more step runs than max_parallel allows", () => {
    const model = new Model([{ max_parallel: 3 }], 10)
    assert.strictEqual(model.live().length, 3)
  })

  it("holds a step with start_after back until all earlier steps are settled", () => {
    const model = new Model([{ max_parallel: 2 }, { start_after: "previous_step" }], 2)
    const [first, second] = model.live()
    if (first === undefined || second === undefined) return assert.fail()
    const startOne = (stepRun: typeof first) =>
      model.commit(succeed(Engine.startStepRun(model.run, stepRun, model.held(stepRun.id), model.now)))
    const finishOne = (id: typeof first.id) => {
      const stepRun = model.stepRuns.get(id) ?? assert.fail()
      const held = model.held(id) ?? assert.fail()
      model.addOutput(id, held.id)
      const outputs = model.outputsOf(id, held.id)
      model.commit(succeed(Engine.finish(model.run, stepRun, model.hand(id), outputs, null, model.now)))
    }
    startOne(first)
    startOne(second)
    finishOne(first.id)
    assert.deepStrictEqual(
      model
        .live()
        .filter((stepRun) => stepRun.step === 1)
        .map((stepRun) => stepRun.state),
      ["new"]
    )
    finishOne(second.id)
    assert.deepStrictEqual(
      model.live().map((stepRun) => stepRun.state),
      ["awaiting_worker"]
    )
  })

  it("keeps the gate of a step shut while an item of the step before waits for its retry", () => {
    const model = new Model(
      [{ max_parallel: 2, retry: { max_attempts: 2, delay_seconds: 60 } }, { start_after: "previous_step" }],
      2
    )
    for (const stepRun of model.live())
      model.commit(succeed(Engine.startStepRun(model.run, stepRun, model.held(stepRun.id), model.now)))
    const [done, failing] = model.live()
    const end = ({ id }: State.StepRun, error: Parameters<typeof Engine.finish>[4]) => {
      const stepRun = model.stepRuns.get(id) ?? assert.fail()
      const held = model.held(id) ?? assert.fail()
      model.addOutput(id, held.id)
      model.commit(
        succeed(Engine.finish(model.run, stepRun, model.hand(id), model.outputsOf(id, held.id), error, model.now))
      )
    }
    end(done ?? assert.fail(), null)
    end(failing ?? assert.fail(), { code: "ROBOT_FAILURE", message: "exit 1" })
    assert.deepStrictEqual(
      model.live().map(({ state, step }) => ({ state, step })),
      [{ state: "new", step: 1 }]
    )
  })
})

describe("the world", () => {
  it("receives the start, every end, and nothing else", () => {
    const model = new Model([{}], 2)
    assert.deepStrictEqual(model.notified, [])
    start(model)
    finish(model)
    assert.deepStrictEqual(model.notified, ["started"])
    start(model)
    finish(model, { code: "ROBOT_FAILURE", message: "exit 1" })
    assert.deepStrictEqual(model.notified, ["started", "unresolved"])
    const failed = [...model.items.values()].filter((item) => item.state === "failed")
    model.commit(succeed(Engine.batch(model.run, "retry", failed, model.now)))
    start(model)
    finish(model, { code: "ROBOT_FAILURE", message: "exit 1" })
    assert.deepStrictEqual(model.notified, ["started", "unresolved", "unresolved"])
    const again = [...model.items.values()].filter((item) => item.state === "failed")
    model.commit(succeed(Engine.batch(model.run, "mark_as_done", again, model.now)))
    assert.deepStrictEqual(model.notified, ["started", "unresolved", "unresolved", "completed"])
  })

  it("receives the start when a run resumes that was stopped before it", () => {
    const model = new Model([{}], 1)
    const live = model.live().map((stepRun) => ({ stepRun, item: model.held(stepRun.id) }))
    model.commit(Engine.stop(model.run, live, { asDone: false, terminate: false, reason: "" }, model.now))
    assert.deepStrictEqual(model.notified, ["unresolved"])
    model.commit(succeed(Engine.batch(model.run, "retry", [...model.items.values()], model.now)))
    start(model)
    finish(model)
    assert.deepStrictEqual(model.notified, ["unresolved", "started", "completed"])
  })

  it("receives an end with the outcome that causes it, and the run in that state", () => {
    const model = new Model([{}], 1)
    start(model)
    const stepRun = only(model.live())
    const hand = model.hand(stepRun.id)
    const done = succeed(Engine.finish(model.run, stepRun, hand, { done: 0, held: 0 }, null, model.now))
    assert.isFalse(done.changes.some((change) => change._tag === "Notification"))
    const settled = Engine.settle(done.run, [], model.now)
    assert.deepStrictEqual(settled.changes.at(-1), { _tag: "Notification", action: "completed" })
    assert.strictEqual(settled.run.state, "completed")
    assert.strictEqual(settled.run.endedAt, model.now)
  })
})

describe("a failing item", () => {
  it("is retried by its step up to max_attempts, and not before the delay", () => {
    const model = new Model([{ retry: { max_attempts: 2, delay_seconds: 60 } }], 1)
    start(model)
    finish(model, { code: "ROBOT_FAILURE", message: "exit 1" })
    const [item] = model.items.values()
    assert.strictEqual(item?.state, "pending")
    assert.strictEqual(model.live().length, 0)
    assert.strictEqual(model.run.state, "in_progress")
    model.clock += 61_000
    model.commit({ run: model.run, changes: [] })
    start(model)
    finish(model, { code: "ROBOT_FAILURE", message: "exit 1" })
    assert.strictEqual([...model.items.values()][0]?.state, "failed")
    assert.strictEqual(model.run.state, "unresolved")
  })

  it("is never retried for a business reason", () => {
    const model = new Model([{ retry: { max_attempts: 5, delay_seconds: 0 } }], 1)
    const stepRun = start(model)
    const item = model.held(stepRun.id) ?? assert.fail()
    model.commit(succeed(Engine.release(model.run, stepRun, item, as(business), model.now)))
    assert.strictEqual(model.items.get(item.id)?.state, "failed")
  })

  it("settled by the platform is an orchestrator failure, by the task an application failure", () => {
    for (const code of stepRunErrorCodes) {
      const model = new Model([{}], 1)
      const stepRun = start(model)
      const hand = model.hand(stepRun.id)
      const decision = Engine.finish(model.run, stepRun, hand, { held: 0, done: 0 }, { code, message: "" }, model.now)
      const moved = succeed(decision).changes.find((change) => change._tag === "ItemMoved")
      const expected = ["TIMEOUT", "TERMINATED", "WORKER_LOST"].includes(code) ? "orchestrator" : "application"
      assert.strictEqual(moved?._tag === "ItemMoved" ? moved.exception?.type : undefined, expected, code)
    }
  })
})

describe("a released item", () => {
  it("may be released again the same way, and not another way", () => {
    const model = new Model([{}], 1)
    const stepRun = start(model)
    const item = model.held(stepRun.id) ?? assert.fail()
    model.commit(succeed(Engine.release(model.run, stepRun, item, as(null), model.now)))
    const after = model.items.get(item.id) ?? assert.fail()
    assert.deepStrictEqual(succeed(Engine.release(model.run, stepRun, after, as(null), model.now)).changes, [])
    const other = Engine.release(model.run, stepRun, after, as(application), model.now)
    assert.strictEqual(Result.isFailure(other) ? other.failure.code : "", "CONFLICT")
  })
})

describe("an ended step run", () => {
  it("is refused everything with LEASE_LOST", () => {
    const model = new Model([{}], 1)
    const stepRun = start(model)
    const item = model.held(stepRun.id) ?? assert.fail()
    finish(model)
    const ended = model.stepRuns.get(stepRun.id) ?? assert.fail()
    for (const decision of [
      Engine.startStepRun(model.run, ended, item, model.now),
      Engine.reserveNext(model.run, ended, null, null, model.now),
      Engine.release(model.run, ended, item, as(null), model.now),
      Engine.finish(model.run, ended, model.hand(ended.id), { held: 0, done: 0 }, null, model.now)
    ]) {
      assert.strictEqual(Result.isFailure(decision) ? decision.failure.code : "", "LEASE_LOST")
    }
  })
})

describe("stop", () => {
  const stopNow = (model: Model, asDone: boolean, terminate = false) => {
    const live = model.live().map((stepRun) => ({ stepRun, item: model.held(stepRun.id) }))
    const outcome = Engine.stop(model.run, live, { asDone, terminate, reason: "enough" }, model.now)
    model.commit(outcome)
    return outcome.accepted
  }

  it("of a run that has not started settles everything immediately", () => {
    const model = new Model([{}], 3)
    assert.isTrue(stopNow(model, false))
    assert.strictEqual(model.run.state, "unresolved")
    assert.deepStrictEqual(
      [...model.items.values()].map((item) => item.state),
      ["failed", "failed", "failed"]
    )
    const asDone = new Model([{}], 3)
    stopNow(asDone, true)
    assert.strictEqual(asDone.run.state, "completed")
  })

  it("lets running step runs finish their item, reserves no other for them, and settles their outputs", () => {
    const model = new Model([{}, {}], 3)
    const stepRun = start(model)
    stopNow(model, true)
    assert.strictEqual(model.run.state, "stopping")
    const held = model.held(stepRun.id) ?? assert.fail()
    model.addOutput(stepRun.id, held.id)
    model.commit(succeed(Engine.release(model.run, stepRun, held, as(null), model.now)))
    const next = Engine.reserveNext(model.run, stepRun, null, model.due(0)[0] ?? null, model.now)
    assert.isNull(succeed(next).item)
    finish(model)
    assert.strictEqual(model.run.state, "completed")
    assert.deepStrictEqual(
      [...model.items.values()].map((item) => item.state),
      ["done", "done", "done", "done"]
    )
  })

  it("asks running step runs to end with terminate", () => {
    const model = new Model([{}], 1)
    const stepRun = start(model)
    stopNow(model, false, true)
    assert.isTrue(model.stepRuns.get(stepRun.id)?.stopRequested)
  })

  it("asks those to end that were to finish their item when it comes again with terminate, once", () => {
    const model = new Model([{}], 1)
    const stepRun = start(model)
    stopNow(model, false)
    assert.isFalse(model.stepRuns.get(stepRun.id)?.stopRequested)
    for (const _ of [1, 2]) assert.isTrue(stopNow(model, false, true))
    const told = model.stepRuns.get(stepRun.id)
    assert.isTrue(told?.stopRequested)
    assert.strictEqual(told?.events.filter(([type]) => type === "STOP_REQUESTED").length, 1)
  })

  it("is accepted again while stopping and refused after the end", () => {
    const model = new Model([{}], 1)
    start(model)
    stopNow(model, false)
    assert.isTrue(stopNow(model, false))
    finish(model)
    assert.isFalse(stopNow(model, false))
  })
})

const Command = Schema.Struct({
  kind: Schema.Literals([
    "start",
    "reserve",
    "ahead",
    "ahead",
    "back",
    "done",
    "business",
    "application",
    "output",
    "output",
    "finish",
    "crash",
    "lost",
    "stop",
    "stop as done",
    "retry",
    "mark_as_done",
    "delete",
    "time"
  ]),
  pick: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))
})

const Step = Schema.Struct({
  max_parallel: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
  retry: Schema.Boolean,
  gate: Schema.Boolean,
  forwards: Schema.Boolean,
  dropsFailed: Schema.Boolean
})

const perform = (model: Model, { kind, pick }: typeof Command.Type): void => {
  const choose = <A>(values: ReadonlyArray<A>): A | undefined => values[pick % Math.max(1, values.length)]
  const running = choose(model.live().filter((stepRun) => stepRun.state === "in_progress"))
  const commit = (decision: Result.Result<State.Outcome, State.Refusal>) => {
    if (Result.isSuccess(decision)) model.commit(decision.success)
  }
  switch (kind) {
    case "start": {
      const stepRun = choose(model.live().filter((candidate) => candidate.state === "awaiting_worker"))
      if (stepRun !== undefined) commit(Engine.startStepRun(model.run, stepRun, model.held(stepRun.id), model.now))
      return
    }
    case "reserve":
      if (running !== undefined) {
        const next = model.due(running.step)[0] ?? null
        commit(Engine.reserveNext(model.run, running, model.held(running.id), next, model.now))
      }
      return
    case "ahead":
      if (running !== undefined) {
        const share = Math.min(Engine.shareAhead(model.run, running.step), 1 + (pick % 4))
        model.commit(Engine.giveAhead(model.run, running, model.due(running.step).slice(0, share), model.now))
        const { ahead, item } = model.hand(running.id)
        const [next] = ahead
        if (item === null && next !== undefined) model.commit(Engine.beginAhead(model.run, running, next, model.now))
      }
      return
    case "back":
      if (running !== undefined) model.commit(Engine.giveBack(model.run, model.hand(running.id).ahead, model.now))
      return
    case "done":
    case "business":
    case "application": {
      const held = running === undefined ? null : model.held(running.id)
      const exception = kind === "done" ? null : kind === "business" ? business : application
      if (running !== undefined && held !== null) {
        const some = model.outputsOf(running.id, held.id).held > 0
        const outputs = pick % 5 === 0 ? "incomplete" : some ? "some" : "none"
        commit(Engine.release(model.run, running, held, { exception, outputs }, model.now))
      }
      return
    }
    case "output": {
      const held = running === undefined ? null : model.held(running.id)
      if (running !== undefined && held !== null) model.addOutput(running.id, held.id)
      return
    }
    case "finish":
    case "crash":
    case "lost":
      if (running !== undefined) {
        const code = kind === "crash" ? "ROBOT_FAILURE" : "WORKER_LOST"
        const error = kind === "finish" ? null : ({ code, message: kind } as const)
        const hand = model.hand(running.id)
        const outputs = model.outputsOf(running.id, hand.item?.id ?? null)
        commit(Engine.finish(model.run, running, hand, outputs, error, model.now))
      }
      return
    case "stop":
    case "stop as done": {
      const live = model.live().map((stepRun) => ({ stepRun, item: model.held(stepRun.id) }))
      const command = { asDone: kind === "stop as done", terminate: pick % 2 === 0, reason: "" }
      model.commit(Engine.stop(model.run, live, command, model.now))
      return
    }
    case "retry":
    case "mark_as_done":
    case "delete": {
      const allowed: ReadonlyArray<string> = Engine.batchStates[kind].from
      const candidates = [...model.items.values()].filter((item) => allowed.includes(item.state))
      const item = choose(candidates)
      if (item !== undefined) commit(Engine.batch(model.run, kind, [item], model.now))
      return
    }
    case "time":
      model.clock += 1000 * (pick % 30)
      model.commit({ run: model.run, changes: [] })
  }
}

describe("whatever happens in whatever order", () => {
  it.prop(
    "the counters equal a recount, and the run has ended exactly when nothing is open or live",
    {
      steps: Schema.Array(Step).check(Schema.isBetweenLength(1, 3)),
      items: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 })),
      commands: Schema.Array(Command).check(Schema.isBetweenLength(1, 60))
    },
    ({ commands, items, steps }) => {
      const model = new Model(
        steps.map((step) => ({
          max_parallel: step.max_parallel,
          start_after: step.gate ? ("previous_step" as const) : ("items" as const),
          ...(step.forwards ? { forward_done_items: true } : {}),
          ...(step.dropsFailed ? { failed_outputs: "drop" as const } : {}),
          ...(step.retry ? { retry: { max_attempts: 2, delay_seconds: 10 } } : {})
        })),
        items
      )
      for (const command of commands) {
        const before = { state: model.run.state, told: model.notified.length }
        perform(model, command)
        const { counts, failed } = model.recount()
        assert.deepStrictEqual(model.run.counts, counts)
        assert.strictEqual(model.run.failed, failed)
        const quiet = counts.every((count) => count.open === 0 && count.live === 0)
        const ended = model.run.state === "completed" || model.run.state === "unresolved"
        assert.strictEqual(ended, quiet, `${model.run.state} while ${JSON.stringify(counts)}`)
        if (ended) assert.strictEqual(model.run.state === "unresolved", failed > 0)
        // The events are complete: one start, and each end.
        const { notified } = model
        const starts = notified.filter((action) => action === "started").length
        assert.strictEqual(starts, model.run.startedAt === null ? 0 : 1)
        const lastEnd = notified.findLast((action) => action !== "started")
        if (ended) assert.strictEqual(lastEnd, model.run.state)
        assert.isTrue(!notified.includes("completed") || notified.indexOf("completed") === notified.length - 1)
        if (before.state === model.run.state) assert.strictEqual(notified.length, before.told, command.kind)
        for (const [step, count] of counts.entries()) {
          assert.isAtMost(count.live, model.run.steps[step]?.max_parallel ?? 1)
        }
        for (const { parent, stepRun } of model.outputs.values()) {
          // Held outputs are of the last attempt at their item, in a step run that has not ended.
          assert.strictEqual(model.stepRuns.get(stepRun)?.state, "in_progress")
          const item = model.items.get(parent)
          assert.strictEqual(item?.stepRun, stepRun)
          assert.notStrictEqual(item?.state, "pending")
        }
        for (const stepRun of model.live()) {
          const own = [...model.items.values()].filter((item) => item.stepRun === stepRun.id)
          assert.isAtMost(own.filter(({ state }) => state === "in_progress").length, 1)
          const { retry } = model.run.steps[stepRun.step] ?? {}
          const mayHaveAhead = stepRun.state === "in_progress" && retry !== undefined
          const pending = own.filter(({ state }) => state === "pending").length
          if (!mayHaveAhead) assert.isAtMost(pending, stepRun.state === "in_progress" ? 0 : 1)
        }
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
