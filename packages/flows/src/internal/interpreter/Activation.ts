/**
 * An activation, which is an execution in memory: the values on which the parts of the interpreter work. Each value has its own file
 * in `state/`, and only its functions change it.
 */
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Schema from "effect/Schema"
import { type FlowEvent, FlowEvents } from "../../FlowEvents.ts"
import type { Branch, Branches } from "./Branches.ts"
import { publishTo } from "../model/Failure.ts"
import type { Halted } from "./Halting.ts"
import type { Host, Options } from "./Contract.ts"
import type { Outside } from "./Outside.ts"
import type { Unreported } from "./Reports.ts"
import * as Replay from "../model/Replay.ts"
import { nothingSaid } from "../model/Said.ts"
import * as Inbox from "./state/Inbox.ts"
import * as Leaving from "./state/Leaving.ts"
import * as Mailbox from "./state/Mailbox.ts"
import * as OpenOperations from "./state/OpenOperations.ts"
import type { Operation } from "./state/Operation.ts"
import * as Phase from "./state/Phase.ts"
import * as Saying from "./state/Saying.ts"
import * as Undos from "./state/Undos.ts"
import * as Unwritten from "./state/Unwritten.ts"

export interface Activation extends Pick<Options, "execution" | "history" | "host" | "body"> {
  readonly publish: (event: (now: number) => FlowEvent) => Effect.Effect<void>
  readonly clock: Clock.Clock
  /** Opened by every event that the loop must process. */
  readonly changed: Latch.Latch
  /** The time of the last turn of the loop. */
  now: number

  readonly replay: Replay.Replay
  readonly branches: Branches
  readonly operations: OpenOperations.OpenOperations
  readonly undos: Undos.Undos
  readonly inbox: Inbox.Inbox
  readonly mailbox: Mailbox.Mailbox
  readonly unwritten: Unwritten.Unwritten
  readonly saying: Saying.Saying
  readonly leaving: Leaving.Leaving

  /** Events that are processed one at a time. */
  readonly ready: Array<() => Effect.Effect<void>>
  /** Running steps that have said something that is not passed to a write; see `Reports`. */
  readonly reporting: Map<Operation, Unreported>
  /** What is published of interrupted steps at the next turn. */
  readonly cutOff: Array<(at: number) => FlowEvent>

  /** The branch of the whole body, when it has started. */
  main: Branch | null
  phase: Phase.Phase
  /** What has cancelled the whole body, if it was; see `Compensation`. */
  cancelled: Replay.CancelledBy | null
  /** See `Halting`. */
  halted: Halted | null
  /** The input of the next chapter. */
  continued: { readonly input: Schema.Json } | null
  /** Set while the body is not at rest; see `Outside`. */
  outside: Outside | null
  /** Whether the execution may have children; the entries that started them may be discarded. */
  mayHaveChildren: boolean
}

export const make = (
  { body, execution, history, host, said = nothingSaid }: Omit<Options, "onSession">,
  branches: Branches,
  now: number,
  clock: Clock.Clock
): Activation => {
  const replay = Replay.make(history)
  return {
    body,
    execution,
    history,
    host,
    publish: publishTo(Context.get(body.context, FlowEvents)),
    clock,
    changed: Latch.makeUnsafe(),
    now,
    replay,
    branches,
    operations: OpenOperations.make(),
    undos: Undos.make(history),
    // Earlier messages were processed, or are in the history.
    inbox: Inbox.make(execution.mail),
    mailbox: Mailbox.make(history),
    unwritten: Unwritten.make(replay.end, execution),
    saying: Saying.make(said),
    leaving: Leaving.make(),
    ready: [],
    reporting: new Map(),
    cutOff: [],
    main: null,
    phase: Phase.running,
    cancelled: null,
    halted: null,
    continued: null,
    outside: null,
    mayHaveChildren:
      execution.chapter > 0 || history.redos.size > 0 || history.entries.some(({ kind }) => kind === "child")
  }
}

export const wake = ({ changed }: Activation) => void changed.openUnsafe()

/** Whether steps and waits may begin. */
export const isOpen = ({ halted, leaving }: Activation): boolean => halted === null && leaving.stays()

/** When the deadline interrupts the body; `Infinity`: never, or not any more. */
export const deadlineOf = ({ cancelled, execution, phase }: Activation): number =>
  execution.deadlineAt === null || cancelled !== null || phase._tag !== "Running" ? Infinity : execution.deadlineAt

/** Whether the record has something that the body has not reached yet. */
export const isBehind = ({ replay }: Pick<Activation, "replay">): boolean =>
  replay.next() !== undefined || replay.missed() !== null

/** Whether the host only replays the record. */
export const isReplay = ({ onEdge }: Host): boolean => onEdge !== undefined
