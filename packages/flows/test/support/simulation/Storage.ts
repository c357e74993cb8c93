/**
 * The journal as a simulated process reaches it: each call takes time to arrive, and so does its answer. Its statements may fail,
 * before or after they have taken effect; the journal itself repeats them then, and other processes may come in between. Sometimes
 * the storage is away, and every statement fails.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import { SqlClient } from "effect/sql/SqlClient"
import type { Command } from "../../../src/internal/model/Commands.ts"
import { Journal } from "../../../src/internal/journal/Journal.ts"
import * as Sql from "../../../src/internal/journal/Sql.ts"
import { Database } from "../../../src/internal/journal/Database.ts"
import { type Fate, Fates, type SimulatedDatabase } from "./Database.ts"
import type { Driver, Machine } from "./Driver.ts"
import * as Model from "./Model.ts"
import type { Seeded } from "./Seeded.ts"

type Rows = Journal["Service"]

/** How bad the network to something is. */
export interface Weather {
  /** The longest usual latency of a message. */
  readonly usualMillis: number
  /** How often the latency is up to `slowMillis`. */
  readonly slow: number
  readonly slowMillis: number
  /** How often a notification is lost, and how often one of a few statements fails. */
  readonly lost: number
}

export const fine: Weather = { usualMillis: 2, slow: 0, slowMillis: 0, lost: 0 }

const delay = (seeded: Seeded, { slow, slowMillis, usualMillis }: Weather): number =>
  seeded.chance(slow) ? seeded.int(0, slowMillis) : seeded.int(0, usualMillis)

/** The command that an operator gives with an effect. */
export const Ordered = Context.Reference<Command | null>("test/simulation/Ordered", { defaultValue: () => null })

export interface Settings {
  readonly database: SimulatedDatabase
  readonly driver: Driver
  readonly seeded: Seeded
  readonly violation: (what: string) => void
  /** Called after each call that may have changed executions. */
  readonly onChange: () => void
  /** Whether it is part of the process that uses it, so that no message is in flight when that is killed. */
  readonly isEmbedded: boolean
}

export const make = ({ database, driver, isEmbedded, onChange, seeded, violation }: Settings) => {
  let weather = fine
  let awayUntil = 0
  let clockOffset = 0
  let calls = 0
  /** The calls that are on their way, or repeated after a failure. */
  const underWay = new Set<{ readonly machine: Machine; hasArrived: boolean }>()
  let failures = 0

  // Calls run to their end at once, unless they sleep after a failure.
  const queue: Array<() => void> = []
  const drain = () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) task()
  }
  const scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    shouldYield: () => false,
    makeDispatcher: () => ({ scheduleTask: (task) => void queue.push(task), flush: drain })
  }
  const clock = Context.get(driver.machine("storage").context, Clock.Clock)
  const clockOf = (machine: Machine | null): Clock.Clock => ({
    ...clock,
    currentTimeMillisUnsafe: () => driver.now() + clockOffset,
    currentTimeMillis: Effect.sync(() => driver.now() + clockOffset),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const cancel = driver.after(Duration.toMillis(duration), machine, () => {
          resume(Effect.void)
          drain()
        })
        return Effect.sync(cancel)
      })
  })
  const fate = (): Fate => {
    const isAway = awayUntil > driver.now()
    if (!isAway && weather.lost === 0) return "carried out"
    const drawn = seeded.next() / (isAway ? 1 : weather.lost)
    if (drawn >= 1 / 4 && !isAway) return "carried out"
    failures++
    // When it goes away, some statements have taken effect. An embedded one has no answers that get lost.
    return drawn < 1 / 8 && !isEmbedded ? "lost" : "refused"
  }
  const context = Effect.runSync(
    Effect.withTracerEnabled(
      Effect.contextWith((context: Context.Context<never>) =>
        Effect.succeed(
          context.pipe(
            Context.add(Clock.Clock, clockOf(null)),
            Context.add(Scheduler.Scheduler, scheduler),
            Context.add(Logger.CurrentLoggers, new Set())
          )
        )
      ),
      false
    )
  )
  const look = <A, E>(effect: Effect.Effect<A, E>): A => Effect.runSyncWith(context)(Effect.orDie(effect))

  database.clear()
  const scope = Scope.makeUnsafe()
  const journal = Sql.layer.pipe(Layer.provide(Database.layer), Layer.provide(Layer.succeed(SqlClient, database.sql)))
  const rows: Rows = look(Effect.map(Layer.buildWithScope(Layer.fresh(journal), scope), Context.get(Journal)))

  interface Listener {
    readonly machine: Machine
    readonly tell: (process: string | null, execution: string | null, ended: boolean) => void
  }
  const listeners: Array<Listener> = []
  // The notifications of the journal in memory, delivered by a process of their own.
  const notifier = driver.machine("notifier")
  driver.fork(
    notifier,
    rows.changes((...change) =>
      Effect.sync(() => {
        for (const { machine, tell } of listeners) {
          if (!machine.isAlive || seeded.chance(weather.lost)) continue
          driver.after(delay(seeded, weather), machine, () => tell(...change))
        }
      })
    ),
    () => {}
  )

  /** The journal of one process. `own` returns whether a process id is its own. */
  const of = (machine: Machine, own: Set<string>): Rows => {
    const within = context.pipe(Context.add(Clock.Clock, clockOf(machine)), Context.add(Fates, fate))
    const call = <A, E>(what: string, effect: Effect.Effect<A, E>, changes: boolean): Effect.Effect<A, E> =>
      Effect.callback<A, E>((resume) => {
        const one = { machine, hasArrived: false }
        underWay.add(one)
        driver.after(delay(seeded, weather), null, () => {
          one.hasArrived = true
          if (isEmbedded && !machine.isAlive) return
          calls++
          Effect.runForkWith(within)(effect).addObserver((exit) => {
            underWay.delete(one)
            if (changes) onChange()
            driver.trace.note(`${machine.name} ${what} ${exit._tag}`)
            if (machine.isAlive) driver.after(delay(seeded, weather), machine, () => resume(exit))
          })
          drain()
        })
      })
    const read = <A, E>(what: string, effect: Effect.Effect<A, E>) => call(what, effect, false)
    const through = <A, E>(what: string, effect: Effect.Effect<A, E>) => call(what, effect, true)
    const watch = Model.watch({
      rows,
      look,
      now: driver.now,
      violation: (what) => violation(`${machine.name} ${what}`)
    })
    return {
      now: read("now", rows.now),
      create: (execution) => {
        if (execution.owner !== null) own.add(execution.owner)
        return through(`create ${execution.key}`, rows.create(execution))
      },
      createMany: (flow, executions) => through(`create many of ${flow}`, rows.createMany(flow, executions)),
      debounce: (execution, debounce) => through(`debounce ${debounce.key}`, rows.debounce(execution, debounce)),
      find: (id) => read(`find ${id}`, rows.find(id)),
      findKey: (flow, key) => read(`find key ${key}`, rows.findKey(flow, key)),
      list: (page) => read("list", rows.list(page)),
      unendedCounts: (flow) => read(`unended of ${flow ?? "all"}`, rows.unendedCounts(flow)),
      history: (id) => read(`history ${id}`, rows.history(id)),
      aside: (id) => read(`aside ${id}`, rows.aside(id)),
      chapters: (id) => read(`chapters ${id}`, rows.chapters(id)),
      write: (fence, write) => {
        if (write.execution.failure?.tag === "FlowChanged") {
          violation(`${fence.id} does not fit its record: ${write.execution.failure.message}`)
        }
        const entries = write.entries.map(({ attempt, path, state }) => `${path}.${attempt} ${state}`)
        const undos = write.undos.map(({ path, state }) => `undo of ${path} ${state}`)
        const { endedAt: _endedAt, result: _result, ...execution } = write.execution
        const text = [
          ...entries,
          ...undos,
          `taken ${write.taken.join()}`,
          `seen ${write.seen}`,
          JSON.stringify(execution).slice(0, 400)
        ].join("; ")
        return through(
          `write ${fence.id} epoch ${fence.epoch}: ${text}`,
          watch.write(fence, write, own, rows.write(fence, write))
        )
      },
      send: (id, message) =>
        through(`send ${id} ${message.kind} ${message.name} ${message.id}`, rows.send(id, message)),
      prepare: (fence, prepared) => through(`prepare ${fence.id}`, rows.prepare(fence, prepared)),
      messages: (id, after) => read(`messages ${id} after ${after}`, rows.messages(id, after)),
      change: (id, decide) =>
        Effect.contextWith((context: Context.Context<never>) => {
          const command = Context.get(context, Ordered)
          const change = rows.change(id, decide)
          return through(`change ${id}`, command === null ? change : watch.command(command, id, change))
        }),
      saidBefore: (id) => read(`said before ${id}`, rows.saidBefore(id)),
      states: (id) => read(`states ${id}`, rows.states(id)),
      state: (id, name) => read(`state ${id} ${name}`, rows.state(id, name)),
      feeds: (id) => read(`feeds ${id}`, rows.feeds(id)),
      feed: (id, name, page) => read(`feed ${id} ${name}`, rows.feed(id, name, page)),
      said: (id, after, limit) => read(`said ${id} after ${after}`, rows.said(id, after, limit)),
      answer: (id, name, message) => read(`answer ${id} ${name} ${message}`, rows.answer(id, name, message)),
      commands: (id) => read(`commands ${id}`, rows.commands(id)),
      unsettled: read("unsettled", rows.unsettled),
      renew: (process) => {
        own.add(process.id)
        return read(`renew ${process.id}`, rows.renew(process))
      },
      leave: (process) => through(`leave ${process}`, rows.leave(process)),
      reap: (gone) => through("reap", rows.reap(gone)),
      processes: read("processes", rows.processes),
      claim: (process, flows, now, limit, share) => {
        own.add(process)
        return through("claim", watch.claimed(rows.claim(process, flows, now, limit, share), now))
      },
      claimOne: (process, id) => through(`claim ${id}`, rows.claimOne(process, id)),
      nextDue: (flows, share) => read("next due", rows.nextDue(flows, share)),
      unread: (process) => read("unread", rows.unread(process)),
      limit: (flow, limits) => through(`limit ${flow.flow}`, rows.limit(flow, limits)),
      admit: (process, flow, most) => {
        own.add(process)
        return through("admit", rows.admit(process, flow, most))
      },
      enqueue: (fence) => through(`enqueue ${fence.id}`, rows.enqueue(fence)),
      queuePlace: (id) => read(`place ${id}`, rows.queuePlace(id)),
      awaiting: (prefix) => read("awaiting", rows.awaiting(prefix)),
      awaitingAny: (subjects) => read("awaiting any", rows.awaitingAny(subjects)),
      unended: (ids) => read("unended", rows.unended(ids)),
      expire: (states, endedBefore, limit) => through("expire", rows.expire(states, endedBefore, limit)),
      forget: (endedBefore, limit) => through("forget", rows.forget(endedBefore, limit)),
      read: (name) => read(`read ${name}`, rows.read(name)),
      swap: (name, expected, value) => through(`swap ${name}`, rows.swap(name, expected, value)),
      names: (prefix) => read(`names ${prefix}`, rows.names(prefix)),
      // Transactions of callers are no part of the simulation.
      sql: rows.sql,
      within: rows.within,
      once: rows.once,
      isPassing: rows.isPassing,
      changes: (onChange) =>
        Effect.contextWith((context: Context.Context<never>) =>
          Effect.callback<never>(() => {
            const tell: Listener["tell"] = (...change) => void Effect.runForkWith(context)(onChange(...change))
            const listener = { machine, tell }
            listeners.push(listener)
            driver.after(delay(seeded, weather), machine, () => tell(null, null, false))
            return Effect.sync(() => void listeners.splice(listeners.indexOf(listener), 1))
          })
        )
    }
  }

  return {
    of,
    /** The rows themselves, for checks outside of the simulation. */
    look: <A, E>(read: (rows: Rows) => Effect.Effect<A, E>): A => look(read(rows)),
    /** How many calls it has carried out, and how many of their statements have failed. */
    calls: () => calls,
    failures: () => failures,
    /** Whether calls are on their way to it. */
    isQuiet: () => [...underWay].every(({ hasArrived, machine }) => hasArrived && !machine.isAlive),
    /** Renews the leases of a process whose loop has stood still for so long, as its thread does. */
    stand: (process: ReadonlySet<string>, millis: number) => {
      for (const id of process) database.stand(id, millis, driver.now() + clockOffset)
    },
    weather: (next: Weather) => {
      weather = next
    },
    away: (millis: number) => {
      driver.trace.note(`storage away for ${millis}`)
      awayUntil = driver.now() + millis
    },
    jump: (millis: number) => {
      driver.trace.note(`the clock of the storage jumps to ${millis}`)
      clockOffset = millis
    },
    /** Frees the database. */
    close: () => Effect.runSync(Scope.close(scope, Exit.void)),
    /** A process is gone for good: its listeners are forgotten. */
    forget: (machine: Machine) => {
      for (const listener of listeners.filter((one) => one.machine === machine)) {
        listeners.splice(listeners.indexOf(listener), 1)
      }
    }
  }
}

export type Storage = ReturnType<typeof make>
