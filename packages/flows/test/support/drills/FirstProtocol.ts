/**
 * A journal as processes of the first protocol use it, by the rules of their reader: a stand-in for the version before, whose code is
 * not here. It knows five kinds of messages, and ends at others. A suspend that it has read is not taken back, and what arrives after it
 * stays unread. It sends commands as messages, without recording them.
 */
import * as Effect from "effect/Effect"
import { type Message } from "../../../src/internal/model/Execution.ts"
import { Journal } from "../../../src/internal/journal/Journal.ts"

const known: ReadonlyArray<string> = ["signal", "inbox", "done", "cancel", "suspend"]

export const firstProtocol = (rows: Journal["Service"]): Journal["Service"] => {
  /** The suspends that were read, by execution. */
  const suspends = new Map<string, Message>()
  /** Returns messages up to the first suspend. */
  const read = (id: string, messages: ReadonlyArray<Message>) => {
    const strange = messages.find(({ kind }) => !known.includes(kind))
    if (strange !== undefined) return Effect.die(new Error("Not a valid effect"))
    const before = suspends.get(id)
    if (before !== undefined) return Effect.succeed([before])
    const first = messages.find(({ kind }) => kind === "suspend")
    if (first === undefined) return Effect.succeed(messages)
    suspends.set(id, first)
    return Effect.succeed(messages.filter(({ seq }) => seq <= first.seq))
  }
  return Journal.of({
    ...rows,
    renew: ({ protocol: _protocol, ...process }) => rows.renew(process),
    unsettled: Effect.succeed([]),
    messages: (id, after) => Effect.flatMap(rows.messages(id, after), (messages) => read(id, messages)),
    history: (id) =>
      Effect.flatMap(rows.history(id), (history) => {
        suspends.delete(id)
        return history === null
          ? Effect.succeed(null)
          : Effect.map(read(id, history.messages), (messages) => ({ ...history, messages }))
      }),
    change: (id, decide) =>
      rows.change(id, (locked) =>
        Effect.map(decide(locked), (change) => {
          if (change === null) return null
          const { record: _record, settled: _settled, ...others } = change
          if (change.keepsOwner !== true) return others
          // It takes no suspend back.
          return change.command === undefined ? null : { ...others, taken: [] }
        })
      ),
    write: (fence, { begins: _begins, settled: _settled, suspends: carriedOut = [], ...write }) =>
      Effect.gen(function* () {
        // It is released as suspended, whatever has arrived.
        const last = carriedOut.length === 0 ? null : yield* rows.find(fence.id)
        const seen = Math.max(write.seen, last?.mail ?? 0)
        return yield* rows.write(fence, { ...write, taken: [...write.taken, ...carriedOut], seen })
      })
  })
}
