/**
 * Commands in any order, on the service's own database and on a model of it in memory: after each of them the rows
 * equal those of the model, and the counters a recount of the rows.
 *
 * `SIGNALBOX_COMMAND_SEED` sets the first seed.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import type { ProcessRunId, StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { stepRunErrorCodes } from "@signalbox/api/contract/StepRuns"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import type { Exception } from "../src/internal/engine/State.ts"
import { NextItems } from "../src/internal/runs/NextItems.ts"
import { Refused } from "../src/internal/engine/Refused.ts"
import { Runs } from "../src/internal/runs/Runs.ts"
import { Processes } from "../src/internal/store/processes/Processes.ts"
import type { StoredStepRun } from "../src/internal/store/runs/StoredStepRun.ts"
import { Webhooks } from "../src/internal/store/notifications/Webhooks.ts"
import { Workers } from "../src/internal/store/workers/Workers.ts"
import { WorkItems } from "../src/internal/store/items/WorkItems.ts"
import { Workspaces } from "../src/internal/store/access/Workspaces.ts"
import * as Tokens from "../src/internal/vault/Tokens.ts"
import { assertSound, type ProcessRows, rowsOf } from "./support/RunRows.ts"
import { runsOn, sqlite } from "./support/Storage.ts"
import { type Ask, type AskSettled, type Prediction, World } from "./support/World.ts"

const settings = Config.all({
  runs: Config.succeed(sized(50, 1000)),
  seed: Config.withDefault(Config.String("SIGNALBOX_COMMAND_SEED"), "signalbox")
})

const Pick = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))

const Command = Schema.Struct({
  kind: Schema.Literals([
    "create",
    "create",
    "start",
    "start with payloads",
    "start with items",
    "start with inputs",
    "lease",
    "lease",
    "lease",
    "begin",
    "begin",
    "begin",
    "reserve",
    "reserve",
    "output",
    "output",
    "done",
    "business",
    "application",
    "next",
    "next",
    "finish",
    "finish",
    "crash",
    "silence",
    "time",
    "time",
    "stop",
    "retry",
    "mark_as_done",
    "delete",
    "remove"
  ]),
  pick: Pick
})
type Command = typeof Command.Type

const Step = Schema.Struct({
  max_parallel: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
  retry: Schema.Boolean,
  gate: Schema.Boolean,
  forwards: Schema.Boolean,
  dropsFailed: Schema.Boolean,
  timeout: Schema.Boolean
})

const sequences = Arbitrary.all({
  steps: Arbitrary.array(Arbitrary.schema(Step), { minLength: 1, maxLength: 3 }),
  commands: Arbitrary.array(Arbitrary.schema(Command), { minLength: 10, maxLength: 60 })
})

const definitionOf = (steps: ReadonlyArray<typeof Step.Type>) =>
  steps.map((step, index) => ({
    name: `step ${index}`,
    task: { name: `task ${index}` },
    max_parallel: step.max_parallel,
    start_after: step.gate ? ("previous_step" as const) : ("items" as const),
    ...(step.retry ? { retry: { max_attempts: 2, delay_seconds: 8 } } : {}),
    ...(step.forwards ? { forward_done_items: true } : {}),
    ...(step.dropsFailed ? { failed_outputs: "drop" as const } : {}),
    ...(step.timeout ? { timeout_seconds: 20 } : {})
  }))

const tasks = ["task 0", "task 1", "task 2"]
const exceptions = {
  business: { code: "B", type: "business", message: "no" },
  application: { code: "A", type: "application", message: "broken" }
} as const satisfies Record<string, Exception>

/** Names of rows: the same in the database and in the model, whatever their ids. */
const names = (ids: Iterable<string>) => {
  const known = new Map([...ids].sort().map((id, index) => [id, index]))
  // Deleted rows may still be named by others.
  return (id: string | null) => (id === null ? null : (known.get(id) ?? "gone"))
}

/** All rows in a form without ids. */
const picture = (rows: ProcessRows, workers: ReadonlyArray<string>) => {
  const item = names([...rows.items, ...rows.outputs].map(({ id }) => id))
  const stepRun = names(rows.stepRuns.map(({ id }) => id))
  const run = names(rows.runs.map(({ id }) => id))
  return {
    items: rows.items.map((row) => ({
      id: item(row.id),
      run: run(row.process_run_id),
      step: row.step,
      state: row.state,
      at: row.state_updated_at,
      stepRun: stepRun(row.step_run_id),
      attempts: row.attempts,
      releasedBy: stepRun(row.released_by),
      notBefore: row.not_before,
      exception: row.exception === null ? null : JSON.parse(row.exception),
      parent: item(row.parent_id)
    })),
    outputs: rows.outputs.map((row) => ({
      id: item(row.id),
      run: run(row.process_run_id),
      stepRun: stepRun(row.step_run_id),
      parent: item(row.parent_id),
      released: row.released === 1
    })),
    stepRuns: rows.stepRuns.map((row) => ({
      run: run(row.process_run_id),
      step: row.step,
      state: row.state,
      error: row.error_code,
      stopRequested: row.stop_requested === 1,
      timeoutAt: row.timeout_at,
      worker: row.worker_id === null ? null : workers.indexOf(row.worker_id),
      events: rows.events
        .filter(({ step_run_id }) => step_run_id === row.id)
        .map((event) => [event.event_type, item(event.work_item_id)])
    })),
    runs: rows.runs.map((row) => ({
      state: row.state,
      counts: JSON.parse(row.counts),
      failed: row.failed,
      stop: row.stop === null ? null : JSON.parse(row.stop),
      startedAt: row.started_at,
      endedAt: row.ended_at,
      told: rows.deliveries
        .filter(({ process_run_id }) => process_run_id === row.id)
        .map(({ event_type }) => event_type.replace("process_run.", ""))
    }))
  }
}

/** The same of the model. */
const predicted = (world: World): ReturnType<typeof picture> => {
  const models = [...world.runs.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
  const byId = <A extends { readonly id: string }>(rows: ReadonlyArray<A>) =>
    rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const items = byId([
    ...[...world.queue].map((id) => ({ id, of: null })),
    ...models.flatMap(([of, model]) => [...model.items.values()].map((row) => ({ ...row, of })))
  ])
  const outputs = byId(
    models.flatMap(([of, model]) => [
      ...[...model.outputs.values()].map((row) => ({ ...row, of, released: false })),
      ...model.released.map((row) => ({ ...row, of, released: true }))
    ])
  )
  const stepRuns = byId(models.flatMap(([of, model]) => [...model.stepRuns.values()].map((row) => ({ ...row, of }))))
  const item = names([...items, ...outputs].map(({ id }) => id))
  const stepRun = names(stepRuns.map(({ id }) => id))
  const run = names(models.map(([id]) => id))
  return {
    items: items.map((row) =>
      row.of === null
        ? {
            id: item(row.id),
            run: null,
            step: null,
            state: "new",
            at: null,
            stepRun: null,
            attempts: 0,
            releasedBy: null,
            notBefore: null,
            exception: null,
            parent: null
          }
        : {
            id: item(row.id),
            run: run(row.of),
            step: row.step,
            state: row.state,
            at: row.stateUpdatedAt,
            stepRun: stepRun(row.stepRun),
            attempts: row.attempts,
            releasedBy: stepRun(row.releasedBy),
            notBefore: row.notBefore,
            exception: row.exception,
            parent: item(row.parent)
          }
    ),
    outputs: outputs.map((row) => ({
      id: item(row.id),
      run: run(row.of),
      stepRun: stepRun(row.stepRun),
      parent: item(row.parent),
      released: row.released
    })),
    stepRuns: stepRuns.map((row) => ({
      run: run(row.of),
      step: row.step,
      state: row.state,
      error: row.error,
      stopRequested: row.stopRequested,
      timeoutAt: row.timeoutAt,
      worker: world.leases.get(row.id)?.worker ?? null,
      events: row.events.map(([type, of]) => [type, item(of)])
    })),
    runs: models.map(([, model]) => ({
      state: model.run.state,
      counts: model.run.counts,
      failed: model.run.failed,
      stop: model.run.stop,
      startedAt: model.run.startedAt,
      endedAt: model.run.endedAt,
      told: model.notified
    }))
  }
}

/** A process with a webhook and two workers, in a new workspace, and its model. */
const begin = Effect.fnUntraced(function* (steps: ReadonlyArray<typeof Step.Type>) {
  const workspace = (yield* (yield* Workspaces).create("commands")).id
  const definition = definitionOf(steps)
  const process = yield* (yield* Processes).create(workspace, { name: "p", steps: definition })
  if (process === null) return assert.fail("the name is taken")
  const endpoint = "http://127.0.0.1:9/nobody"
  const events = ["process_run.started", "process_run.completed", "process_run.unresolved"] as const
  yield* (yield* Webhooks).create(workspace, { endpoint, events, process: process.view.id })
  const workers = yield* Workers
  const linked = yield* Effect.forEach([0, 1], (index) =>
    Effect.gen(function* () {
      const { link_token } = yield* workers.createLinkToken(workspace, "9999-01-01T00:00:00.000Z")
      const made = yield* workers.link(Tokens.parse(link_token) ?? assert.fail("no token"), `worker ${index}`, [])
      return made?.worker ?? assert.fail("not linked")
    })
  )
  return { workspace, process, workers: linked, world: new World(definition, 2, yield* Clock.currentTimeMillis) }
})

interface Known {
  readonly model: StepRunId
  readonly version: number
  readonly stored: StoredStepRun
  readonly token: string
  readonly worker: number
}

/** Executes a sequence on both sides. */
const perform = Effect.fnUntraced(function* (steps: ReadonlyArray<typeof Step.Type>, commands: ReadonlyArray<Command>) {
  const runs = yield* Runs
  const nextItems = yield* NextItems
  const items = yield* WorkItems
  const workerStore = yield* Workers
  const { process, workers, workspace, world } = yield* begin(steps)
  /** Every lease that was ever created: expired ones are used too. */
  const leases: Array<Known> = []

  const outcome = (effect: Effect.Effect<unknown, Refused>): Effect.Effect<string> =>
    Effect.match(effect, {
      onSuccess: (value) => (value === null || value === false ? "nothing" : "ok"),
      onFailure: ({ code }) => code
    })

  /** Maps ids of the model to those of the database, as both sides are equal so far. */
  const translation = (rows: ProcessRows) => {
    const pair = (model: Iterable<string>, stored: ReadonlyArray<{ readonly id: string }>) => {
      const inOrder = stored.map(({ id }) => id).sort()
      return new Map([...model].sort().map((id, index) => [id, inOrder[index] ?? "none"]))
    }
    const models = [...world.runs.values()]
    const ofModels = [
      ...world.queue,
      ...models.flatMap((model) => [
        ...model.items.keys(),
        ...model.outputs.keys(),
        ...model.released.map(({ id }) => id)
      ])
    ]
    const item = pair(ofModels, [...rows.items, ...rows.outputs])
    const run = pair(world.runs.keys(), rows.runs)
    return {
      item: (id: string) => (item.get(id) ?? "none") as WorkItemId,
      run: (id: string) => (run.get(id) ?? "none") as ProcessRunId
    }
  }

  const step = Effect.fnUntraced(function* ({ kind, pick }: Command, before: ProcessRows) {
    const choose = <A>(values: ReadonlyArray<A>): A | undefined => values[pick % Math.max(1, values.length)]
    const some = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> =>
      values.filter((_, index) => ((pick >> (index % 8)) & 1) === 1)
    const to = translation(before)
    const models = [...world.runs.values()]
    /** Mostly a valid lease, sometimes any. */
    const lease = (state: string) => {
      const good = leases.filter(({ model, version }) => {
        const current = world.leases.get(model)?.version === version
        return current && world.runOf(model)?.stepRuns.get(model)?.state === state
      })
      return pick % 7 === 0 ? choose(leases) : choose(good)
    }
    /** Mostly the reserved item, sometimes any. */
    const itemFor = ({ model }: Known): WorkItemId | undefined => {
      const held = world.runOf(model)?.held(model)?.id
      const any = models.flatMap((one) => [...one.items.keys()])
      return held === undefined || pick % 11 === 0 ? choose(any) : held
    }
    const both = Effect.fnUntraced(function* (effect: Effect.Effect<unknown, Refused>, predict: () => Prediction) {
      const actual = yield* outcome(effect)
      assert.strictEqual(actual, predict(), kind)
    })
    switch (kind) {
      case "create":
        return yield* both(items.create(workspace, process.view.id, String(pick)), () => world.create())
      case "start":
        return yield* both(runs.start(workspace, process, {}), () => world.startWith(1))
      case "start with payloads": {
        const payloads = Array.from({ length: 1 + (pick % 4) }, (_, index) => index)
        const start = runs.start(workspace, process, { type: "with_payloads", payloads })
        return yield* both(start, () => world.startWith(payloads.length))
      }
      case "start with items": {
        // Sometimes one that a run already has.
        const taken = pick % 5 === 0 ? models.flatMap((model) => [...model.items.keys()].slice(0, 1)) : []
        const chosen = [...some([...world.queue]), ...taken]
        if (chosen.length === 0) return
        const start = runs.start(workspace, process, {
          type: "with_work_item_ids",
          work_item_ids: chosen.map(to.item)
        })
        return yield* both(start, () => world.startTaking(chosen))
      }
      case "start with inputs":
        return yield* both(runs.start(workspace, process, { type: "with_inputs" }), () => world.startQueued())
      case "lease": {
        const index = pick % workers.length
        const worker = workers[index] ?? assert.fail("no worker")
        const given = yield* runs.lease(worker, tasks, false, 1 + (pick % 3))
        const expected = world.lease(index, 1 + (pick % 3))
        assert.strictEqual(given.length, expected.length, "leases")
        for (const [at, model] of expected.entries()) {
          const stored = given[at]?.stepRun ?? assert.fail("no lease")
          leases.push({
            model,
            stored,
            token: given[at]?.leaseToken ?? "",
            worker: index,
            version: world.leases.get(model)?.version ?? 0
          })
        }
        return
      }
      case "begin": {
        const known = lease("awaiting_worker")
        if (known === undefined) return
        return yield* both(runs.startStepRun(known.stored), () => world.begin(known.model, known.version))
      }
      case "reserve": {
        const known = lease("in_progress")
        if (known === undefined) return
        const reserved = Effect.as(runs.reserveNext(known.stored), true)
        return yield* both(reserved, () => world.reserve(known.model, known.version))
      }
      case "output": {
        const known = lease("in_progress")
        const item = known === undefined ? undefined : itemFor(known)
        if (known === undefined || item === undefined) return
        const created = runs.createOutput(known.stored, to.item(item), pick)
        return yield* both(created, () => world.output(known.model, known.version, item))
      }
      case "done":
      case "business":
      case "application": {
        const known = lease("in_progress")
        const item = known === undefined ? undefined : itemFor(known)
        if (known === undefined || item === undefined) return
        const exception = kind === "done" ? null : exceptions[kind]
        const released = runs.release(known.stored, to.item(item), exception)
        return yield* both(released, () => world.release(known.model, known.version, item, exception))
      }
      case "next": {
        const first = lease("in_progress")
        const model = first === undefined ? undefined : world.runOf(first.model)
        if (first === undefined || model === undefined) return
        // Also those of the same worker and run, each once.
        const all = [first, ...leases.filter((one) => one.worker === first.worker && world.runOf(one.model) === model)]
        const asking = all.filter((one, at) => all.findIndex(({ model }) => model === one.model) === at)
        const asks = asking.flatMap((one, at): ReadonlyArray<Ask & { readonly known: Known }> => {
          const item = itemFor(one)
          const attempts = item === undefined ? undefined : world.runOfItem(item)?.items.get(item)?.attempts
          if (item === undefined || attempts === undefined) return []
          const settledAs = (id: WorkItemId, attempt: number, n: number): AskSettled => ({
            item: id,
            attempt: pick % 13 === 0 ? attempt - 1 : attempt,
            exception: [null, null, exceptions.business, exceptions.application][(pick + n) % 4] ?? null,
            outputs: (pick + n) % 3,
            dropOutputs: (pick + n) % 7 === 0
          })
          // Of those that it has ahead it has settled some, and begun one, or not.
          const ahead = world.runOf(one.model)?.hand(one.model).ahead ?? []
          const count = pick % 3
          const begun = pick % 2 === 0 ? ahead[count] : undefined
          return [
            {
              known: one,
              id: one.model,
              version: one.version,
              settled: [
                settledAs(item, attempts, at),
                ...ahead.slice(0, count).map(({ attempts, id }, n) => settledAs(id, attempts + 1, at + n + 1))
              ],
              begun: begun === undefined ? null : { item: begun.id, attempt: begun.attempts + 1 },
              wanted: pick % 4 === 0 ? null : pick % 4,
              reserve: begun !== undefined || pick % 5 !== 0
            }
          ]
        })
        const worker = workers[first.worker] ?? assert.fail("no worker")
        const asked = nextItems.next(
          worker,
          first.stored.processRunId,
          asks.map(({ begun, known, reserve, settled, wanted }) => ({
            stepRun: known.stored.id,
            leaseToken: known.token,
            settled: settled.map(({ outputs, ...one }) => ({
              ...one,
              item: to.item(one.item),
              outputs: Array.from({ length: outputs }, (_, index) => index)
            })),
            reserve,
            ahead:
              wanted === null && begun === null
                ? null
                : {
                    begun: begun === null ? null : { ...begun, item: to.item(begun.item) },
                    notBegun: [],
                    wanted: wanted ?? 0
                  }
          }))
        )
        const codes = Effect.map(asked, (answers) =>
          (answers ?? assert.fail("no such run")).map((answer) =>
            answer instanceof Refused ? answer.code : answer.item === null ? "nothing" : "ok"
          )
        )
        assert.deepStrictEqual<ReadonlyArray<string>>(yield* codes, world.next(asks), "next")
        // Repeating it changes nothing.
        if (pick % 3 === 0)
          assert.deepStrictEqual<ReadonlyArray<string>>(yield* codes, world.next(asks), "next, said again")
        return
      }
      case "finish":
      case "crash": {
        const known = lease("in_progress")
        if (known === undefined) return
        const code = stepRunErrorCodes[pick % stepRunErrorCodes.length] ?? "UNKNOWN"
        const error = kind === "finish" ? null : { code, message: "crashed" }
        return yield* both(runs.finish(known.stored, error), () => world.finish(known.model, known.version, error))
      }
      case "silence": {
        const worker = world.workers[pick % 2]
        if (worker !== undefined) worker.silent = !worker.silent
        return
      }
      case "time": {
        const millis = [1, 3000, 10_000, 20_000, 30_000][pick % 5] ?? 0
        yield* TestClock.adjust(millis)
        for (const [index, worker] of workers.entries()) {
          if (world.workers[index]?.silent === false) yield* workerStore.seen(worker.id)
        }
        yield* runs.tick
        return world.pass(millis)
      }
      case "stop": {
        const run = choose([...world.runs.keys()])
        if (run === undefined) return
        const command = { asDone: pick % 2 === 0, terminate: pick % 3 === 0, reason: `because of ${pick}` }
        return yield* both(runs.stop(to.run(run), command), () => world.stop(run, command))
      }
      case "retry":
      case "mark_as_done":
      case "delete": {
        const wanted = kind === "delete" ? ["new", "failed", "done"] : ["failed"]
        const all = [
          ...[...world.queue].map((id) => ({ id, state: "new" })),
          ...models.flatMap((model) => [...model.items.values()])
        ].toSorted((a, b) => (a.id < b.id ? -1 : 1))
        const fitting = all.filter(({ state }) => pick % 6 === 0 || wanted.includes(state))
        const first = choose(fitting)
        if (first === undefined) return
        const chosen = [...new Set([first.id, ...some(fitting.slice(0, 3).map(({ id }) => id))])]
        const changed = runs.batch(workspace, kind, chosen.map(to.item))
        return yield* both(changed, () => world.batch(kind, chosen))
      }
      case "remove": {
        const run = choose([...world.runs.keys()])
        if (run === undefined) return
        return yield* both(runs.remove(to.run(run)), () => world.remove(run))
      }
    }
  })

  let rows = yield* rowsOf(process.view.id)
  for (const command of commands) {
    yield* step(command, rows)
    rows = yield* rowsOf(process.view.id)
    const ids = workers.map(({ id }) => id)
    assert.deepStrictEqual(picture(rows, ids), predicted(world), `after ${command.kind} ${command.pick}`)
    assertSound(rows)
  }
  return true
})

withLayer(runsOn(sqlite), { timeout: "4 minutes" })("commands in any order", (it) => {
  it.effect(
    "leave the database as the model has it, after each of them",
    () =>
      Effect.gen(function* () {
        const options = yield* settings
        // The service has been running for a while.
        yield* TestClock.adjust("1 hour")
        const result = yield* Arbitrary.checkEffect(
          sequences,
          ({ commands, steps }) =>
            Effect.catchCause(perform(steps, commands), (cause) => Effect.fail(Cause.pretty(cause).slice(0, 4000))),
          { runs: options.runs, seed: options.seed, size: 60, maxShrinks: 300 }
        )
        const failure = Arbitrary.formatCheckFailure(result)
        if (failure !== undefined) assert.fail(`${failure}\nSeed: ${options.seed}`)
      }),
    { timeout: 600_000 }
  )
})
