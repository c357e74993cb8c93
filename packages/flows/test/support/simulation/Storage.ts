/**
 * The journal as a simulated process reaches it: each request takes time to arrive and so does its answer, so that the one
 * may be carried out while the other gets lost; sometimes the storage is away, and requests wait. A request whose answer is
 * lost is sent again, as the journals on a database do.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Journal } from "../../../src/internal/Journal.ts"
import * as Sqlite from "../../../src/internal/journal/Sqlite.ts"
import type { Driver, Machine } from "./Driver.ts"
import type { Seeded } from "./Seeded.ts"

type Rows = Journal["Service"]

/** How bad the network to something is. */
export interface Weather {
  /** The longest usual latency of a message. */
  readonly usualMillis: number
  /** How often the latency is up to `slowMillis`. */
  readonly slow: number
  readonly slowMillis: number
  readonly lost: number
}

export const fine: Weather = { usualMillis: 2, slow: 0, slowMillis: 0, lost: 0 }

const delay = (seeded: Seeded, { slow, slowMillis, usualMillis }: Weather): number =>
  seeded.chance(slow) ? seeded.int(0, slowMillis) : seeded.int(0, usualMillis)

/** The timeout after which a client detects a lost response. */
const answerMillis = 1_000

export interface Settings {
  readonly driver: Driver
  readonly seeded: Seeded
  readonly violation: (what: string) => void
  /** Called after each request that was carried out. */
  readonly onRequest: () => void
  /** Whether it is part of the process that uses it, so that no message is in flight when that is killed. */
  readonly isEmbedded: boolean
}

export const make = ({ driver, isEmbedded, onRequest, seeded, violation }: Settings) => {
  let weather = fine
  let awayUntil = 0
  let clockOffset = 0
  const clock: Clock.Clock = {
    ...Context.get(driver.machine("storage").context, Clock.Clock),
    currentTimeMillisUnsafe: () => driver.now() + clockOffset,
    currentTimeMillis: Effect.sync(() => driver.now() + clockOffset)
  }
  const context = Context.make(Clock.Clock, clock)
  const sync = <A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> => Effect.runSyncExitWith(context)(effect)
  const scope = Scope.makeUnsafe()
  const rows: Rows = Effect.runSyncWith(context)(
    Effect.map(Layer.buildWithScope(Layer.fresh(Sqlite.layerMemory), scope), Context.get(Journal))
  )

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

  /** `once`: a request that is sent again is answered as the first time. */
  const call = <A, E>(
    machine: Machine,
    what: string,
    effect: Effect.Effect<A, E>,
    once: boolean
  ): Effect.Effect<A, E> =>
    Effect.callback<A, E>((resume) => {
      let first: Exit.Exit<A, E> | null = null
      const arrive = () => {
        const now = driver.now()
        if (isEmbedded && !machine.isAlive) return
        if (awayUntil > now) return void driver.after(awayUntil - now + seeded.int(0, 200), null, arrive)
        const exit = once && first !== null ? first : sync(effect)
        first = exit
        onRequest()
        driver.trace.note(`${machine.name} ${what} ${exit._tag}`)
        if (!machine.isAlive) return
        const isLost = seeded.chance(weather.lost)
        if (isLost) driver.after(answerMillis, machine, send)
        else driver.after(delay(seeded, weather), machine, () => resume(exit))
      }
      const send = () => {
        if (seeded.chance(weather.lost)) driver.after(answerMillis, machine, send)
        else driver.after(delay(seeded, weather), null, arrive)
      }
      send()
    })

  /** The journal of one process. `own` returns whether a process id is its own. */
  const of = (machine: Machine, own: Set<string>): Rows => {
    const through = <A, E>(what: string, effect: Effect.Effect<A, E>) => call(machine, what, effect, false)
    const once = <A, E>(what: string, effect: Effect.Effect<A, E>) => call(machine, what, effect, true)
    return {
      now: through("now", rows.now),
      create: (execution) => {
        if (execution.owner !== null) own.add(execution.owner)
        return once(`create ${execution.key}`, rows.create(execution))
      },
      find: (id) => through(`find ${id}`, rows.find(id)),
      findKey: (flow, key) => through(`find key ${key}`, rows.findKey(flow, key)),
      list: (page) => through("list", rows.list(page)),
      history: (id) => through(`history ${id}`, rows.history(id)),
      aside: (id) => through(`aside ${id}`, rows.aside(id)),
      chapters: (id) => through(`chapters ${id}`, rows.chapters(id)),
      write: (fence, write) => {
        const before = Effect.sync(() => {
          const exit = sync(rows.find(fence.id))
          const there = exit._tag === "Success" ? exit.value : null
          if (there === null || there.epoch !== fence.epoch || there.owner === null || own.has(there.owner)) return
          violation(`${machine.name} wrote ${fence.id}, which belongs to ${there.owner}`)
        })
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
          Effect.andThen(before, rows.write(fence, write))
        )
      },
      send: (id, message) => once(`send ${id} ${message.kind} ${message.name} ${message.id}`, rows.send(id, message)),
      messages: (id, after) => through(`messages ${id} after ${after}`, rows.messages(id, after)),
      change: (id, decide) => through(`change ${id}`, rows.change(id, decide)),
      commands: (id) => through(`commands ${id}`, rows.commands(id)),
      unsettled: through("unsettled", rows.unsettled),
      renew: (process) => {
        own.add(process.id)
        return through(`renew ${process.id}`, rows.renew(process))
      },
      leave: (process) => through(`leave ${process}`, rows.leave(process)),
      reap: (gone) => through("reap", rows.reap(gone)),
      processes: through("processes", rows.processes),
      claim: (process, flows, now, limit, share) => {
        own.add(process)
        return once("claim", rows.claim(process, flows, now, limit, share))
      },
      claimOne: (process, id) => once(`claim ${id}`, rows.claimOne(process, id)),
      nextDue: (flows, share) => through("next due", rows.nextDue(flows, share)),
      unread: (process) => through("unread", rows.unread(process)),
      limit: (flow, limits) => through(`limit ${flow.flow}`, rows.limit(flow, limits)),
      admit: (process, flow, most) => {
        own.add(process)
        return once("admit", rows.admit(process, flow, most))
      },
      queuePlace: (id) => through(`place ${id}`, rows.queuePlace(id)),
      awaiting: (prefix) => through("awaiting", rows.awaiting(prefix)),
      awaitingAny: (subjects) => through("awaiting any", rows.awaitingAny(subjects)),
      unended: (ids) => through("unended", rows.unended(ids)),
      expire: (states, endedBefore, limit) => through("expire", rows.expire(states, endedBefore, limit)),
      forget: (endedBefore, limit) => through("forget", rows.forget(endedBefore, limit)),
      read: (name) => through(`read ${name}`, rows.read(name)),
      swap: (name, expected, value) => through(`swap ${name}`, rows.swap(name, expected, value)),
      names: (prefix) => through(`names ${prefix}`, rows.names(prefix)),
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
    look: <A, E>(read: (rows: Rows) => Effect.Effect<A, E>): A => Effect.runSyncWith(context)(Effect.orDie(read(rows))),
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
