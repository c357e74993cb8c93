/** `inspect` of an execution that is stuck: in which step, since when, which attempt, what comes next. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Steps from "../src/ControlRoomSteps.ts"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { engineOf } from "../src/internal/engine/EngineOf.ts"
import { until } from "./support/Polling.ts"

const memory = Layer.fresh(FlowEngine.layerMemory)

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/** A step that takes a text and does this. */
const does = (name: string, run: (text: string) => Effect.Effect<string, Refused>, more: { repeat?: "never" } = {}) =>
  Flow.step(name, { input: Schema.String, success: Schema.String, error: Refused, run, ...more })

const echo = does("echo", Effect.succeed)
const hanging = does("hanging", () => Effect.never)
const refusing = does("refusing", () => Effect.fail(new Refused({ message: "not today" })))
const breaking = does("breaking", () => Effect.die(new TypeError("no such thing")))

const anyError = Schema.Union([Schema.String, Refused, Steps.startRun.error, Steps.awaitCompletion.error])

const flowOf = <C extends Flow.FlowContext<unknown>>(
  body: () => Effect.Effect<unknown, typeof anyError.Type, C>,
  {
    signals = [],
    version = 1
  }: { readonly signals?: ReadonlyArray<Flow.Signal<typeof Schema.Json>>; version?: number } = {}
) =>
  Flow.make("stuck", {
    version,
    input: Schema.Void,
    success: Schema.Void,
    error: anyError,
    idempotencyKey: () => "one",
    signals,
    run: () => Effect.asVoid(body())
  })

const time = (millis: number) => new Date(millis).toISOString()

/** Moves virtual time while an effect runs. */
const passing = <A, E, R>(duration: Parameters<typeof TestClock.adjust>[0], effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust(duration)
    return yield* Fiber.join(fiber)
  })

/** Runs a program with this flow; when it ends, its steps have ten seconds. */
const inProgram = <R, A, E, R2>(
  flow: Flow.Flow<typeof Schema.Void, typeof Schema.Void, typeof anyError, R>,
  effect: Effect.Effect<A, E, R2>
) => passing("2 hours", Effect.provide(effect, Flow.layer(flow)))

/** Submits an execution, lets it come to where it is stuck after an hour, and inspects it. */
const stuck = <R>(flow: Flow.Flow<typeof Schema.Void, typeof Schema.Void, typeof anyError, R>) =>
  inProgram(
    flow,
    Effect.gen(function* () {
      const id = yield* Flow.submit(flow, undefined)
      yield* Effect.sleep("1 hour")
      return yield* FlowExecutions.inspect(id)
    })
  )

const halted = (flow: Parameters<typeof stuck<never>>[0]) =>
  Effect.map(stuck(flow), (inspection) => {
    assert.strictEqual(inspection.execution.state, "halted")
    return inspection
  })

/** Begun by one program, continued by another one. */
const continued = <R, R2>(
  before: Flow.Flow<typeof Schema.Void, typeof Schema.Void, typeof anyError, R>,
  after: Flow.Flow<typeof Schema.Void, typeof Schema.Void, typeof anyError, R2>
) =>
  Effect.gen(function* () {
    yield* inProgram(before, Effect.andThen(Flow.submit(before, undefined), Effect.sleep("1 second")))
    return yield* stuck(after)
  })

const test = <E>(title: string, body: Effect.Effect<void, E, FlowEngine>) =>
  it.effect(title, () => Effect.provide(body, memory))

/** Port 1 of the loopback refuses connections. */
const away = ControlRoom.layer({
  baseUrl: "http://127.0.0.1:1",
  apiKey: Redacted.make("key"),
  workspaceId: WorkspaceId.make("workspace")
})
const livesWithoutRoom = <E>(title: string, body: Effect.Effect<void, E, FlowEngine | ControlRoom>) =>
  it.live(title, () => Effect.provide(body, Layer.merge(memory, away)))

describe("the inspection of a running execution shows", () => {
  test(
    "which step runs, where, and since when",
    Effect.gen(function* () {
      const { now, remedy, summary } = yield* stuck(flowOf(() => Effect.andThen(echo("a"), hanging("x"))))
      assert.strictEqual(now.length, 1)
      assert.deepInclude(now[0], { path: "hanging", kind: "attempt", attempt: 1, since: 0, due: null, failure: null })
      assert.match(summary, /^running: runs hanging, attempt 1, on \S+, since 1970-01-01T00:00:00.000Z$/)
      assert.isNull(remedy)
    })
  )

  livesWithoutRoom(
    "when a ready step is retried while its control room is unavailable, after which attempt, and why",
    Effect.gen(function* () {
      const flow = flowOf(() =>
        Steps.startRun({ process: ProcessId.make("process"), workItems: [WorkItemId.make("item")] })
      )
      const { now, summary } = yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        const inspected = FlowExecutions.inspect(id)
        yield* until(Effect.map(inspected, ({ now }) => now[0]?.kind === "pause" && now[0].attempt > 1))
        return yield* inspected
      }).pipe(Effect.provide(Flow.layer(flow)))
      const [pause] = now
      if (pause === undefined) return assert.fail("nothing is running")
      assert.strictEqual(pause.path, "startRun")
      assert.strictEqual(pause.failure?.tag, "ControlRoomError")
      assert.isAbove(pause.due ?? 0, pause.since)
      assert.isAtLeast(pause.since, pause.firstAt)
      assert.include(summary, `tries startRun again at ${time(pause.due ?? 0)}, after attempt ${pause.attempt}: `)
    })
  )

  test(
    "until when it sleeps",
    Effect.gen(function* () {
      const { now, summary } = yield* stuck(flowOf(() => Flow.sleep("nap", "2 days")))
      assert.deepInclude(now[0], { path: "nap", kind: "sleep", since: 0, due: 172_800_000 })
      assert.strictEqual(summary, `waiting: sleeps in nap until ${time(172_800_000)}, since ${time(0)}`)
    })
  )

  test(
    "that a sleep has no end",
    Effect.gen(function* () {
      const { summary } = yield* stuck(flowOf(() => Flow.sleep("nap", "Infinity")))
      assert.strictEqual(summary, `waiting: sleeps in nap, since ${time(0)}`)
    })
  )

  test(
    "which signal it waits for, as it is sent",
    Effect.gen(function* () {
      const price = Flow.signal("price", Schema.Json)
      const flow = flowOf(
        () => Flow.forEach("item", ["a"], { key: (item) => item }, () => price.receive({ key: "x/y" })),
        { signals: [price] }
      )
      const { execution, now, summary } = yield* stuck(flow)
      assert.deepInclude(now[0], { path: "item[a]/price[x/y]", kind: "signal", subject: "price[x/y]" })
      assert.include(summary, "waits for the signal price[x/y] in item[a]/price[x/y], since")
      const state = yield* inProgram(
        flow,
        Effect.gen(function* () {
          yield* FlowExecutions.signal(execution.id, now[0]?.subject ?? "", 1)
          yield* Effect.sleep("1 second")
          return (yield* FlowExecutions.get(execution.id)).state
        })
      )
      assert.strictEqual(state, "completed")
    })
  )

  test(
    "which inbox it waits for",
    Effect.gen(function* () {
      const mail = Flow.inbox("mail", Schema.Json)
      const flow = flowOf(() => Effect.andThen(mail.receive(), mail.receive()), { signals: [mail] })
      const { now } = yield* inProgram(
        flow,
        Effect.gen(function* () {
          const id = yield* Flow.submit(flow, undefined)
          yield* FlowExecutions.signal(id, "mail", "first")
          yield* Effect.sleep("1 hour")
          return yield* FlowExecutions.inspect(id)
        })
      )
      assert.strictEqual(now.length, 1)
      assert.deepInclude(now[0], { path: "mail#2", kind: "inbox", subject: "mail" })
    })
  )

  livesWithoutRoom(
    "which run it waits for",
    Effect.gen(function* () {
      const flow = flowOf(() => Steps.awaitCompletion({ run: ProcessRunId.make("run-1") }))
      const { now, summary } = yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        const inspected = FlowExecutions.inspect(id)
        yield* until(Effect.map(inspected, ({ now }) => now.length > 0))
        return yield* inspected
      }).pipe(Effect.provide(Flow.layer(flow)))
      assert.deepInclude(now[0], { path: "awaitCompletion", kind: "run", subject: "run in workspace run-1" })
      assert.include(summary, "waiting: waits in awaitCompletion for the run in workspace run-1, since")
    })
  )

  test(
    "which branch is stuck beside those that are through",
    Effect.gen(function* () {
      const flow = flowOf(() =>
        Flow.forEach("item", ["a", "b", "c"], { key: (item) => item, concurrency: 3 }, (item) =>
          item === "b" ? hanging(item) : echo(item)
        )
      )
      const { now, steps, summary } = yield* stuck(flow)
      assert.deepStrictEqual(
        now.map(({ path }) => path),
        ["item[b]/hanging"]
      )
      assert.deepStrictEqual(
        steps.map(({ path, state }) => `${path} ${state}`),
        ["item[a]/echo succeeded", "item[b]/hanging running", "item[c]/echo succeeded"]
      )
      assert.include(summary, "runs item[b]/hanging")
    })
  )

  test(
    "the branch that fails before those that wait, and how many more there are",
    Effect.gen(function* () {
      const again = refusing.with({ retry: { attempts: 100, delay: "1 day", backoff: 1 } })
      const flow = flowOf(() => Flow.all("both", [Flow.sleep("nap", "2 days"), again("x")], { concurrency: 2 }))
      const { now, summary } = yield* stuck(flow)
      assert.strictEqual(now.length, 2)
      assert.match(
        summary,
        /^waiting: tries both\[1\]\/refusing again at 1970-01-02T.*attempt 1: not today.*, and 1 more$/
      )
    })
  )

  test(
    "which undo is tried again, and why",
    Effect.gen(function* () {
      const undo = refusing.with({ retry: { attempts: 100, delay: "1 day", backoff: 1 } })
      const flow = flowOf(() =>
        Effect.andThen(
          Flow.compensate(echo("a"), () => undo("a")),
          refusing("x")
        )
      )
      const { execution, now, summary, undos } = yield* stuck(flow)
      assert.strictEqual(execution.state, "undoing")
      assert.deepInclude(now[0], { path: "echo/undo/refusing", kind: "pause", attempt: 1, due: 86_400_000 })
      assert.deepInclude(undos[0], { path: "echo", state: "pending" })
      assert.match(
        summary,
        /^undoing: tries echo\/undo\/refusing again at 1970-01-02T00:00:00.000Z, after attempt 1: not today/
      )
    })
  )

  test(
    "that a cancel waits for the step that runs",
    Effect.gen(function* () {
      const flow = flowOf(() => hanging("x"))
      const { cancelling, now, summary } = yield* inProgram(
        flow,
        Effect.gen(function* () {
          const id = yield* Flow.submit(flow, undefined)
          yield* Effect.sleep("1 minute")
          yield* FlowExecutions.cancel(id)
          yield* Effect.sleep("1 minute")
          return yield* FlowExecutions.inspect(id)
        })
      )
      assert.isTrue(cancelling)
      assert.strictEqual(now[0]?.path, "hanging")
      assert.match(summary, /^running, being cancelled: runs hanging, attempt 1/)
    })
  )

  test(
    "that no process runs its version, and what to start",
    Effect.gen(function* () {
      const flow = flowOf(() => Flow.sleep("nap", "2 days"))
      const id = yield* inProgram(flow, Effect.tap(Flow.submit(flow, undefined), Effect.sleep("1 second")))
      const { registered, remedy, summary } = yield* FlowExecutions.inspect(id)
      assert.isFalse(registered)
      assert.match(summary, /^no running program has registered stuck@1; waiting: sleeps in nap/)
      assert.match(remedy ?? "", /^start a program that registers stuck@1/)
    })
  )
})

describe("the inspection of a halted execution shows why and what to do", () => {
  test(
    "when its body has changed",
    Effect.gen(function* () {
      const { execution, remedy, summary } = yield* continued(
        flowOf(() => Effect.andThen(echo("a"), Flow.sleep("nap", "1 day"))),
        flowOf(() => Flow.sleep("another", "1 day"))
      )
      assert.strictEqual(execution.state, "halted")
      assert.match(
        summary,
        /^halted after echo: the body of stuck, version 1, reached another before the recorded step echo/
      )
      assert.match(remedy ?? "", /^run code that fits its record as stuck@1/)
    })
  )

  test(
    "when a recorded value does not fit its schema any more",
    Effect.gen(function* () {
      const number = Flow.step("echo", {
        input: Schema.String,
        success: Schema.Finite,
        error: Schema.Never,
        run: () => Effect.succeed(1)
      })
      const { execution, remedy, summary } = yield* continued(
        flowOf(() => Effect.andThen(echo("a"), Flow.sleep("nap", "1 day"))),
        flowOf(() => Effect.andThen(number("a"), Flow.sleep("nap", "1 day")))
      )
      assert.strictEqual(execution.state, "halted")
      assert.match(summary, /^halted after echo: the recorded result of echo does not fit its schema/)
      assert.match(remedy ?? "", /^make the schema of the recorded result of echo accept what is recorded/)
    })
  )

  test(
    "when its body has a defect",
    Effect.gen(function* () {
      const { execution, remedy, summary } = yield* halted(
        flowOf(() =>
          Effect.andThen(
            echo("a"),
            Effect.sync(() => void JSON.parse("{"))
          )
        )
      )
      assert.match(summary, /^halted after echo: .*JSON/)
      assert.match(execution.failure?.stack ?? "", /JSON\.parse/)
      assert.match(remedy ?? "", /^correct the program and start it, then resume/)
    })
  )

  test(
    "when a step has a defect, with its stack",
    Effect.gen(function* () {
      const { now, steps, summary } = yield* halted(flowOf(() => breaking("x")))
      assert.deepInclude(now[0], { path: "breaking", kind: "stopped", attempt: 1, due: null })
      assert.match(steps[0]?.failure?.stack ?? "", /TypeError: no such thing\n/)
      assert.strictEqual(summary, `halted in breaking, attempt 1, since ${time(0)}: no such thing`)
    })
  )

  test(
    "when a step that must not be repeated was interrupted",
    Effect.gen(function* () {
      const flow = flowOf(() => does("once", () => Effect.never, { repeat: "never" })("x"))
      const { execution, now, remedy, summary } = yield* continued(flow, flow)
      assert.strictEqual(execution.state, "halted")
      assert.deepInclude(now[0], { path: "once", kind: "stopped", attempt: 1, since: 0 })
      assert.match(
        summary,
        /^halted in once, attempt 1, since .*: the step once was interrupted and must not be repeated/
      )
      assert.match(remedy ?? "", /^check what once did; then retry from once/)
    })
  )

  test(
    "when an undo failed",
    Effect.gen(function* () {
      const flow = flowOf(() =>
        Effect.andThen(
          Flow.compensate(echo("a"), () => refusing("a")),
          refusing("x", { key: "main" })
        )
      )
      const { remedy, summary, undos } = yield* halted(flow)
      assert.deepInclude(undos[0], { path: "echo", state: "failed" })
      assert.strictEqual(undos[0]?.failure?.message, "not today")
      assert.match(summary, /^halted after echo\/undo\/refusing: could not undo echo: /)
      assert.match(remedy ?? "", /^correct the reason why echo could not be undone, then resume/)
    })
  )
})

test(
  "the inspection of a suspended execution shows where it stopped, and that it is to be resumed",
  Effect.gen(function* () {
    const flow = flowOf(() => Flow.sleep("nap", "2 days"))
    const { now, remedy, summary } = yield* inProgram(
      flow,
      Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* Effect.sleep("1 minute")
        yield* FlowExecutions.suspend(id)
        yield* Effect.sleep("1 minute")
        return yield* FlowExecutions.inspect(id)
      })
    )
    assert.strictEqual(now[0]?.path, "nap")
    assert.match(summary, /^suspended: sleeps in nap until/)
    assert.strictEqual(remedy, "resume it")
  })
)

test(
  "the inspection of a failed execution shows at which step a retry begins",
  Effect.gen(function* () {
    const { now, remedy, summary } = yield* stuck(flowOf(() => Effect.andThen(echo("a"), refusing("x"))))
    assert.deepStrictEqual(now, [])
    assert.strictEqual(summary, "failed: not today")
    assert.strictEqual(
      remedy,
      "fix the cause of the failure, then retry: it begins at refusing, or at an earlier step that you name"
    )
  })
)

test(
  "a failure that is a text is shown unchanged",
  Effect.gen(function* () {
    const declined = Flow.step("declined", {
      input: Schema.String,
      success: Schema.String,
      error: Schema.String,
      run: () => Effect.fail("no funds")
    })
    const { steps, summary } = yield* stuck(flowOf(() => declined("x")))
    assert.strictEqual(steps[0]?.failure?.message, "no funds")
    assert.strictEqual(summary, "failed: no funds")
  })
)

test(
  "an execution that one build refused and another completed has no failure left",
  Effect.gen(function* () {
    const flow = flowOf(() => Flow.sleep("nap", "10 minutes"))
    const { engine } = yield* engineOf
    const inspection = yield* inProgram(
      flow,
      Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* Effect.sleep("1 minute")
        yield* engine.journal.change(id, ({ execution: { wakeAt } }) =>
          Effect.succeed({
            execution: { wakeAt, failure: { kind: "died", tag: "FlowChanged", message: "refused" } },
            aside: [],
            asideUndos: [],
            undos: [],
            taken: []
          })
        )
        yield* Effect.sleep("1 hour")
        return yield* FlowExecutions.inspect(id)
      })
    )
    assert.strictEqual(inspection.summary, "completed")
    assert.isNull(inspection.execution.failure)
  })
)
