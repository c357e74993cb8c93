/**
 * A journal in memory, for tests, simulations and flows that need not outlive their process. Values are copied on write and on read,
 * as in a database.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import {
  type Change,
  type Entry,
  type Execution,
  type Expired,
  hasEnded,
  type History,
  isActive,
  Journal,
  type Message,
  type NewMessage,
  OwnershipLost,
  type Page,
  type Process,
  type Undo,
  type Write
} from "../Journal.ts"
import * as Semaphore from "effect/Semaphore"
import * as Admission from "./Admission.ts"
import * as Changes from "./Changes.ts"
import { compareTexts, forgetAfterMillis, idTaken, isReleased, queuedAfter, sameJson } from "./Common.ts"
import * as MemoryDue from "./MemoryDue.ts"
import * as MemoryLimits from "./MemoryLimits.ts"
import {
  attemptOf,
  byBegin,
  byStart,
  copy,
  copyEntry,
  copyExecution,
  copyFailure,
  copyMembers,
  copyMessage,
  copyProcess,
  keyOf,
  newRun,
  type Run
} from "./MemoryRows.ts"

interface Registered extends Process {
  /** Whether its lease expired, and its claims were released. */
  readonly reaped: boolean
}

const isIn =
  ({ before, flow, key, startedBefore, startedFrom, states, tag, version }: Page) =>
  (execution: Execution): boolean =>
    (flow === undefined || execution.flow === flow) &&
    (version === undefined || execution.version === version) &&
    (key === undefined || execution.key === key) &&
    (states === undefined || states.includes(execution.state)) &&
    (tag === undefined || execution.tags.includes(tag)) &&
    (startedFrom === undefined || execution.startedAt >= startedFrom) &&
    (startedBefore === undefined || execution.startedAt < startedBefore) &&
    (before === undefined || byStart(execution, before) < 0)

const isAwaiting = (entry: Entry): entry is Entry & { readonly subject: string } =>
  entry.ended === null && entry.subject !== null

const found = (run: Run | undefined): Execution | null => (run === undefined ? null : copyExecution(run.execution))

const make = () => {
  const all = new Map<string, Run>()
  const ids = new Map<string, string>()
  const expired = new Map<string, Expired>()
  const processes = new Map<string, Registered>()
  const values = new Map<string, Schema.Json>()
  /** The locks of executions whose change is being decided. */
  const held = new Map<string, Latch.Latch>()
  const changes = Changes.make()
  const limits = MemoryLimits.make()
  const due = MemoryDue.make()
  /** Executions that may wait for external events. */
  const awaiters = new Set<Run>()
  const admitting = Semaphore.makeUnsafe(1)

  const isLiving = (process: string, at: number): boolean => {
    const known = processes.get(process)
    return known !== undefined && !known.reaped && (known.expiresAt === null || known.expiresAt > at)
  }

  const update = (run: Run, fields: Partial<Execution>, at: number): Execution => {
    const before = run.execution
    run.execution = { ...before, ...copyMembers(fields), changedAt: at }
    limits.changed(before, run.execution)
    due.changed(before, run)
    run.revision++
    return run.execution
  }

  /** Publishes an execution that needs an owner, or an admission. */
  const tellOfDue = ({ id, limits, owner, state, wakeAt }: Execution, at: number) => {
    if (state === "queued" && limits.length > 0) changes.publish([null, id, false])
    else if (owner === null && isActive(state) && wakeAt !== null && wakeAt <= at) changes.publish([null, id, false])
  }

  const ofKey = (flow: string, key: string): Run | undefined => {
    const id = ids.get(keyOf(flow, key))
    return id === undefined ? undefined : all.get(id)
  }

  const claimed = (run: Run, process: string, at: number): Execution =>
    copyExecution(update(run, { owner: process, epoch: run.execution.epoch + 1 }, at))

  /** Claims an admitted execution. */
  const begin = (process: string, at: number) => (id: string) => {
    const run = all.get(id)
    if (run === undefined || run.execution.state !== "queued") return null
    const epoch = run.execution.epoch + 1
    return copyExecution(update(run, { state: "running", owner: process, epoch, queuedAt: null, wakeAt: at }, at))
  }

  const free = (isFree: (owner: string) => boolean, at: number): number => {
    let freed = 0
    for (const run of all.values()) {
      const { epoch, owner } = run.execution
      if (owner === null || !isFree(owner)) continue
      freed++
      tellOfDue(update(run, { owner: null, wakeAt: at, epoch: epoch + 1 }, at), at)
    }
    return freed
  }

  const put = (run: Run, { kind, id, name, value }: NewMessage, at: number): void => {
    const seq = update(run, { mail: run.execution.mail + 1 }, at).mail
    run.messages.set(seq, copyMessage({ seq, kind, name, id, value, at }))
  }

  const same = (run: Run, { id, kind, name }: NewMessage): Message | undefined =>
    [...run.messages.values()].find((message) => message.kind === kind && message.name === name && message.id === id)

  const putUndos = (run: Run, undos: ReadonlyArray<Undo>): void => {
    for (const undo of undos) run.undos.set(undo.path, copyFailure(undo))
  }

  const setAllAside = (run: Run, seen: number): void => {
    run.aside.push(...[...run.entries.values()].sort(byBegin))
    run.entries.clear()
    run.redos.clear()
    run.undos.clear()
    for (const seq of run.messages.keys()) if (seq <= seen) run.messages.delete(seq)
  }

  const apply = (run: Run, { entries, execution, newChapter = false, seen, taken, undos }: Write, at: number): void => {
    // A repeated write of a chapter that has already begun.
    if (newChapter && execution.chapter === run.execution.chapter) return
    for (const entry of entries) run.entries.set(attemptOf(entry), copyEntry(entry))
    if (entries.some(isAwaiting)) awaiters.add(run)
    putUndos(run, undos)
    for (const seq of taken) run.messages.delete(seq)
    if (newChapter) setAllAside(run, seen)
    run.seen = seen
    const overlooked = isReleased(execution) && run.execution.mail > seen
    const state = overlooked && execution.state === "halted" ? { state: "waiting" as const } : {}
    const written = update(run, overlooked ? { ...execution, ...state, wakeAt: at } : execution, at)
    if (isReleased(execution)) tellOfDue(written, at)
    if (execution.state !== undefined && hasEnded(execution.state)) changes.publish([null, written.id, true])
  }

  const changed = (run: Run, { aside, asideUndos, execution, taken, undos }: Change, at: number): Execution => {
    const before = run.execution
    const asides: Array<Entry> = []
    for (const { attempt, path, redo } of aside) {
      const key = attemptOf({ attempt, path })
      const entry = run.entries.get(key)
      if (entry === undefined) continue
      run.entries.delete(key)
      asides.push(entry)
      if (redo > 0 || entry.state !== "interrupted") run.redos.set(path, Math.max(redo, run.redos.get(path) ?? 0))
    }
    run.aside.push(...asides.sort(byBegin))
    for (const path of asideUndos) run.undos.delete(path)
    putUndos(run, undos)
    for (const seq of taken) run.messages.delete(seq)
    const written = update(
      run,
      {
        ...execution,
        owner: null,
        epoch: before.epoch + 1,
        queuedAt: queuedAfter(before, execution.state, at)
      },
      at
    )
    if (before.owner !== null) changes.publish([before.owner, written.id, false])
    tellOfDue(written, at)
    if (hasEnded(written.state)) changes.publish([null, written.id, true])
    return copyExecution(written)
  }

  const historyOf = ({ entries, execution, messages, redos, undos }: Run): History => ({
    execution: copyExecution(execution),
    entries: [...entries.values()].sort(byBegin).map(copyEntry),
    undos: [...undos.values()]
      .sort((a, b) => a.position - b.position || compareTexts(a.path, b.path))
      .map((undo) => copyFailure(undo)),
    messages: [...messages.values()].map(copyMessage),
    redos: new Map(redos)
  })

  /** Runs `act` when no change of the execution is being decided. */
  const whenFree = Effect.fnUntraced(function* <A>(id: string, act: (at: number) => A) {
    while (true) {
      const at = yield* Clock.currentTimeMillis
      const latch = held.get(id)
      if (latch === undefined) return act(at)
      yield* latch.await
    }
  })

  const hold = (id: string) =>
    whenFree(id, () => {
      const latch = Latch.makeUnsafe()
      held.set(id, latch)
      return latch
    })

  const letGo = (id: string, latch: Latch.Latch) =>
    Effect.sync(() => {
      held.delete(id)
      latch.openUnsafe()
    })

  const decided = Effect.fnUntraced(function* <E>(
    id: string,
    decide: (history: History) => Effect.Effect<Change | null, E>
  ) {
    while (true) {
      const run = all.get(id)
      if (run === undefined) return null
      const { revision } = run
      const decision = yield* decide(historyOf(run))
      const at = yield* Clock.currentTimeMillis
      // Operations on many executions, such as a claim, do not wait for the lock.
      if (all.get(id) !== run || run.revision !== revision) continue
      return decision === null ? copyExecution(run.execution) : changed(run, decision, at)
    }
  })

  const awaitingWhere = (isWanted: (subject: string) => boolean) =>
    Effect.sync(() => {
      for (const run of awaiters) {
        const isThere = all.get(run.execution.id) === run
        if (!isThere || ![...run.entries.values()].some(isAwaiting)) awaiters.delete(run)
      }
      return [...awaiters]
        .filter(({ execution }) => !hasEnded(execution.state))
        .sort((a, b) => compareTexts(a.execution.id, b.execution.id))
        .flatMap(({ entries, execution }) =>
          [...entries.values()]
            .filter(isAwaiting)
            .filter(({ subject }) => isWanted(subject))
            .sort((a, b) => compareTexts(a.path, b.path))
            .map(({ path, subject }) => ({ execution: execution.id, path, subject }))
        )
    })

  const atNow = <A>(f: (at: number) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, f)

  return Journal.of({
    now: Clock.currentTimeMillis,
    create: Effect.fnUntraced(function* ({ messages, ...execution }) {
      const at = yield* Clock.currentTimeMillis
      const { flow, id, key } = execution
      const old = expired.get(keyOf(flow, key))
      if (old !== undefined) return { _tag: "Expired", expired: { ...old } }
      const existing = ofKey(flow, key)
      if (existing !== undefined) return { _tag: "Existing", execution: copyExecution(existing.execution) }
      if (all.has(id)) return yield* Effect.die(idTaken(id))
      const run = newRun(execution, at)
      all.set(id, run)
      ids.set(keyOf(flow, key), id)
      limits.changed(null, run.execution)
      due.changed(null, run)
      for (const message of messages) if (same(run, message) === undefined) put(run, message, at)
      tellOfDue(run.execution, at)
      return { _tag: "Created", execution: copyExecution(run.execution) }
    }),
    find: (id) => Effect.sync(() => found(all.get(id))),
    findKey: (flow, key) => Effect.sync(() => found(ofKey(flow, key))),
    list: (page) =>
      Effect.sync(() =>
        [...all.values()]
          .map(({ execution }) => execution)
          .filter(isIn(page))
          .sort((a, b) => byStart(b, a))
          .slice(0, page.limit)
          .map(copyExecution)
      ),
    history: (id) =>
      Effect.sync(() => {
        const run = all.get(id)
        return run === undefined ? null : historyOf(run)
      }),
    chapters: () => Effect.succeed([]),
    aside: (id) => Effect.sync(() => (all.get(id)?.aside ?? []).map(copyEntry)),
    write: ({ epoch, id }, write) =>
      Effect.flatMap(
        whenFree(id, (at) => {
          const run = all.get(id)
          if (run === undefined || run.execution.epoch !== epoch) return false
          apply(run, write, at)
          return true
        }),
        (isOwner) => (isOwner ? Effect.void : Effect.fail(new OwnershipLost({ id })))
      ),
    send: (id, message) =>
      whenFree(id, (at) => {
        const run = all.get(id)
        if (run === undefined) return { outcome: "absent", owner: null } as const
        const { owner, state, wakeAt } = run.execution
        const there = same(run, message)
        if (there !== undefined) {
          return sameJson(there.value, message.value)
            ? ({ outcome: "repeated", owner } as const)
            : ({ outcome: "conflict", owner: null } as const)
        }
        if (hasEnded(state)) return { outcome: "ended", owner: null } as const
        put(run, message, at)
        // A message to a queued execution stays until it is admitted.
        if (run.execution.queuedAt !== null && state === "queued") return { outcome: "sent", owner } as const
        if (owner === null) tellOfDue(update(run, { wakeAt: Math.min(wakeAt ?? at, at) }, at), at)
        else changes.publish([owner, id, false])
        return { outcome: "sent", owner } as const
      }),
    messages: (id, after) =>
      Effect.sync(() => {
        const run = all.get(id)
        const later: Array<Message> = []
        if (run === undefined) return later
        // By number, so that an execution with thousands of messages reads each once.
        for (let seq = after + 1; seq <= run.execution.mail; seq++) {
          const message = run.messages.get(seq)
          if (message !== undefined) later.push(copyMessage(message))
        }
        return later
      }),
    change: (id, decide) =>
      Effect.acquireUseRelease(
        hold(id),
        () => decided(id, decide),
        (latch) => letGo(id, latch)
      ),
    renew: (process) =>
      atNow((at) => {
        const isLost = processes.has(process.id) && !isLiving(process.id, at)
        if (isLost) free((owner) => owner === process.id, at)
        processes.set(process.id, { ...copyProcess(process), reaped: false })
        return !isLost
      }),
    leave: (process) =>
      atNow((at) => {
        processes.delete(process)
        free((owner) => owner === process, at)
      }),
    reap: (at, gone = []) =>
      Effect.sync(() => {
        for (const [id, process] of processes) {
          if (isLiving(id, at) && !gone.includes(id)) continue
          if ((process.expiresAt ?? at) <= at - forgetAfterMillis) processes.delete(id)
          else processes.set(id, { ...process, reaped: true })
        }
        return free((owner) => processes.get(owner)?.reaped !== false, at)
      }),
    processes: (at) =>
      Effect.sync(() =>
        [...processes.values()]
          .filter(({ id }) => isLiving(id, at))
          .sort((a, b) => compareTexts(a.id, b.id))
          .map(copyProcess)
      ),
    claim: (process, flows, now, limit, share) =>
      atNow((at) => due.claim(flows, now, limit, share, (run) => claimed(run, process, at))),
    claimOne: (process, id) =>
      whenFree(id, (at) => {
        const run = all.get(id)
        if (run === undefined || hasEnded(run.execution.state) || run.execution.queuedAt !== null) return null
        const { owner } = run.execution
        return owner !== null && isLiving(owner, at) ? null : claimed(run, process, at)
      }),
    nextDue: (flows, share) => Effect.sync(() => due.next(flows, share)),
    unread: (process) =>
      Effect.sync(() =>
        [...all.values()]
          .filter(({ execution, seen }) => execution.owner === process && execution.mail > seen)
          .map(({ execution }) => execution.id)
          .sort(compareTexts)
      ),
    limit: (flow, of) => Effect.sync(() => limits.limit(flow, of)),
    admit: (process, flow, most) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        limits.isWaiting(flow)
          ? Admission.admit(limits.rowsOf(flow, at, begin(process, at)), flow, most, at)
          : Effect.succeed({ executions: [], more: false, next: null })
      ).pipe(Semaphore.withPermit(admitting), Effect.uninterruptible),
    queuePlace: (id) =>
      atNow((at) => {
        const run = all.get(id)
        return run === undefined ? null : limits.place(run.execution, at)
      }),
    awaiting: (prefix) => awaitingWhere((subject) => subject.startsWith(prefix)),
    awaitingAny: (subjects) => {
      const wanted = new Set(subjects)
      return awaitingWhere((subject) => wanted.has(subject))
    },
    unended: (ids) =>
      Effect.sync(
        () =>
          new Set(
            ids.filter((id) => {
              const run = all.get(id)
              return run !== undefined && !hasEnded(run.execution.state)
            })
          )
      ),
    expire: (states, endedBefore, limit) =>
      Effect.sync(() => {
        const old = [...all.values()]
          .flatMap(({ execution: { endedAt, flow, id, key, state, version } }) =>
            endedAt !== null && endedAt < endedBefore && states.includes(state)
              ? [{ id, flow, version, key, state, endedAt }]
              : []
          )
          .sort((a, b) => a.endedAt - b.endedAt || compareTexts(a.id, b.id))
          .slice(0, limit)
        for (const one of old) {
          const run = all.get(one.id)
          if (run !== undefined) limits.changed(run.execution, null)
          all.delete(one.id)
          ids.delete(keyOf(one.flow, one.key))
          expired.set(keyOf(one.flow, one.key), one)
        }
        return old.length
      }),
    forget: (endedBefore, limit) =>
      Effect.sync(() => {
        const old = [...expired]
          .filter(([, { endedAt }]) => endedAt < endedBefore)
          .sort(([, a], [, b]) => a.endedAt - b.endedAt || compareTexts(a.id, b.id))
          .slice(0, limit)
        for (const [key] of old) expired.delete(key)
        return old.length
      }),
    read: (name) => Effect.sync(() => copy(values.get(name) ?? null)),
    swap: (name, expected, value) =>
      Effect.sync(() => {
        if (value === null && !values.has(name)) return true
        if (!sameJson(values.get(name) ?? null, expected)) return false
        if (value === null) values.delete(name)
        else values.set(name, copy(value))
        return true
      }),
    names: (prefix) =>
      Effect.sync(() => [...values].flatMap(([name]) => (name.startsWith(prefix) ? [name] : [])).sort(compareTexts)),
    changes: (onChange) => changes.hear(onChange)
  })
}

/** A journal that lives as long as the layer. */
export const layer: Layer.Layer<Journal> = Layer.sync(Journal, make)
