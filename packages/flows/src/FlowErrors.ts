/**
 * The errors of flows besides those of their schemas.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Schema from "effect/Schema"

/** An effect under `Flow.timeout` took too long. */
export class FlowTimeout extends TaggedError<FlowTimeout>()("FlowTimeout", {
  path: Schema.String,
  afterMillis: Schema.Finite
}) {
  override get message(): string {
    return `${this.path} took longer than ${this.afterMillis} ms`
  }
}

const excerpt = (json: Schema.Json): string => {
  const text = JSON.stringify(json)
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`
}

/** The path that stands for the end of an execution. */
export const endPath = "#end"

/**
 * The body of a flow took another path than the recorded one, so its recorded results no longer fit. The execution halts with
 * this; nothing is undone. Deploy the code that started the execution, under its version, and the changed code under a new version.
 */
export class FlowChanged extends TaggedError<FlowChanged>()("FlowChanged", {
  flow: Schema.String,
  version: Schema.Finite,
  execution: Schema.String,
  /** A recorded step that was not reached. */
  recorded: Schema.String,
  /** The step that was reached instead and is not recorded; null when the body ended. */
  reached: Schema.NullOr(Schema.String),
  /** The recorded input of the step and the current one, when they differ. */
  inputs: Schema.NullOr(Schema.Struct({ recorded: Schema.Json, reached: Schema.Json })),
  /** Whether the reached step is recorded too, later than the other. */
  isRecorded: Schema.optionalKey(Schema.Boolean),
  /** The error with which the body ended before the recorded step, when it failed. */
  failure: Schema.optionalKey(Schema.Struct({ tag: Schema.NullOr(Schema.String), message: Schema.String }))
}) {
  override get message(): string {
    if (this.inputs !== null && this.recorded === endPath) {
      return (
        `the body of ${this.flow}, version ${this.version}, ended differently from the recorded one: ` +
        `${excerpt(this.inputs.reached)} instead of ${excerpt(this.inputs.recorded)}; what it returns comes from its input ` +
        "and the results of steps"
      )
    }
    if (this.inputs !== null) {
      return (
        `the body of ${this.flow}, version ${this.version}, reached ${this.recorded} with a different input than the recorded ` +
        `one: ${excerpt(this.inputs.reached)} instead of ${excerpt(this.inputs.recorded)}; inputs come from results of ` +
        "steps and from Flow.now, not from the clock or from random numbers"
      )
    }
    if (this.recorded === endPath) {
      return (
        `the body of ${this.flow}, version ${this.version}, continues with ${this.reached} after the recorded end: a body ` +
        "that calls other steps than before needs a new version"
      )
    }
    if (this.isRecorded === true) {
      return (
        `the body of ${this.flow}, version ${this.version}, reached ${this.reached} before the recorded step ${this.recorded}, ` +
        "which the record has first: a body that calls its steps in another order, or leaves one out, needs a new version"
      )
    }
    if (this.failure !== undefined) {
      const { message, tag } = this.failure
      const error = tag === null || tag === message ? message : `${tag}: ${message}`
      return (
        `the body of ${this.flow}, version ${this.version}, failed before the recorded step ${this.recorded}: ${error}; the ` +
        "code that was recorded had passed this point"
      )
    }
    const instead = this.reached === null ? "ended" : `reached ${this.reached}`
    return (
      `the body of ${this.flow}, version ${this.version}, ${instead} before the recorded step ${this.recorded}: a body ` +
      "that calls other steps than before needs a new version"
    )
  }
}

/** A recorded value that the current schema does not accept: where and how, without the value itself. */
export const UnreadableValue = Schema.Struct({
  /** Such as `the recorded result of charge`. */
  what: Schema.String,
  /** The field, such as `lines.0.price`; empty for the value as a whole. */
  path: Schema.String,
  /** What the schema expects there. */
  expected: Schema.String,
  /** The JSON type of what is recorded there: `string`, `object`, …, or `nothing`. */
  type: Schema.String
})
export interface UnreadableValue extends Schema.Schema.Type<typeof UnreadableValue> {}

/**
 * The record does not fit the schemas of the current code. The execution halts with this; it continues automatically when a build
 * is registered that can read it.
 */
export class RecordUnreadable extends TaggedError<RecordUnreadable>()("RecordUnreadable", {
  execution: Schema.String,
  message: Schema.String,
  /** What does not fit, without the value itself. */
  value: Schema.optionalKey(UnreadableValue)
}) {}

/**
 * The program closed its flows while a call waited. An execution that had begun continues in the next program that opens its flow.
 */
export class FlowsClosed extends TaggedError<FlowsClosed>()("FlowsClosed", {
  /** The execution that the call waited for; null when the call may not have arrived. */
  execution: Schema.NullOr(Schema.String)
}) {
  override get message(): string {
    return this.execution === null
      ? "the program closed its flows before the response of the call, which may have been executed: repeat it when the flows " +
          "are open again; inputs with one key are one execution"
      : `the program closed its flows before the execution ${this.execution} had ended: it continues in the next program that ` +
          "opens them; execute it there again to join it"
  }
}

/**
 * A call ended before the database of the flows responded: its limit passed, its caller aborted it, or it had no limit and the database
 * was away for 30 seconds. With `sent: "no"` nothing has changed; with `"maybe"` the call may have been carried out, and repeating it does
 * no harm: inputs with one key are one execution, and a signal has one value. An execution that had begun continues.
 */
export class CallUnanswered extends TaggedError<CallUnanswered>()("CallUnanswered", {
  why: Schema.Literals(["limit", "aborted", "database"]),
  /** Whether a statement that changes something may have reached the database. */
  sent: Schema.Literals(["no", "maybe"]),
  /** The execution that the call waited for, when it had begun. */
  execution: Schema.NullOr(Schema.String),
  /** How long the call waited. */
  afterMillis: Schema.Finite
}) {
  override get message(): string {
    const after = `after ${this.afterMillis} ms`
    const why = {
      limit: `the limit of the call passed ${after}`,
      aborted: `the call was aborted ${after}`,
      database: `the database of the flows did not respond, ${after}`
    }[this.why]
    if (this.execution !== null) {
      return `${why}, before the execution ${this.execution} had ended: it continues; execute it again to join it`
    }
    return this.sent === "no"
      ? `${why}: nothing was sent to the database, so nothing has changed`
      : `${why}: it may have been executed; repeat it: inputs with one key are one execution, and a signal has one value`
  }
}

/** The execution was cancelled. */
export class FlowCancelled extends TaggedError<FlowCancelled>()("FlowCancelled", { execution: Schema.String }) {
  override get message(): string {
    return `the execution ${this.execution} was cancelled`
  }
}

/** The execution had not ended at its deadline: its waits were interrupted, and its undos have run. */
export class DeadlineExceeded extends TaggedError<DeadlineExceeded>()("DeadlineExceeded", {
  execution: Schema.String,
  /** Milliseconds since 1970. */
  deadlineAt: Schema.Finite
}) {
  override get message(): string {
    return `the execution ${this.execution} had not ended at its deadline, ${new Date(this.deadlineAt).toISOString()}`
  }
}

/**
 * The execution is halted: nothing was undone, and a person or a deployment is needed. `signalbox flows show` shows why; `resume`
 * continues it.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import type { FlowHalted } from "@signalbox/flows/FlowErrors"
 *
 * // For what `Flow.execute` and `handle.result` return.
 * export const orCode = <A, R>(executed: Effect.Effect<A, FlowHalted, R>) =>
 *   Effect.catchTag(executed, "FlowHalted", ({ code, execution }) =>
 *     Effect.succeed(`${execution} is halted: ${code ?? "unknown"}`)
 *   )
 * ```
 */
export class FlowHalted extends TaggedError<FlowHalted>()("FlowHalted", {
  execution: Schema.String,
  /** The tag of the error that halted it, such as `FlowChanged`; null when it has none. */
  tag: Schema.NullOr(Schema.String),
  message: Schema.String,
  /** The code of the halt, as in `FlowExecutions.inspect`. */
  code: Schema.optionalKey(Schema.String)
}) {}

/** The execution has ended and is no longer retained. */
export class FlowExpired extends TaggedError<FlowExpired>()("FlowExpired", {
  execution: Schema.String,
  /** The state in which it ended. */
  state: Schema.String,
  /** Milliseconds since 1970. */
  endedAt: Schema.Finite
}) {
  override get message(): string {
    return `the execution ${this.execution} ended ${this.state} and is no longer retained: use a new key to run it again`
  }
}

/** The keys of an execution were erased (`FlowValues`), so nothing new of it can be encrypted. Nothing was recorded. */
export class KeysErased extends TaggedError<KeysErased>()("KeysErased", {
  /** The name of their ring. */
  ring: Schema.String
}) {
  override get message(): string {
    return `the keys ${JSON.stringify(this.ring)} of \`values\` were erased: nothing new can be encrypted with them`
  }
}

/** A step was interrupted by the end of its process, and cannot be run again safely. The execution halts with this. */
export class StepCutOff extends TaggedError<StepCutOff>()("StepCutOff", {
  execution: Schema.String,
  path: Schema.String,
  /** False when the step is declared `repeat: "never"`; true when it was interrupted too long ago. */
  repeatable: Schema.Boolean,
  /** Milliseconds since 1970. */
  startedAt: Schema.Finite
}) {
  override get message(): string {
    return this.repeatable
      ? `the step ${this.path} was interrupted more than six days ago, so its idempotency keys may have expired: check what it ` +
          "did, then retry the execution from it, or complete it by hand"
      : `the step ${this.path} was interrupted and must not be repeated: check what it did, then retry the execution from it`
  }
}

/**
 * A step kept the event loop of its process for so long that the process lost its executions, three times. The execution halts with
 * this; nothing was undone.
 */
export class StepStalled extends TaggedError<StepStalled>()("StepStalled", {
  execution: Schema.String,
  path: Schema.String,
  /** Where it was run the last time. */
  host: Schema.String,
  times: Schema.Finite,
  /** How long the process stood still the last time. */
  millis: Schema.Finite
}) {
  override get message(): string {
    return (
      `the step ${this.path} blocked the event loop of its process until the process lost its executions, ${this.times} times; the last ` +
      `time on ${this.host} for ${Math.round(this.millis / 1_000)} s: let it compute in a worker thread or another process, or in ` +
      "pieces of at most a few seconds with Effect.yieldNow (or an awaited setImmediate) between them; then resume the execution"
    )
  }
}

/**
 * The body was cancelled while it computed or waited outside of a step, and did not end. The execution halts with this; nothing was
 * undone.
 */
export class BodyStalled extends TaggedError<BodyStalled>()("BodyStalled", {
  execution: Schema.String,
  /** The step or wait whose end the body got last; null before the first. */
  after: Schema.NullOr(Schema.String),
  /** Since when nothing was recorded: milliseconds since 1970. */
  since: Schema.Finite
}) {
  override get message(): string {
    const place = this.after === null ? "before its first step" : `after ${this.after}`
    return (
      `the body was cancelled while it computed or waited outside of a step ${place}, and has not ended: it runs since ` +
      new Date(this.since).toISOString()
    )
  }
}

/** Undos failed after their retries; the others have run. The execution halts with this; `resume` retries the failed ones. */
export class UndoFailed extends TaggedError<UndoFailed>()("UndoFailed", {
  execution: Schema.String,
  /** The paths of the calls whose undo failed. */
  paths: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return (
      `could not undo ${this.paths.join(", ")}: remove the cause and resume the execution, or ` +
      "undo it by hand and resume with --skip"
    )
  }
}

/** The signal already has another value. */
export class SignalConflict extends TaggedError<SignalConflict>()("SignalConflict", {
  execution: Schema.String,
  signal: Schema.String
}) {
  override get message(): string {
    return `the execution ${this.execution} already has another value for the signal ${this.signal}: a signal has one value`
  }
}

/**
 * The input does not fit the input schema of the flow, or is larger than 1 MB of JSON. Nothing was started. A backend that passes
 * what its callers sent returns it as a status 400.
 */
export class InvalidInput extends TaggedError<InvalidInput>()("InvalidInput", {
  flow: Schema.String,
  /** The field, such as `lines.0.price`; empty for the input as a whole. */
  path: Schema.String,
  /** What the schema expects there. Contains nothing of the input. */
  expected: Schema.String
}) {
  override get message(): string {
    return `the input of the flow ${this.flow}: ${this.path === "" ? "" : `${this.path}: `}${this.expected}`
  }
}

/** The flow has no such signal, or the value does not fit its schema. Nothing was recorded. */
export class InvalidSignal extends TaggedError<InvalidSignal>()("InvalidSignal", {
  signal: Schema.String,
  message: Schema.String
}) {}

/** A request was not answered in time. It stays with the execution: send it again with its id to wait for its answer. */
export class RequestUnanswered extends TaggedError<RequestUnanswered>()("RequestUnanswered", {
  execution: Schema.String,
  request: Schema.String,
  /** Identifies the request, so that it can be sent again. */
  id: Schema.String,
  afterMillis: Schema.Finite
}) {
  override get message(): string {
    return (
      `the request ${this.request} to the execution ${this.execution} was not answered after ${this.afterMillis} ms: send it again ` +
      `with the id ${this.id} to wait for its answer`
    )
  }
}

/** The execution has ended, or has begun its next chapter, and has not answered the request. */
export class RequestAbandoned extends TaggedError<RequestAbandoned>()("RequestAbandoned", {
  execution: Schema.String,
  request: Schema.String,
  id: Schema.String
}) {
  override get message(): string {
    return `the execution ${this.execution} has ended, or begun its next chapter, without an answer to the request ${this.request}`
  }
}

/** The execution is of a version of the flow that this program has not registered with `Flow.layer`. */
export class FlowNotRegistered extends TaggedError<FlowNotRegistered>()("FlowNotRegistered", {
  flow: Schema.String,
  version: Schema.Finite,
  execution: Schema.String
}) {
  override get message(): string {
    return (
      `the execution ${this.execution} is of ${this.flow}, version ${this.version}, which is not registered: provide ` +
      "Flow.layer of that version, beside others of the same flow; also to cancel it, because a cancel runs its undos"
    )
  }
}

/**
 * This process drains the version of the flow, so it starts no execution of it, and no other living process takes new ones. Nothing was
 * started.
 */
export class FlowDraining extends TaggedError<FlowDraining>()("FlowDraining", {
  flow: Schema.String,
  version: Schema.Finite
}) {
  override get message(): string {
    return (
      `this process drains ${this.flow}, version ${this.version}: it only continues executions that have begun, and no other process ` +
      "takes new ones; submit the newest version, or start a process that registers this one without `drain`"
    )
  }
}

/** The execution does not exist. */
export class ExecutionNotFound extends TaggedError<ExecutionNotFound>()("ExecutionNotFound", {
  execution: Schema.String
}) {
  override get message(): string {
    return `the execution ${this.execution} does not exist`
  }
}

/** The execution has no step, or waits for no signal, at this path. */
export class StepNotFound extends TaggedError<StepNotFound>()("StepNotFound", {
  execution: Schema.String,
  path: Schema.String,
  message: Schema.String
}) {}

/** The state of the execution does not allow the command. */
export class ExecutionConflict extends TaggedError<ExecutionConflict>()("ExecutionConflict", {
  execution: Schema.String,
  state: Schema.String,
  message: Schema.String
}) {}

/** The engine could not start. The message says why and what to do, and contains no secrets. */
export class FlowEngineError extends TaggedError<FlowEngineError>()("FlowEngineError", {
  message: Schema.String
}) {}
