/**
 * Why executions are halted: a code for each cause, its details, and the one next thing to do.
 */
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { FlowDefect } from "../../FlowDefect.ts"
import {
  BodyStalled,
  endPath,
  FlowChanged,
  RecordUnreadable,
  StepCutOff,
  StepStalled,
  UndoFailed,
  UnreadableValue
} from "../../FlowErrors.ts"
import type { Failure } from "../../FlowEvents.ts"
import { encryptedType } from "../model/Envelope.ts"
import { detailOf } from "../model/Failure.ts"
import { type Entry, type Execution, type History, versionName } from "../model/Execution.ts"

/** A step or a wait, as it is recorded or as the body calls it now. */
const Operation = Schema.Struct({ path: Schema.String, kind: Schema.String, name: Schema.String })
export interface Operation extends Schema.Schema.Type<typeof Operation> {}

/** The place of a halt, as far as it is known. */
export interface Where {
  /** The recorded step that the body did not reach. */
  readonly recorded: Operation | null
  /** The step that it reached instead. */
  readonly reached: Operation | null
  /** The step or wait whose end the body got last. */
  readonly after: string | null
  /** The step that died. */
  readonly step: string | null
}

export const nowhere: Where = { recorded: null, reached: null, after: null, step: null }

const cause = {
  code: Schema.String,
  recorded: Schema.NullOr(Operation),
  reached: Schema.NullOr(Operation),
  after: Schema.NullOr(Schema.String),
  value: Schema.NullOr(UnreadableValue),
  /** The host and the process where it halted. */
  host: Schema.NullOr(Schema.String),
  process: Schema.NullOr(Schema.String)
}

/** The members of a halt that are stored with the failure of the execution. */
const Stored = Schema.Struct({
  halt: Schema.Struct({
    ...cause,
    /** Whether another build may be able to continue it. */
    refused: Schema.Boolean
  })
})
type StoredHalt = (typeof Stored.Type)["halt"]

const storedIn = Schema.decodeUnknownOption(Stored)

/** The failure of a halted execution, as it is stored. */
export interface HaltedFailure extends Failure {
  readonly halt: StoredHalt
}

/** Codes are added; so readers get them as text. */
export type HaltCode =
  | "STEPS_CHANGED"
  | "ORDER_CHANGED"
  | "INPUT_CHANGED"
  | "RESULT_CHANGED"
  | "BODY_FAILED"
  | "BODY_DEFECT"
  | "STEP_DEFECT"
  | "RULE_BROKEN"
  | "RECORD_UNREADABLE"
  | "STEP_CUT_OFF"
  | "UNDO_FAILED"
  | "STALLED"

/** The codes of halts that a build causes, so that the next one may continue the execution. */
export const deploymentHalts = [
  "STEPS_CHANGED",
  "ORDER_CHANGED",
  "INPUT_CHANGED",
  "RESULT_CHANGED",
  "BODY_FAILED",
  "BODY_DEFECT",
  "STEP_DEFECT",
  "RULE_BROKEN",
  "RECORD_UNREADABLE"
] as const satisfies ReadonlyArray<HaltCode>

/** Why an execution is halted. */
export interface Halt extends Omit<StoredHalt, "refused"> {
  /** Such as `STEPS_CHANGED`; versions after this one may have others. */
  readonly code: string
  /** The cause in one sentence. */
  readonly message: string
  /** The tag or the name of the error or exception. */
  readonly error: string | null
  /** The next thing to do. */
  readonly remedy: string
  /** When it halted: milliseconds since 1970. */
  readonly since: number
  /** The last attempt of a step before: where and when it began. */
  readonly lastRun: { readonly path: string; readonly host: string; readonly at: number } | null
}

const codeOfChange = ({ failure, inputs, isRecorded, recorded }: FlowChanged): HaltCode => {
  if (inputs !== null) return recorded === endPath ? "RESULT_CHANGED" : "INPUT_CHANGED"
  if (isRecorded === true) return "ORDER_CHANGED"
  return failure === undefined ? "STEPS_CHANGED" : "BODY_FAILED"
}

const classes = [
  [RecordUnreadable, "RECORD_UNREADABLE"],
  [StepCutOff, "STEP_CUT_OFF"],
  [UndoFailed, "UNDO_FAILED"],
  [BodyStalled, "STALLED"],
  [StepStalled, "STALLED"],
  [FlowDefect, "RULE_BROKEN"]
] as const

/** Returns the code of the cause of a halt. */
export const codeOf = (cause: Cause.Cause<unknown>, { step }: Where): HaltCode => {
  const error = Cause.squash(cause)
  if (error instanceof FlowChanged) return codeOfChange(error)
  const known = classes.find(([constructor]) => error instanceof constructor)
  return known?.[1] ?? (step === null ? "BODY_DEFECT" : "STEP_DEFECT")
}

/** Returns the failure of an execution that halts, for the record. */
export const haltedBy = (
  halted: { readonly cause: Cause.Cause<unknown>; readonly mine: boolean; readonly where: Where },
  by: { readonly host: string; readonly process: string | null }
): HaltedFailure => {
  const error = Cause.squash(halted.cause)
  const { after, recorded, reached } = halted.where
  return {
    ...detailOf(halted.cause),
    halt: {
      code: codeOf(halted.cause, halted.where),
      recorded,
      reached,
      after,
      value: error instanceof RecordUnreadable ? (error.value ?? null) : null,
      ...by,
      refused: !halted.mine
    }
  }
}

/** Codes of halts that earlier builds have stored, by the tag of the failure. */
const earlier: Readonly<Record<string, HaltCode>> = {
  FlowChanged: "STEPS_CHANGED",
  RecordUnreadable: "RECORD_UNREADABLE",
  StepCutOff: "STEP_CUT_OFF",
  UndoFailed: "UNDO_FAILED",
  FlowDefect: "RULE_BROKEN"
}

const storedHalt = (failure: Failure | null, entries: ReadonlyArray<Entry>): StoredHalt => {
  const stored = storedIn(failure)
  if (Option.isSome(stored)) return stored.value.halt
  const tag = failure?.tag ?? ""
  const died = entries.some(({ ended, failure: own }) => ended === null && own?.message === failure?.message)
  return {
    code: Object.hasOwn(earlier, tag) ? (earlier[tag] ?? "BODY_DEFECT") : died ? "STEP_DEFECT" : "BODY_DEFECT",
    recorded: null,
    reached: null,
    after: null,
    value: null,
    host: null,
    process: null,
    refused: tag === "FlowChanged" || tag === "RecordUnreadable"
  }
}

/** Returns an execution with the failure as programs see it: without the halt, which the inspection has. */
export const shown = <E extends Pick<Execution, "failure">>(execution: E): E => {
  const { failure } = execution
  if (failure === null || !("halt" in failure)) return execution
  const { halt: _halt, ...rest } = failure
  return { ...execution, failure: rest }
}

/** Whether all builds have refused an execution, so that a new one may continue it. */
export const isRefused = ({ failure, state }: Pick<Execution, "failure" | "state">): boolean =>
  state === "halted" && storedHalt(failure, []).refused

/** Returns the code of the halt of a failure. */
export const codeIn = (failure: Failure): string => storedHalt(failure, []).code

interface Known {
  readonly history: History
  readonly halt: StoredHalt
}

const again = ({ history: { execution }, halt }: Known): string =>
  halt.refused
    ? `it continues automatically when a corrected build registers ${versionName(execution)}`
    : "then resume the execution; or cancel it, which runs its undos"

const orElse = "or cancel it, which undoes what still fits"

/** The next thing to do for each code. */
const remedies: Readonly<Record<HaltCode, (known: Known) => string>> = {
  STEPS_CHANGED: ({ history: { execution } }) =>
    `run code that fits its record as ${versionName(execution)}, and the changed code under a new version: it continues when ` +
    `that is registered; ${orElse}`,
  ORDER_CHANGED: ({ halt: { reached, recorded }, history: { execution } }) =>
    `call ${recorded?.path ?? "the recorded step"} before ${reached?.path ?? "the other"} again in ` +
    `${versionName(execution)}, and deploy the new order as a new version: it continues when that is registered; ${orElse}`,
  INPUT_CHANGED: ({ halt: { recorded }, history: { execution } }) =>
    `make ${recorded?.path ?? "the step"} get the recorded input in ${versionName(execution)}, or deploy the change as a new ` +
    `version: it continues when that is registered; ${orElse}`,
  RESULT_CHANGED: ({ history: { execution } }) =>
    `return what was recorded in ${versionName(execution)}, or deploy the change as a new version`,
  BODY_FAILED: (known) => `correct the body, so that it does not fail${afterOf(known)}: ${again(known)}; ${orElse}`,
  BODY_DEFECT: (known) =>
    `correct the program and start it${known.halt.refused ? `: ${again(known)}; ${orElse}` : `, ${again(known)}`}`,
  STEP_DEFECT: (known) => `correct the program and start it, ${again(known)}`,
  RULE_BROKEN: (known) =>
    `correct the program and start it${known.halt.refused ? `: ${again(known)}; ${orElse}` : `, ${again(known)}`}`,
  RECORD_UNREADABLE: ({ halt, history }) =>
    halt.value?.type === encryptedType
      ? `start a program whose \`values\` have ${halt.value.expected}: ${again({ halt, history })}; if that was erased, cancel the ` +
        "execution, or terminate it when undos are left"
      : `make the schema of ${halt.value?.what ?? "the value"} accept what is recorded, and start that build: ` +
        `${again({ halt, history })}; ${orElse}`,
  STEP_CUT_OFF: ({ history: { entries } }) => {
    const path = entries.findLast(({ kind, state }) => kind === "step" && state === "running")?.path
    return path === undefined
      ? "check what the step did, then retry from it"
      : `check what ${path} did; then retry from ${path} to do it again, or cancel the execution`
  },
  UNDO_FAILED: ({ history: { undos } }) => {
    const failed = undos.filter(({ state }) => state === "failed").map(({ path }) => path)
    return `correct the reason why ${failed.join(", ")} could not be undone, then resume; or undo it by hand and resume with skip`
  },
  STALLED: ({ history: { execution } }) =>
    execution.failure?.tag === "StepStalled"
      ? `let the step compute in a worker thread or in smaller pieces, start the program as ${versionName(execution)}, then ` +
        "resume; or cancel the execution, which runs its undos"
      : "make the body end when it is cancelled, or move the long work into a step; start that build and resume: the cancel " +
        "continues and its undos run. Or terminate it, which undoes nothing"
}

const afterOf = ({ halt: { after } }: Known): string => (after === null ? "" : ` after ${after}`)

const isKnown = (code: string): code is HaltCode => Object.hasOwn(remedies, code)

/** The sentence of a cause that is an exception: its message does not say where it was thrown. */
const thrown: Readonly<Partial<Record<string, (known: Known) => string>>> = {
  BODY_DEFECT: (known) => `the body of ${versionName(known.history.execution)} threw${afterOf(known)}`,
  STEP_DEFECT: ({ history: { entries } }) => {
    const path = entries.findLast(({ ended, failure }) => ended === null && failure !== null)?.path
    return path === undefined ? "a step threw" : `the step ${path} threw`
  }
}

const errorLine = ({ message, tag }: Failure): string =>
  tag === null || tag === message ? message : `${tag}: ${message}`

/** Returns why an execution is halted, or was when it was suspended; null when it is not. */
export const haltOf = (history: History): Halt | null => {
  const { entries, execution } = history
  const { changedAt, failure, state } = execution
  if (state !== "halted" || failure === null) return null
  const { refused, ...halt } = storedHalt(failure, entries)
  const known = { history, halt: { ...halt, refused } }
  const where = thrown[halt.code]
  const last = entries.findLast(({ host }) => host !== null)
  return {
    ...halt,
    message: where === undefined ? failure.message : `${where(known)}: ${errorLine(failure)}`,
    error: failure.tag,
    remedy: isKnown(halt.code)
      ? remedies[halt.code](known)
      : "correct the program and start it, then resume; or cancel it",
    since: changedAt,
    lastRun: last === undefined ? null : { path: last.path, host: last.host ?? "", at: last.startedAt }
  }
}

/** The members of a halt on the wire, without its times. */
export const wireFields = {
  ...cause,
  message: Schema.String,
  error: Schema.NullOr(Schema.String),
  remedy: Schema.String
}
