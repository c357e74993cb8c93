/**
 * What flows fail with besides the errors of their schemas.
 */
import * as Schema from "effect/Schema"

/** `Flow.timeout` was over before what it limits. */
export class FlowTimeout extends Schema.TaggedError<FlowTimeout>()("FlowTimeout", {
  path: Schema.String,
  afterMillis: Schema.Finite
}) {
  override get message(): string {
    return `${this.path} took longer than ${this.afterMillis} ms`
  }
}

/**
 * The body of a flow took another way than the recorded one, so its recorded results no longer fit. The execution stops
 * with this as a defect; nothing is undone. Run the code that began the execution, under its version, or put the changed
 * code under a new version; then retry the execution.
 */
export class FlowChanged extends Schema.TaggedError<FlowChanged>()("FlowChanged", {
  flow: Schema.String,
  version: Schema.Finite,
  execution: Schema.String,
  /** A step that is recorded and was not reached. */
  recorded: Schema.String,
  /** The step that was reached before it and is not recorded; null when the body ended. */
  reached: Schema.NullOr(Schema.String)
}) {
  override get message(): string {
    const instead = this.reached === null ? "ended" : `reached ${this.reached}`
    return (
      `the body of ${this.flow}, version ${this.version}, ${instead} before the recorded step ${this.recorded}: a body ` +
      "that calls other steps than before needs a new version"
    )
  }
}

/** The execution was canceled. */
export class FlowCanceled extends Schema.TaggedError<FlowCanceled>()("FlowCanceled", { execution: Schema.String }) {
  override get message(): string {
    return `the execution ${this.execution} was canceled`
  }
}

/** The execution is of a version of the flow that this program has not registered with `Flow.layer`. */
export class FlowNotRegistered extends Schema.TaggedError<FlowNotRegistered>()("FlowNotRegistered", {
  flow: Schema.String,
  version: Schema.Finite,
  execution: Schema.String
}) {
  override get message(): string {
    return (
      `the execution ${this.execution} is of ${this.flow}, version ${this.version}, which is not registered: provide ` +
      "Flow.layer of that version, beside others of the same flow; also to cancel it, because that undoes what it did"
    )
  }
}

/** There is no execution of this id. */
export class ExecutionNotFound extends Schema.TaggedError<ExecutionNotFound>()("ExecutionNotFound", {
  execution: Schema.String
}) {
  override get message(): string {
    return `there is no execution ${this.execution}`
  }
}

/** The execution has no step, or awaits no signal, at this path. */
export class StepNotFound extends Schema.TaggedError<StepNotFound>()("StepNotFound", {
  execution: Schema.String,
  path: Schema.String,
  message: Schema.String
}) {}

/** The execution is not in a state in which this can be done. */
export class ExecutionConflict extends Schema.TaggedError<ExecutionConflict>()("ExecutionConflict", {
  execution: Schema.String,
  state: Schema.String,
  message: Schema.String
}) {}

/** The engine could not start. The message says why and what to do; it holds no secrets. */
export class FlowEngineError extends Schema.TaggedError<FlowEngineError>()("FlowEngineError", {
  message: Schema.String
}) {}
