/**
 * One simulation: processes that run made-up flows over one journal, while a seed kills and stops them, delays and loses
 * messages, and acts as an operator. When the faults have stopped, every execution must end.
 */
import { Sharding } from "effect/cluster/Sharding"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Flow from "../../../src/Flow.ts"
import { FlowEngine } from "../../../src/FlowEngine.ts"
import * as FlowExecutions from "../../../src/FlowExecutions.ts"
import type { Command } from "../../../src/internal/model/Commands.ts"
import * as Engine from "../../../src/internal/engine/Engine.ts"
import { type Execution, hasEnded } from "../../../src/internal/model/Execution.ts"
import { Journal } from "../../../src/internal/journal/Journal.ts"
import * as Cluster from "../../../src/internal/ownership/Cluster.ts"
import * as Leases from "../../../src/internal/ownership/Leases.ts"
import * as Local from "../../../src/internal/ownership/Local.ts"
import { RunWatchers } from "../../../src/internal/engine/RunWatchers.ts"
import { LocalSchedules } from "../../../src/internal/engine/RegisteredSchedules.ts"
import * as Database from "./Database.ts"
import * as Driver from "./Driver.ts"
import * as Invariants from "./Invariants.ts"
import * as Programs from "./Programs.ts"
import * as Room from "./Room.ts"
import * as Seeded from "./Seeded.ts"
import * as Shards from "./Shards.ts"
import * as Storage from "./Storage.ts"

export interface Report {
  readonly seed: number
  readonly violations: ReadonlyArray<string>
  readonly hash: number
  readonly trace: ReadonlyArray<string>
  /** How the executions ended. */
  readonly states: ReadonlyArray<string>
  readonly millis: number
  readonly counts: Counts
}

/** How much has happened. */
export interface Counts {
  /** Tasks of fibers. */
  readonly tasks: number
  /** Calls of the journal. */
  readonly calls: number
  /** Statements that have failed. */
  readonly failures: number
  readonly faults: number
  readonly commands: number
  /** What the room did. */
  readonly effects: number
}

interface Host {
  readonly machine: Driver.Machine
  readonly scope: Scope.Closeable
  /** Null until it has started. */
  parts: { readonly engine: Engine.EngineParts; readonly services: Context.Context<FlowEngine> } | null
  isEnding: boolean
}

interface Waiter {
  readonly host: Host
  readonly key: string
  exit: Exit.Exit<unknown, unknown> | null
}

const hour = 3_600_000
/** Everything must be over this long after the last fault: a step may retry every five minutes by then. */
const calmMillis = 12 * hour
const mostTasks = 400_000
/** Runners poll every second while there are no faults. */
const mostTasksOfCluster = 4_000_000

export interface Options {
  readonly trace?: boolean
}

/** Opens a database, which all runs use one after the other. */
export const open = () => {
  const database = Database.open()
  return {
    run: (seed: number, options: Options = {}): Report => run(database, seed, options),
    close: database.close
  }
}

const run = (database: Database.SimulatedDatabase, seed: number, options: Options): Report => {
  const root = Seeded.make(seed)
  const choices = root.fork("choices")
  const faults = root.fork("faults")
  const operators = root.fork("operators")
  const driver = Driver.make(root.fork("schedule"), options.trace ?? false)
  const { trace } = driver
  const violations: Array<string> = []
  const violation = (what: string) => {
    trace.note(`VIOLATION ${what}`)
    if (!violations.includes(what)) violations.push(what)
  }
  const isShared = choices.chance(0.8)
  const limits = Programs.limits(root.fork("limits"))
  const concurrencies = limits.map(({ concurrency }) => concurrency ?? Infinity)
  const onChange = () => {
    if (limits.length === 0) return
    for (const what of Invariants.exceeded(concurrencies, database.begun())) violation(what)
  }
  const storage = Storage.make({
    database,
    driver,
    seeded: root.fork("storage"),
    violation,
    onChange,
    isEmbedded: !isShared
  })
  const world = Room.make(driver, root.fork("room"))

  const programs = Array.from({ length: choices.int(1, 3) }, (_, index) =>
    Programs.program(root.fork(`program ${index}`))
  )
  const flow = Programs.make(programs, limits)
  const keys = programs.map((_, index) => `k${index}`)
  const processes = isShared ? choices.int(1, 3) : 1
  const isCluster = isShared && root.fork("ownership").chance(0.15)
  const shards = Shards.make(driver, root.fork("shards"))
  const ownershipOf = (host: Host) => {
    const sharding = shards.of(() => hosts.indexOf(host), processes)
    if (isCluster) return Layer.provide(Cluster.layer, Layer.succeed(Sharding, sharding))
    return isShared ? Leases.layer : Local.layer
  }
  const concurrency = choices.pick([1, 2, 1_000])
  const logger = Logger.make<unknown, void>(({ cause, logLevel, message }) => {
    if (logLevel !== "Debug" && !/blocked the event loop/.test(String(message)))
      violation(`${logLevel}: ${String(message)} ${String(cause)}`)
  })

  // ---- processes

  const hosts: Array<Host> = []
  const gone: Array<string> = []
  let started = 0
  let isCalm = false

  const begin = () => {
    const machine = driver.machine(`p${++started}`)
    const own = new Set<string>()
    const host: Host = { machine, scope: Scope.makeUnsafe(), parts: null, isEnding: false }
    hosts.push(host)
    trace.note(`start ${machine.name}`)
    // A storage for one process is free again when that one is gone.
    if (!isShared) for (const id of gone.splice(0)) storage.look((rows) => rows.leave(id))
    const up = Effect.gen(function* () {
      const owner = yield* Layer.build(Layer.fresh(ownershipOf(host)))
      const engine = yield* Effect.provideContext(Engine.make({ concurrency }), owner)
      const made = Context.make(Engine.Engine, engine)
      const watchers = yield* Layer.build(
        Layer.provide(Layer.mergeAll(RunWatchers.layer, LocalSchedules.layer), Layer.succeedContext(made))
      )
      const services = Context.make(FlowEngine, FlowEngine.of({ parts: Context.merge(made, watchers) }))
      yield* Layer.build(Flow.layer(flow)).pipe(
        Effect.provideContext(services),
        Effect.provideService(Room.Room, world.of(machine))
      )
      host.parts = { engine, services }
    }).pipe(
      Effect.provideService(Scope.Scope, host.scope),
      Effect.provideService(Journal, storage.of(machine, own)),
      Effect.provideService(Logger.CurrentLoggers, new Set([logger]))
    )
    driver.fork(machine, up, (exit) => {
      if (Exit.isFailure(exit) && !host.isEnding) violation(`a process did not start: ${String(exit.cause)}`)
    })
    ids.set(host, own)
  }
  const ids = new Map<Host, Set<string>>()

  const remove = (host: Host) => {
    gone.push(...(ids.get(host) ?? []))
    ids.delete(host)
    hosts.splice(hosts.indexOf(host), 1)
    driver.kill(host.machine)
    storage.forget(host.machine)
  }
  const again = (millis: number) =>
    void driver.after(isCalm ? 0 : millis, null, () => {
      if (hosts.length < processes) begin()
    })
  const killed = (host: Host) => {
    if (!hosts.includes(host)) return
    remove(host)
    again(faults.pick([0, 100, 3_000, 9_000]))
  }
  /** As SIGTERM does. */
  const ended = (host: Host) => {
    if (host.parts === null || host.isEnding) return
    host.isEnding = true
    trace.note(`end ${host.machine.name}`)
    driver.fork(host.machine, Scope.close(host.scope, Exit.void), () => {
      if (!hosts.includes(host)) return
      remove(host)
      again(faults.pick([0, 100, 3_000]))
    })
  }

  const anyHost = (from: Seeded.Seeded): Host | undefined => {
    const able = hosts.filter(({ isEnding, parts }) => parts !== null && !isEnding)
    return able[from.int(0, Math.max(able.length - 1, 0))]
  }

  // ---- who uses them

  const waiters: Array<Waiter> = []
  const times = root.fork("when")
  /** When an execution starts, in which order, and until when; most say nothing of it. */
  const whenOf = () => ({
    after: times.chance(0.25) ? times.pick([1, 1_000, 10_000, 60_000]) : undefined,
    priority: times.chance(0.25) ? times.int(-5, 5) : undefined,
    deadline: times.chance(0.25) ? times.pick([500, 5_000, 30_000, 300_000, hour]) : undefined
  })
  const submit = (index: number) => {
    const host = anyHost(operators)
    const key = keys[index]
    if (host === undefined || host.parts === null || key === undefined) return
    trace.note(`submit ${key} to ${host.machine.name}`)
    const waiter: Waiter = { host, key, exit: null }
    waiters.push(waiter)
    const execute = Flow.execute(flow, { key, program: index, chapter: 0 }, whenOf())
    driver.fork(host.machine, Effect.provideContext(execute, host.parts.services), (exit) => {
      trace.note(`the caller of ${key} in ${host.machine.name} gets ${exit._tag}`)
      waiter.exit = exit
      if (Exit.isFailure(exit) && exit.cause.reasons.some(({ _tag }) => _tag === "Die")) {
        violation(`the caller of ${key} gets ${String(exit.cause)}`)
      }
    })
  }
  const all = (): ReadonlyArray<Execution> => storage.look((rows) => rows.list({ limit: 100 }))

  /** Commands in progress. */
  const orderedNow = new Set<{ readonly host: Host }>()
  let commands = 0
  /** Carries out a command or another call of an operator in some process. */
  const order = (what: string, effect: Effect.Effect<unknown, unknown, FlowEngine>, command: Command | null = null) => {
    const host = anyHost(operators)
    if (host === undefined || host.parts === null) return
    trace.note(`${host.machine.name}: ${what}`)
    commands++
    const ordered = { host }
    orderedNow.add(ordered)
    const given = Effect.provideService(effect, Storage.Ordered, command)
    driver.fork(host.machine, Effect.provideContext(given, host.parts.services), (exit) => {
      trace.note(`${what}: ${exit._tag}`)
      orderedNow.delete(ordered)
      if (Exit.isFailure(exit) && exit.cause.reasons.some(({ _tag }) => _tag === "Die")) {
        violation(`${what}: ${String(exit.cause)}`)
      }
    })
  }
  const programOf = ({ input }: Pick<Execution, "input">) => {
    const index = memberOf(input, "program")
    return programs[index]
  }
  /** Sends all that a flow waits for: nothing it is sent twice counts twice. */
  const sendAll = (execution: Execution) => {
    const program = programOf(execution)
    for (const [index, key] of (program?.signals ?? []).entries()) {
      order(`signal ${key}`, FlowExecutions.signal(execution.id, `go[${key}]`, index))
    }
    for (let index = 0; index < (program?.inboxes ?? 0); index++) {
      order(`message ${index}`, FlowExecutions.signal(execution.id, "box", 100 + index, { id: `m${index}` }))
    }
  }
  const retry = (execution: Execution) => {
    const history = storage.look((rows) => rows.history(execution.id))
    const paths = (history?.entries ?? [])
      .map(({ path }) => path)
      .filter((path) => !/#cancel|#outcome|\/undo\//.test(path))
    const from = operators.chance(0.5) ? paths[operators.int(0, Math.max(paths.length - 1, 0))] : undefined
    order(
      `retry ${execution.id} from ${from ?? "its failed step"}`,
      FlowExecutions.retry(execution.id, from === undefined ? {} : { from }),
      "retry"
    )
  }
  const cancel = (id: string) => order(`cancel ${id}`, FlowExecutions.cancel(id), "cancel")
  const rescheduling = () => {
    const start = operators.chance(0.6) ? { after: operators.pick([0, 500, 20_000]) } : {}
    return { ...start, priority: operators.int(-3, 3) }
  }
  const resume = (id: string) => order(`resume ${id}`, FlowExecutions.resume(id), "resume")
  const operate = () => {
    const executions = all()
    const execution = executions[operators.int(0, Math.max(executions.length - 1, 0))]
    if (execution === undefined) return
    const { id } = execution
    switch (
      operators.pick([
        "signal",
        "signal",
        "signal",
        "cancel",
        "cancel",
        "suspend",
        "suspend",
        "resume",
        "resume",
        "retry",
        "retry",
        "reschedule",
        "terminate"
      ])
    ) {
      case "signal": {
        const program = programOf(execution)
        const key = program?.signals[operators.int(0, Math.max(program.signals.length - 1, 0))]
        if (key === undefined || operators.chance(0.3)) {
          const index = operators.int(0, 2)
          return order(`message ${index}`, FlowExecutions.signal(id, "box", 100 + index, { id: `m${index}` }))
        }
        const value = operators.chance(0.05) ? 99 : (program?.signals.indexOf(key) ?? 0)
        return order(`signal ${key} to ${id}`, FlowExecutions.signal(id, `go[${key}]`, value))
      }
      case "cancel":
        cancel(id)
        if (operators.chance(0.2)) cancel(id)
        return
      case "suspend":
        return order(`suspend ${id}`, FlowExecutions.suspend(id), "suspend")
      case "resume":
        return resume(id)
      case "retry":
        return retry(execution)
      case "reschedule":
        return order(`reschedule ${id}`, FlowExecutions.reschedule(id, rescheduling()), "reschedule")
      case "terminate":
        if (operators.chance(0.15)) order(`terminate ${id}`, FlowExecutions.terminate(id), "terminate")
    }
  }

  // ---- the time of faults

  const length = choices.pick([5_000, 20_000, 60_000, 90_000])
  const isBadWeather = choices.chance(0.7)
  const weather: Storage.Weather = isBadWeather
    ? {
        usualMillis: choices.pick([2, 20]),
        slow: choices.pick([0, 0.02, 0.1]),
        slowMillis: 4_000,
        lost: choices.pick([0, 0.01, 0.05])
      }
    : Storage.fine
  storage.weather(weather)
  world.mood(
    choices.chance(0.8)
      ? {
          lost: choices.pick([0, 0.05, 0.3]),
          busy: choices.pick([0, 0.1, 0.3]),
          refused: choices.pick([0, 0.03, 0.1]),
          hung: choices.pick([0, 0.1, 0.3]),
          bug: choices.pick([0, 0, 0.01]),
          slow: choices.pick([0, 0.1, 0.5])
        }
      : Room.calm
  )
  const oneOf = (): Host | undefined => hosts[faults.int(0, Math.max(hosts.length - 1, 0))]
  /** Its loop stands still; its thread renews the lease meanwhile, but not for ever. */
  const stalled = (host: Host) => {
    const renewed = faults.pick([0, 4_000, 20_000])
    driver.stop(host.machine, renewed + faults.pick([1_000, 9_000, 15_000]))
    const own = ids.get(host) ?? new Set<string>()
    for (let millis = 1_000; millis <= renewed; millis += 1_000) {
      driver.after(millis, null, () => {
        if (host.machine.isAlive && isShared) storage.stand(own, millis)
      })
    }
  }
  let faulted = 0
  const fault = () => {
    const host = oneOf()
    if (isCalm || host === undefined) return
    faulted++
    switch (
      faults.pick([
        "kill",
        "kill",
        "kill",
        "stop",
        "stop",
        "stall",
        "end",
        "away",
        "away",
        "jump",
        "jump",
        "storage jump"
      ])
    ) {
      case "kill":
        return killed(host)
      case "stop":
        return driver.stop(host.machine, faults.pick([500, 5_000, 8_000, 20_000, 60_000]))
      case "stall":
        return stalled(host)
      case "end":
        return ended(host)
      case "away":
        return storage.away(faults.pick([200, 3_000, 10_000]))
      case "jump":
        host.machine.clockOffset = faults.int(-100_000, 100_000) * (faults.chance(0.2) ? 1_000 : 1)
        return
      case "storage jump":
        if (faults.chance(0.3)) storage.jump(faults.pick([-60_000, -3_000, -500, 500, 4_000, 3_600_000]))
    }
  }
  for (let index = 0; index < processes; index++) begin()
  for (const index of keys.keys()) {
    const early = choices.pick([10, 100, 5_000])
    driver.after(choices.int(5, early), null, () => submit(index))
    if (choices.chance(0.2)) driver.after(choices.int(5, early), null, () => submit(index))
  }
  const faultCount = choices.pick([0, 1, 2, 4, 8])
  for (let index = 0; index < faultCount; index++) driver.after(faults.int(0, length), null, fault)
  /** Faults that come between two tasks, wherever these are in what they do. */
  const soon = () => {
    if (isCalm) return
    fault()
    if (faults.chance(0.7)) driver.afterTasks(faults.int(1, faults.pick([20, 200, 2_000])), soon)
  }
  if (faultCount > 0 && choices.chance(0.7)) driver.afterTasks(faults.int(1, faults.pick([60, 300, 2_000])), soon)
  const orders = choices.pick([0, 0, 2, 6, 15])
  for (let index = 0; index < orders; index++) driver.after(operators.int(10, length), null, operate)
  let left = choices.pick([2, 4, 8])
  /** Commands that come between two tasks. */
  const operateSoon = () => {
    if (isCalm || left-- <= 0) return
    operate()
    driver.afterTasks(operators.int(1, operators.pick([10, 100, 400])), operateSoon)
  }
  if (orders > 0) driver.afterTasks(operators.int(20, operators.pick([60, 300, 1_000])), operateSoon)

  const end = Driver.startedAt + length
  const isTooMuch = () => driver.tasks() > (isCluster ? mostTasksOfCluster : mostTasks) || violations.length > 0
  driver.run(end, isTooMuch)

  // ---- the calm after it

  isCalm = true
  trace.note("calm")
  storage.weather(Storage.fine)
  world.mood(Room.calm)
  shards.calm()
  while (hosts.length < processes) begin()
  let rounds = choices.chance(0.3) ? 1 : 0
  const isOver = () => {
    for (const { host } of orderedNow) if (hosts.includes(host)) return false
    const executions = all()
    return executions.length === keys.length && executions.every(({ state }) => hasEnded(state))
  }
  const limit = driver.now() + calmMillis
  let pause = 2_000
  const settle = () => {
    while (!isOver() && driver.now() < limit && !isTooMuch()) {
      const executions = all()
      for (const [index, key] of keys.entries()) if (executions.every((one) => one.key !== key)) submit(index)
      for (const execution of executions) {
        const { failure, id, state } = execution
        if (!hasEnded(state)) sendAll(execution)
        if (state === "suspended") resume(id)
        if (state !== "halted") continue
        if (failure?.tag === "StepCutOff") {
          const open = storage
            .look((rows) => rows.history(id))
            ?.entries.find(({ name, state }) => name === "never" && state === "running")
          order(`retry ${id}`, FlowExecutions.retry(id, open === undefined ? {} : { from: open.path }), "retry")
        } else if (isPassing(failure)) {
          resume(id)
        } else violation(`${id} is halted: ${failure?.tag} ${failure?.message}`)
      }
      driver.run(driver.now() + pause, isTooMuch)
      pause = Math.min(Math.round(pause * 1.3), 300_000)
    }
  }
  settle()
  while (rounds-- > 0 && isOver()) {
    pause = 2_000
    for (const execution of all()) if (operators.chance(0.5)) retry(execution)
    driver.run(driver.now() + 1_000, isTooMuch)
    settle()
  }
  /** Whether nothing is on its way any more that could open an execution again. */
  const isStill = () =>
    storage.isQuiet() &&
    hosts.every(
      ({ machine, parts }) =>
        parts !== null &&
        machine.stoppedUntil <= driver.now() &&
        all().every(({ id, state }) => !hasEnded(state) || !parts.engine.isLive(id))
    ) &&
    waiters.every(({ exit, host }) => exit !== null || !hosts.includes(host))
  // What a killed process had asked of the storage may open one again.
  do {
    settle()
    const latest = Math.max(driver.now(), ...hosts.map(({ machine }) => machine.stoppedUntil)) + 25_000
    do driver.run(driver.now() + 1_000, isTooMuch)
    while (!isStill() && driver.now() < latest && !isTooMuch())
  } while (!isOver() && driver.now() < limit && !isTooMuch())

  // ---- what must hold

  const executions = all()
  for (const key of keys) if (executions.every((one) => one.key !== key)) violation(`${key} was never created`)
  for (const execution of executions) {
    const { id, input, state } = execution
    if (!hasEnded(state)) {
      violation(`${id} is ${state} ${Math.round((driver.now() - end) / 1_000)} s after the last fault`)
      continue
    }
    for (const { machine, parts } of hosts) {
      if (parts?.engine.isLive(id) === true) violation(`${id} has ended and is in the memory of ${machine.name}`)
    }
    const history = storage.look((rows) => rows.history(id))
    const root = programOf(execution)?.chapters[memberOf(input, "chapter")]
    if (history === null || root === undefined) continue
    const aside = storage.look((rows) => rows.aside(id))
    for (const what of Invariants.check({ history, aside, root, effects: world.effects })) violation(what)
  }
  for (const { exit, host, key } of waiters) {
    if (exit === null && hosts.includes(host)) violation(`the caller of ${key} in ${host.machine.name} waits forever`)
  }
  const states = executions.map(({ state }) => state)
  trace.note(states.join())
  storage.close()
  return {
    seed,
    violations,
    hash: trace.hash(),
    trace: trace.lines,
    states,
    millis: driver.now() - Driver.startedAt,
    counts: {
      tasks: driver.tasks(),
      calls: storage.calls(),
      failures: storage.failures(),
      faults: faulted,
      commands,
      effects: world.effects.length
    }
  }
}

/** Whether a halt is over when the execution is resumed. */
const isPassing = (failure: Execution["failure"]): boolean =>
  failure?.tag === "UndoFailed" || failure?.tag === "StepStalled" || failure?.message === "a bug"

/** A number of an input. */
const memberOf = (input: Schema.Json, name: "program" | "chapter"): number => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return 0
  const value = Object.entries(input).find(([key]) => key === name)?.[1]
  return typeof value === "number" ? value : 0
}
