/**
 * Virtual time and simulated processes. The fibers of a process run on its own scheduler and clock; the driver decides by
 * its seed which process runs its next task, and moves the time on when none has any. So a process can be killed or stopped
 * between any two tasks, and nothing of it runs after that.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import { NewId } from "../../../src/internal/model/Ids.ts"
import * as Timers from "../../../src/internal/model/Timers.ts"
import type { Seeded } from "./Seeded.ts"

type Task = () => void

interface Timer {
  readonly machine: Machine | null
  readonly run: Task
  isOpen: boolean
}

/** A simulated process. */
export interface Machine {
  readonly name: string
  /** Of all its fibers: its scheduler, its clock, its ids. */
  readonly context: Context.Context<never>
  readonly queue: Array<Task>
  isAlive: boolean
  /** Runs nothing before. */
  stoppedUntil: number
  /** How far its own clock is from the time of the simulation. */
  clockOffset: number
}

/** What happened, as a number for all of it and, when asked for, as lines. */
export interface Trace {
  readonly note: (text: string) => void
  readonly hash: () => number
  readonly lines: ReadonlyArray<string>
}

export const makeTrace = (keeps: boolean, now: () => number): Trace => {
  let hash = 0
  const lines: Array<string> = []
  return {
    note: (text) => {
      for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
      hash = (Math.imul(hash, 31) + now()) | 0
      if (keeps) lines.push(`${String(now() - startedAt).padStart(8)}  ${text}`)
    },
    hash: () => hash,
    lines
  }
}

/** When simulations begin. */
export const startedAt = Date.UTC(2030, 0, 1)

export const make = (seeded: Seeded, keepsTrace: boolean) => {
  let now = startedAt
  let tasks = 0
  let ids = 0
  let yieldIn = 500
  /** What is to happen before a task: faults and commands. */
  let atTasks: ReadonlyArray<{ readonly task: number; readonly run: Task }> = []
  const machines: Array<Machine> = []
  const timers = Timers.make<Timer>(({ item }) => item.isOpen)
  const trace = makeTrace(keepsTrace, () => now)

  const at = (due: number, machine: Machine | null, run: Task): (() => void) => {
    const timer: Timer = { machine, run, isOpen: true }
    timers.add(due, timer)
    return () => {
      timer.isOpen = false
    }
  }
  const after = (millis: number, machine: Machine | null, run: Task) =>
    at(now + Math.max(Math.ceil(millis), 0), machine, run)

  const clockOf = (machine: () => Machine): Clock.Clock => {
    const millis = () => now + machine().clockOffset
    const nanos = () => BigInt(millis()) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
      monotonicTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
      sleep: (duration) => {
        const millis = Duration.toMillis(duration)
        if (!Number.isFinite(millis)) return Effect.never
        return Effect.callback<void>((resume) => {
          const cancel = after(millis, machine(), () => resume(Effect.void))
          return Effect.sync(cancel)
        })
      }
    }
  }

  const schedulerOf = (queue: Array<Task>): Scheduler.Scheduler => ({
    executionMode: "async",
    shouldYield: (fiber) => {
      if (--yieldIn > 0) return fiber.currentOpCount >= 2_048
      yieldIn = seeded.int(1, 800)
      return true
    },
    makeDispatcher: () => ({
      scheduleTask: (task) => void queue.push(task),
      flush: () => {}
    })
  })

  const machine = (name: string): Machine => {
    const queue: Array<Task> = []
    const context = Context.empty().pipe(
      Context.add(Scheduler.Scheduler, schedulerOf(queue)),
      Context.add(
        Clock.Clock,
        clockOf(() => made)
      ),
      Context.add(NewId, () => `${name}-${++ids}`),
      Context.add(Random.Random, {
        nextIntUnsafe: () => seeded.int(0, Number.MAX_SAFE_INTEGER - 1),
        nextDoubleUnsafe: seeded.next
      })
    )
    const made: Machine = { name, context, queue, isAlive: true, stoppedUntil: 0, clockOffset: 0 }
    machines.push(made)
    return made
  }

  const kill = (machine: Machine) => {
    trace.note(`kill ${machine.name}`)
    machine.isAlive = false
    machine.queue.length = 0
    machines.splice(machines.indexOf(machine), 1)
  }
  const stop = (machine: Machine, millis: number) => {
    trace.note(`stop ${machine.name} for ${millis}`)
    machine.stoppedUntil = Math.max(machine.stoppedUntil, now + millis)
  }

  const runNext = (): boolean => {
    const atTask = atTasks.find(({ task }) => task <= tasks)
    if (atTask !== undefined) {
      atTasks = atTasks.filter((one) => one !== atTask)
      atTask.run()
      return true
    }
    const able = machines.filter(({ queue, stoppedUntil }) => queue.length > 0 && stoppedUntil <= now)
    const chosen = able.length < 2 ? able[0] : able[seeded.int(0, able.length - 1)]
    const task = chosen?.queue.shift()
    if (chosen !== undefined && task !== undefined) {
      tasks++
      task()
      return true
    }
    return false
  }

  /** Moves the time on to the next timer; false when it would be past `until`. */
  const advance = (until: number): boolean => {
    let due = timers.first()?.due ?? Infinity
    for (const { queue, stoppedUntil } of machines) if (queue.length > 0) due = Math.min(due, stoppedUntil)
    if (due > until) {
      now = Math.max(now, until)
      return false
    }
    now = Math.max(now, due)
    const timer = timers.first()
    if (timer === undefined || timer.due > now) return true
    timers.shift()
    const { item } = timer
    if (item.machine === null) item.run()
    else if (item.machine.isAlive) {
      if (item.machine.stoppedUntil > now) timers.add(item.machine.stoppedUntil, item)
      else item.machine.queue.push(item.run)
    }
    return true
  }

  /** Runs everything up to a time, or until `isOver`. */
  const run = (until: number, isOver: () => boolean = () => false) => {
    while (!isOver()) if (!runNext() && !advance(until)) return
  }

  return {
    now: () => now,
    tasks: () => tasks,
    trace,
    machines,
    machine,
    kill,
    stop,
    at,
    after,
    run,
    /** Runs something between two tasks, so many tasks from now on. */
    afterTasks: (count: number, then: Task) => {
      atTasks = [...atTasks, { task: tasks + count, run: then }]
    },
    /** Runs an effect in a process; what it returns is heard of by `onExit`. */
    fork: <A, E>(
      machine: Machine,
      effect: Effect.Effect<A, E>,
      onExit: (exit: import("effect/Exit").Exit<A, E>) => void
    ) => {
      machine.queue.push(() => {
        Effect.runForkWith(machine.context)(effect).addObserver(onExit)
      })
    }
  }
}

export type Driver = ReturnType<typeof make>
