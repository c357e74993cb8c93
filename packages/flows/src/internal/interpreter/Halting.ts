/**
 * Halts an execution: because its code threw, or because its body does not fit the record.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { FlowChanged, RecordUnreadable } from "../../FlowErrors.ts"
import { failureOf } from "../model/Failure.ts"
import { isBehind, type Activation, wake } from "./Activation.ts"
import { nowhere, type Where } from "./Halts.ts"
import type { Operation } from "./state/Operation.ts"

export interface Halted {
  readonly cause: Cause.Cause<unknown>
  /** False: another build may be able to continue. */
  readonly mine: boolean
  readonly where: Where
}

const isMisfit = (error: unknown) => error instanceof FlowChanged || error instanceof RecordUnreadable

/** Halts the execution; the first cause counts. */
export const halt = (activation: Activation, cause: Cause.Cause<unknown>, where: Partial<Where> = {}) => {
  activation.halted ??= {
    cause,
    mine: !isMisfit(Cause.squash(cause)),
    where: { ...nowhere, after: activation.operations.lastDelivered(), ...where }
  }
  wake(activation)
}

/** Halts the execution because its code threw. Code that was recorded got further, so another build may be able to continue. */
export const haltBody = (activation: Activation, cause: Cause.Cause<unknown>) => {
  const behind = isBehind(activation)
  halt(activation, cause)
  if (behind && activation.halted?.cause === cause) activation.halted = { ...activation.halted, mine: false }
}

/** Goes on although the execution was to halt. */
export const dismiss = (activation: Activation) => {
  activation.halted = null
}

/** The error with which the whole body ended, when that is why it did not reach the recorded step. */
const errorOf = ({ phase }: Activation) =>
  phase._tag === "Ended" && Exit.isFailure(phase.exit) ? phase.exit.cause : null

/** Halts the execution because the body does not fit the record: it reached another operation, or ended. */
export const changedFlow = (
  activation: Activation,
  recorded: string,
  reached: Operation | null,
  inputs: FlowChanged["inputs"] = null
) => {
  const { execution, replay } = activation
  const error = reached === null ? errorOf(activation) : null
  // An exception is more informative than the step that was not reached because of it.
  if (error !== null && !Cause.hasFails(error) && !Cause.hasInterruptsOnly(error)) return haltBody(activation, error)
  const failure = error !== null && Cause.hasFails(error) ? failureOf(error) : null
  const { flow, id, version } = execution
  const other = reached?.spec
  const isSamePath = other?.path === recorded
  const changed = new FlowChanged({
    flow,
    version,
    execution: id,
    recorded,
    reached:
      other === undefined
        ? null
        : isSamePath && inputs === null
          ? `${other.path} (${other.kind} ${other.name})`
          : other.path,
    inputs,
    ...defined({
      isRecorded: other === undefined || isSamePath || replay.at(other.path) === undefined ? undefined : true,
      failure: failure === null ? undefined : { tag: failure.tag, message: failure.message }
    })
  })
  const entry = replay.at(recorded)
  halt(activation, Cause.die(changed), {
    recorded: { path: recorded, kind: entry?.kind ?? "step", name: entry?.name ?? recorded },
    reached: other === undefined ? null : { path: other.path, kind: other.kind, name: other.name }
  })
}
