/**
 * A journal whose values are encrypted on their way to the rows, and decrypted on their way back. Names, keys, tags, states and times
 * are not.
 *
 * An execution has one ring of keys for its life, that of its input. A value that cannot be decrypted stays sealed, and is written back
 * as it is.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { KeysErased } from "../../FlowErrors.ts"
import type { Failure } from "../../FlowEvents.ts"
import type { FlowValues } from "../../FlowValues.ts"
import * as Envelope from "../model/Envelope.ts"
import type { Said } from "../model/Said.ts"
import type { Change, Execution, History, Locked, Message, Write } from "../model/Execution.ts"
import { type Conversion, converter } from "../model/ValueMembers.ts"
import { digestOf, sameJson } from "./Common.ts"
import type { Journal, Within } from "./Journal.ts"
import { Rings } from "./Rings.ts"

type TheJournal = typeof Journal.Service

/** Whether a failure is about a missing key: it contains no value, and must be readable without that key. */
const isAboutKey = (failure: Failure): boolean =>
  Predicate.hasProperty(failure, "halt") &&
  Predicate.hasProperty(failure.halt, "value") &&
  Predicate.hasProperty(failure.halt.value, "type") &&
  failure.halt.value.type === Envelope.encryptedType

/** What an erased ring would have encrypted. */
const lost = { key: "", data: "" }

/** Members without values of executions: the others are converted, or this does not compile. */
type Plain =
  | "awaiting"
  | "awaitingAny"
  | "changes"
  | "chapters"
  | "commands"
  | "enqueue"
  | "expire"
  | "feeds"
  | "forget"
  | "isPassing"
  | "leave"
  | "limit"
  | "names"
  | "nextDue"
  | "now"
  | "prepare"
  | "processes"
  | "queuePlace"
  | "read"
  | "reap"
  | "renew"
  | "saidBefore"
  | "sql"
  | "swap"
  | "unended"
  | "unendedCounts"
  | "unread"
  | "unsettled"

export const make = (journal: TheJournal, values: FlowValues): TheJournal => {
  const rings = Rings.make(values, journal.find)

  const sealing = (id: string, ring: string | null) => {
    const value: Conversion["value"] = (json, place) => {
      if (json === null || Envelope.isSealed(json)) return json
      const encrypted =
        ring === null ? null : values.encrypt(ring, JSON.stringify(json), JSON.stringify([id, ...place]))
      const { data, key } = encrypted ?? lost
      return Envelope.seal({ ring: ring ?? "", key, data })
    }
    return converter({
      value,
      // As a whole, in place of its message.
      failure: (failure, place) => {
        const { kind, message, tag } = failure
        if (isAboutKey(failure) || Envelope.isSealed(message)) return failure
        const sealed = value({ ...failure }, place)
        return { kind, tag, message: typeof sealed === "string" ? sealed : "" }
      }
    })
  }

  const opening = (id: string) => {
    const value: Conversion["value"] = (json, place) => {
      if (!Envelope.isSealed(json)) return json
      const { ring, ...encrypted } = Envelope.partsOf(json)
      const text = values.decrypt(ring, encrypted, JSON.stringify([id, ...place]))
      // It was encrypted from JSON.
      return text === null ? json : (JSON.parse(text) as Schema.Json)
    }
    return converter({
      value,
      failure: (failure, place) => {
        const whole = value(failure.message, place)
        // What was encrypted at the place of a failure is one.
        return typeof whole === "string" ? failure : (whole as unknown as Failure)
      }
    })
  }

  const opened = <E extends Execution | null>(execution: E): E => {
    if (execution === null) return execution
    rings.note(execution)
    return opening(execution.id).execution(execution)
  }
  const openedAll = (executions: ReadonlyArray<Execution>) => executions.map(opened)
  const openedHistory = <H extends History | Locked>(history: H): H => {
    const { entry, message, undo } = opening(history.execution.id)
    return {
      ...history,
      execution: opened(history.execution),
      entries: history.entries.map(entry),
      undos: history.undos.map(undo),
      messages: history.messages.map(message)
    }
  }

  const sealedWrite = (id: string, ring: string | null, write: Write): Write => {
    const seal = sealing(id, ring)
    return {
      ...write,
      execution: seal.execution(write.execution),
      entries: write.entries.map(seal.entry),
      undos: write.undos.map(seal.undo),
      said:
        write.said === undefined
          ? undefined
          : {
              ...write.said,
              states: write.said.states.map(seal.said),
              items: write.said.items.map(seal.said),
              answers: write.said.answers.map((answer) => seal.answer({ ...answer, asked: digestOf(answer.input) }))
            }
    }
  }

  const sealedChange = (id: string, ring: string, change: Change): Change => {
    const seal = sealing(id, ring)
    return { ...change, execution: seal.execution(change.execution), undos: change.undos.map(seal.undo) }
  }

  const saidOf = (id: string, all: Effect.Effect<ReadonlyArray<Said>>) =>
    Effect.map(all, (said) => said.map(opening(id).said))

  /** Whether new values with this ring would be lost. */
  const isErased = (ring: string) => values.encrypt(ring, "", "") === null

  const within = (inner: Within): Within => ({
    create: Effect.fnUntraced(function* (execution) {
      const { flow, id, input, key, messages, record } = execution
      const ring = values.ringOf({ flow, input })
      if (isErased(ring)) {
        const existing = yield* inner.findKey(flow, key)
        return existing === null
          ? yield* Effect.die(new KeysErased({ ring }))
          : { _tag: "Existing", execution: opened(existing) }
      }
      const seal = sealing(id, ring)
      const created = yield* inner.create({
        ...seal.execution(execution),
        messages: messages.map(seal.message),
        record:
          record === undefined
            ? undefined
            : { ...record, entries: record.entries.map(seal.entry), undos: record.undos.map(seal.undo) }
      })
      if (created._tag === "Expired") return created
      return { ...created, execution: opened(created.execution) }
    }),
    findKey: (flow, key) => Effect.map(inner.findKey(flow, key), opened),
    send: Effect.fnUntraced(function* (id, message) {
      const ring = yield* rings.of(id)
      if (ring !== null && message.value !== null && isErased(ring)) return yield* Effect.die(new KeysErased({ ring }))
      const open = opening(id)
      return yield* inner.send(id, sealing(id, ring).message(message), (stored) =>
        sameJson(open.message({ ...message, value: stored }).value, message.value)
      )
    })
  })

  const converted: Omit<TheJournal, Plain> = {
    ...within(journal),
    createMany: Effect.fnUntraced(function* (flow, executions) {
      const stored = executions.map((execution) => {
        const ring = values.ringOf({ flow, input: execution.input })
        return { ring, sealed: sealing(execution.id, ring).execution(execution) }
      })
      const gone = stored.find(({ ring }) => isErased(ring))
      if (gone !== undefined) return yield* Effect.die(new KeysErased({ ring: gone.ring }))
      const created = yield* journal.createMany(
        flow,
        stored.map(({ sealed }) => sealed)
      )
      if (created._tag === "Expired") return created
      return { ...created, executions: openedAll(created.executions), created: openedAll(created.created) }
    }),
    debounce: Effect.fnUntraced(function* (execution, debounce) {
      const { flow, id, input } = execution
      const ring = values.ringOf({ flow, input })
      if (isErased(ring)) return yield* Effect.die(new KeysErased({ ring }))
      const sealed = (id: string) => sealing(id, ring).execution({ input }).input
      const burst = yield* journal.debounce({ ...execution, input: sealed(id) }, debounce, sealed)
      rings.forget(burst.execution.id)
      return { ...burst, execution: opened(burst.execution) }
    }),
    states: (id) => saidOf(id, journal.states(id)),
    state: (id, name) => Effect.map(journal.state(id, name), (one) => (one === null ? null : opening(id).said(one))),
    feed: (id, name, page) => saidOf(id, journal.feed(id, name, page)),
    said: (id, after, limit) => saidOf(id, journal.said(id, after, limit)),
    answer: (id, name, message) =>
      Effect.map(journal.answer(id, name, message), (one) => (one === null ? null : opening(id).answer(one))),
    find: (id) => Effect.map(journal.find(id), opened),
    list: (page) => Effect.map(journal.list(page), openedAll),
    history: (id) => Effect.map(journal.history(id), (history) => (history === null ? null : openedHistory(history))),
    aside: (id) => Effect.map(journal.aside(id), (entries) => entries.map(opening(id).entry)),
    messages: (id, after) =>
      Effect.map(journal.messages(id, after), (messages): ReadonlyArray<Message> => messages.map(opening(id).message)),
    write: (fence, write) =>
      Effect.flatMap(rings.of(fence.id), (ring) => journal.write(fence, sealedWrite(fence.id, ring, write))),
    change: (id, decide) =>
      Effect.map(
        journal.change(id, (locked) => {
          const ring = rings.note(locked.execution)
          return Effect.map(decide(openedHistory(locked)), (change) =>
            change === null ? null : sealedChange(id, ring, change)
          )
        }),
        opened
      ),
    claim: (...claim) => Effect.map(journal.claim(...claim), openedAll),
    claimOne: (...claim) => Effect.map(journal.claimOne(...claim), opened),
    admit: (...admission) =>
      Effect.map(journal.admit(...admission), (admitted) => ({
        ...admitted,
        executions: openedAll(admitted.executions)
      })),
    within: (client, use) => journal.within(client, (inner) => use(within(inner))),
    once: (client, step, run) =>
      Effect.flatMap(rings.of(step.execution), (ring) => {
        const { transaction: seal } = sealing(step.execution, ring)
        const { transaction: open } = opening(step.execution)
        const committed = journal.once(
          client,
          step,
          Effect.map(run, (value) => seal(value, step.scope))
        )
        return Effect.map(committed, (value) => open(value, step.scope))
      })
  }
  return { ...journal, ...converted }
}
