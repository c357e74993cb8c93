/**
 * The model of commands: what a command may do to the rows of an execution, by the action of the table for its standing, and what
 * writes of owners may do while commands are pending.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Action, actions, type Command, standingOf } from "../../../src/internal/model/Commands.ts"
import {
  type Execution,
  type Fence,
  hasEnded,
  type History,
  type Message,
  type Write
} from "../../../src/internal/model/Execution.ts"
import { type Journal } from "../../../src/internal/journal/Journal.ts"
import { cancelPath } from "../../../src/internal/model/Replay.ts"

type Rows = Journal["Service"]

const pending = ({ messages }: Pick<History, "messages">, kind: Message["kind"]) =>
  messages.filter((message) => message.kind === kind)

interface Both {
  readonly before: History
  readonly after: History
}
type Rule = (both: Both) => boolean

const same = (member: keyof Execution, { after, before }: Both) =>
  JSON.stringify(before.execution[member]) === JSON.stringify(after.execution[member])

const changesNothing: Rule = (both) =>
  same("state", both) && same("epoch", both) && same("owner", both) && same("mail", both) && same("round", both)
const goesOn: Rule = (both) => same("state", both) && same("epoch", both) && same("owner", both)
const isTaken: Rule = ({ after, before }) =>
  after.execution.owner === null && after.execution.epoch === before.execution.epoch + 1
const isDue: Rule = ({ after: { execution } }) =>
  execution.queuedAt === null && execution.startsAt === null
    ? execution.state === "waiting" && execution.wakeAt !== null
    : execution.state === "queued"
const retriesUndos: Rule = ({ after }) => after.undos.every(({ state }) => state !== "failed")
const isCancelling: Rule = ({ after }) =>
  pending(after, "cancel").length === 1 || after.entries.some(({ path }) => path === cancelPath)
const isNotSuspending: Rule = ({ after }) => pending(after, "suspend").length === 0

/** What holds after each action. */
const rules: Readonly<Record<Action, ReadonlyArray<Rule>>> = {
  send: [goesOn],
  withdraw: [goesOn, isNotSuspending],
  pause: [isTaken, ({ after }) => after.execution.state === "suspended"],
  reopen: [isTaken, isDue, retriesUndos],
  "reopen and send": [isTaken, isDue, retriesUndos, isCancelling, isNotSuspending],
  end: [isTaken, ({ after }) => after.execution.state === "cancelled" && after.execution.endedAt !== null],
  "set aside": [isTaken, isDue, ({ after, before }) => after.execution.round === before.execution.round + 1],
  move: [isTaken, (both) => same("state", both) && same("round", both)],
  nothing: [changesNothing],
  refuse: [changesNothing]
}
const rulesOf = (command: Command, action: Action): ReadonlyArray<Rule> => {
  if (action !== "send") return rules[action]
  const isSent: Rule = ({ after }) => pending(after, command === "cancel" ? "cancel" : "suspend").length === 1
  return command === "cancel" ? [goesOn, isSent, isNotSuspending] : [goesOn, isSent]
}

export const watch = ({
  look,
  now,
  rows,
  violation
}: {
  readonly rows: Rows
  readonly look: <A, E>(effect: Effect.Effect<A, E>) => A
  readonly now: () => number
  readonly violation: (what: string) => void
}) => ({
  /** Carries out the change of a command, and compares it with the table. */
  command: <A, E>(command: Command, id: string, change: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const before = look(rows.history(id))
      const at = now()
      return Effect.onExit(change, (exit) =>
        Effect.sync(() => {
          // It was repeated after a failure of the database, and others may have come in between.
          if (before === null || now() !== at) return
          const after = look(rows.history(id))
          const standing = standingOf(before.execution, before)
          const action = actions[command][standing]
          const wrong = (what: string) => violation(`gave ${command} to ${id} (${standing}), which ${what}`)
          if (after === null) return wrong("is gone")
          const isRefused = Exit.isFailure(exit)
          if (action === "refuse" && !isRefused) wrong("did not refuse it")
          // A retry or a resume may name a step that there is not.
          const expected = isRefused ? [changesNothing] : rulesOf(command, action)
          for (const [index, rule] of expected.entries()) {
            if (!rule({ before, after })) wrong(`is now ${after.execution.state}: rule ${index} of "${action}"`)
          }
        })
      )
    }),

  /** Claims executions: none before its time, unless its deadline has passed. */
  claimed: (effect: Effect.Effect<ReadonlyArray<Execution>>, due: number) =>
    Effect.tap(effect, (executions) =>
      Effect.sync(() => {
        for (const { deadlineAt, id, queuedAt, startsAt } of executions) {
          const isLate = deadlineAt !== null && deadlineAt <= due
          if (startsAt !== null && startsAt > due && !isLate) violation(`claimed ${id} before its start`)
          if (queuedAt !== null && !isLate) violation(`claimed ${id}, which is in a queue`)
        }
      })
    ),

  /** Carries out a write of an owner: `own` are the ids of its process. */
  write: <E>(
    { epoch, id }: Fence,
    write: Write,
    own: ReadonlySet<string>,
    effect: Effect.Effect<boolean, E>
  ): Effect.Effect<boolean, E> =>
    Effect.suspend(() => {
      const before = look(rows.find(id))
      if (before === null || before.epoch !== epoch) return effect
      const wrong = (what: string) => violation(`wrote ${id}, which ${what}`)
      if (
        before.startsAt !== null &&
        write.execution.startsAt !== null &&
        !hasEnded(write.execution.state ?? "queued")
      ) {
        wrong("has begun, and still says that it starts later")
      }
      if (before.owner !== null && !own.has(before.owner)) wrong(`belongs to ${before.owner}`)
      if (before.owner !== null && (hasEnded(before.state) || before.state === "suspended")) wrong(`is ${before.state}`)
      const suspends = pending({ messages: look(rows.messages(id, 0)) }, "suspend")
      if (suspends.length === 0) return effect
      const there = new Set(look(rows.history(id))?.entries.map(({ attempt, path }) => `${path}.${attempt}`))
      const begun = write.entries.find(
        ({ attempt, ended, kind, path }) => kind === "step" && ended === null && !there.has(`${path}.${attempt}`)
      )
      const at = now()
      return Effect.tap(effect, (written) =>
        Effect.sync(() => {
          if (written && begun !== undefined) wrong(`is to be suspended, and began ${begun.path}`)
          if (now() !== at) return
          const after = look(rows.find(id))
          if (after === null || after.epoch !== epoch || after.state === "suspended" || hasEnded(after.state)) return
          if (write.newChapter === true) return
          const left = pending({ messages: look(rows.messages(id, 0)) }, "suspend").map(({ seq }) => seq)
          const lost = suspends.find(({ seq }) => !left.includes(seq))
          if (lost !== undefined) wrong(`has lost a suspend, and is ${after.state}`)
        })
      )
    })
})
