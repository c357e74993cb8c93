/**
 * Decides on commands under the lock of their execution: what they change, and what becomes of them and of earlier ones.
 */
import * as Effect from "effect/Effect"
import { ExecutionConflict } from "../../FlowErrors.ts"
import {
  type Action,
  actions,
  cancelledBefore,
  cancelledInQueue,
  type Command,
  commands as known,
  paused,
  recorded,
  refusal,
  reopenedToCancel,
  resumed,
  sent,
  type Standing,
  standingOf,
  terminated,
  withdrawn
} from "../model/Commands.ts"
import {
  type Change,
  type CommandOutcome,
  type CommandRow,
  type Execution,
  hasEnded,
  type Locked,
  newestProtocol
} from "../model/Execution.ts"
import { cancelledBy, cancelPath } from "../model/Replay.ts"

/** A command for one execution. */
export interface Order<E> {
  readonly command: Command
  readonly id: string
  readonly by: string | null
  /** Computes the new record of an execution that is made due again, or is moved. */
  readonly reopen: (locked: Locked, now: number) => Effect.Effect<Change, E>
}

export interface Decision {
  /** Null for a repeated command, which was decided before. */
  readonly action: Action | null
  readonly change: Change | null
}

/** The pending commands that a command supersedes. */
const supersedes: Readonly<Record<Command, ReadonlyArray<string>>> = {
  cancel: ["suspend", "resume"],
  terminate: ["cancel", "suspend", "resume"],
  suspend: ["resume"],
  resume: ["suspend"],
  retry: ["cancel", "suspend", "resume"],
  reschedule: []
}

/**
 * The protocol that the owner must read for an action to reach it; the others reach any owner, or need none. An owner of the first one
 * keeps a suspend that it has read.
 */
const needs: Readonly<Partial<Record<Action, number>>> = { withdraw: 2 }

export const conflict = ({ id, state }: Execution, message: string) =>
  new ExecutionConflict({ execution: id, state, message })

const isPending = ({ outcome }: CommandRow) => outcome === null

/** Whether a pending command is void: its execution has ended, or another round has begun. */
export const isVoid = ({ round, state }: Pick<Execution, "round" | "state">, command: CommandRow): boolean =>
  isPending(command) && (hasEnded(state) || command.round < round)

/**
 * Returns what a void command came to. An owner of an earlier protocol carries out a cancel without recording that; a resume that waited
 * for another owner was not needed.
 */
export const voidOutcome = (
  { round, state }: Pick<Execution, "round" | "state">,
  command: CommandRow
): CommandOutcome => {
  if (command.round < round) return "too late"
  const isDone = command.command === "resume" || (command.command === "cancel" && state === "cancelled")
  return isDone ? "applied" : "too late"
}

type Settled = NonNullable<Change["settled"]>

const voided = ({ commands, execution }: Locked): Settled =>
  commands
    .filter((one) => isVoid(execution, one))
    .map((one) => ({ number: one.number, outcome: voidOutcome(execution, one) }))

const superseded = (command: Command, { commands, execution }: Locked): Settled =>
  commands
    .filter((one) => isPending(one) && !isVoid(execution, one) && supersedes[command].includes(one.command))
    .map(({ number }) => ({ number, outcome: "superseded" }))

/** Whether a command waits for an owner that understands it. */
const waits = (action: Action, { messages, protocol }: Locked): boolean =>
  protocol !== null && protocol < (needs[action] ?? 0) && messages.some(({ kind }) => kind === "suspend")

interface Carried {
  readonly change: Change
  readonly outcome: CommandOutcome | null
  /** The message of an equal command that is pending. */
  readonly seq?: number | null
}

/** Returns what a command that changes nothing comes to. */
const unneeded = (command: Command, standing: Standing, { commands, entries, execution }: Locked): Carried => {
  const equal = commands.findLast((one) => isPending(one) && !isVoid(execution, one) && one.command === command)
  if (equal !== undefined) return { change: recorded, outcome: null, seq: equal.seq }
  const cancels = entries.filter(({ path }) => path === cancelPath)
  const isEndingOtherwise =
    command === "cancel" &&
    ((standing === "undoing" && cancels.length === 0) || cancels.some(({ value }) => cancelledBy(value) === "deadline"))
  return { change: recorded, outcome: hasEnded(execution.state) || isEndingOtherwise ? "too late" : "applied" }
}

/** Returns the change of a command that is not refused. `reopening` is the change of one that makes the execution due again, or moves it. */
const carried = (
  command: Command,
  standing: Standing,
  locked: Locked,
  now: number,
  reopening: Change | null
): Carried => {
  const action = actions[command][standing]
  const cancelled = locked.execution.startsAt === null ? cancelledInQueue : cancelledBefore
  switch (action) {
    case "end":
      return { change: (command === "cancel" ? cancelled : terminated)(now), outcome: "applied" }
    case "pause":
      return { change: paused, outcome: "applied" }
    case "send":
      return { change: sent(command === "suspend" ? "suspend" : "cancel", locked), outcome: null }
    case "withdraw":
      return { change: withdrawn(locked), outcome: waits(action, locked) ? null : "applied" }
    case "reopen and send":
      return { change: reopenedToCancel(locked, now), outcome: null }
    default:
      return reopening === null ? unneeded(command, standing, locked) : { change: reopening, outcome: "applied" }
  }
}

const isReopening = (action: Action) => action === "reopen" || action === "set aside"

/** Decides on a command as the table of actions says. */
export const decide = Effect.fnUntraced(function* <E>(
  { by, command, id, reopen }: Order<E>,
  locked: Locked,
  now: number
): Effect.fn.Return<Decision, ExecutionConflict | E> {
  const { commands, execution } = locked
  const same = commands.find((one) => one.id === id)
  if (same?.command === command) return { action: null, change: null }
  if (same !== undefined) {
    const message = `id: the execution ${execution.id} got a ${same.command} with the id ${JSON.stringify(id)} before`
    return yield* conflict(execution, message)
  }
  const standing = standingOf(execution, locked)
  const action = actions[command][standing]
  if (action === "refuse") {
    return yield* conflict(execution, `the execution ${execution.id} ${refusal(command, execution.state)}`)
  }
  const reopening = isReopening(action) || action === "move" ? yield* reopen(locked, now) : null
  const { change, ...what } = carried(command, standing, locked, now, reopening)
  // A cancel that changes nothing does not end a suspend of the undos.
  const ended = action === "nothing" && command !== "suspend" ? [] : superseded(command, locked)
  return {
    action,
    change: { ...change, record: { id, command, by, ...what }, settled: [...voided(locked), ...ended] }
  }
})

/** Decides again on the last pending command of an execution, unless its owner or the next one will read it. */
export const again = (locked: Locked, now: number): Change | null => {
  const { commands, execution, messages, protocol } = locked
  const settled = voided(locked)
  const rest = settled.length === 0 ? null : { ...recorded, settled }
  const last = commands.findLast((one) => isPending(one) && !isVoid(execution, one))
  const command = known.find((one) => one === last?.command)
  if (last === undefined || command === undefined) return rest
  const isThere = messages.some(({ seq }) => seq === last.seq)
  const isAtRest = execution.state === "suspended" || execution.state === "halted"
  if ((protocol !== null && protocol < newestProtocol) || (isThere && !isAtRest)) return rest
  const standing = standingOf(execution, locked)
  const action = actions[command][standing]
  const { by, id, number } = last
  const record = { number, id, command, by }
  if (action === "refuse") return { ...recorded, record: { ...record, outcome: "too late" }, settled }
  const others = { ...locked, commands: commands.filter((one) => one !== last) }
  const reopening = isReopening(action) ? resumed(locked, now, []) : null
  const { change, ...what } = carried(command, standing, others, now, reopening)
  return { ...change, record: { ...record, ...what }, settled }
}
