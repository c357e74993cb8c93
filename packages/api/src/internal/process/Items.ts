/**
 * Work items, runs and outputs of a process, with its types.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ControlRoomError, InvalidRequest } from "../../ControlRoomError.ts"
import type { ControlRoom } from "../../ControlRoom.ts"
import type { File } from "../../contract/Files.ts"
import type { ProcessId, ProcessRunId, WorkItemId } from "../../contract/Ids.ts"
import type { WorkItemException } from "../../contract/WorkItems.ts"
import * as Outputs from "../../Outputs.ts"
import * as Processes from "../../Processes.ts"
import * as WorkItems from "../../WorkItems.ts"
import * as Codec from "./Codec.ts"
import { findByName } from "./Plan.ts"
import { isProcess, type Process } from "./Value.ts"

/** The workspace has no process of this name: deploy it first. */
export class NotDeployed extends TaggedError<NotDeployed>()("NotDeployed", { process: Schema.String }) {
  override get message(): string {
    return `the workspace has no process "${this.process}"; deploy it first, with Process.deploy`
  }
}

/** A payload that does not fit the input of the first step; nothing was sent. The message has its path and none of its content. */
export class InvalidPayload extends TaggedError<InvalidPayload>()("InvalidPayload", {
  message: Schema.String
}) {}

/** An output that does not fit the output of the last step: another version of the process made it. */
export class InvalidOutput extends TaggedError<InvalidOutput>()("InvalidOutput", { message: Schema.String }) {}

/** A process, or the id of one, whose payloads are then any JSON. */
export type Target = Process | ProcessId

/** A payload of a process, as the task of its first step gets it. */
export type Payload<T extends Target> = T extends Process ? T["input"]["Type"] : Schema.Json

/** An output of a process, as the task of its last step makes it. */
export type Output<T extends Target> = T extends Process ? T["output"]["Type"] : Schema.Json

/** An output of a run, decoded. */
export interface TypedOutput<A> {
  readonly id: WorkItemId
  readonly payload: A
  readonly files: ReadonlyArray<typeof File.Type>
}

/** A failed item of a run. */
export interface FailedItem<T extends Target> {
  readonly id: WorkItemId
  /** The step at which it failed; null: one that the process no longer has. */
  readonly step: (T extends Process ? T["steps"][number]["name"] : string) | null
  readonly exception: typeof WorkItemException.Type | null
}

/** The id of the process of a name; fails with `NotDeployed` when there is none. */
export const idByName = (name: string) =>
  Effect.flatMap(findByName(name), (id) =>
    id === null ? Effect.fail(new NotDeployed({ process: name })) : Effect.succeed(id)
  )

/** The id of a process in the workspace at hand. */
export const idOf = (
  target: Target
): Effect.Effect<ProcessId, NotDeployed | InvalidRequest | ControlRoomError, ControlRoom> =>
  isProcess(target) ? idByName(target.name) : Effect.succeed(target)

const json = Codec.make(Schema.Json, Schema.Json)
const codecOf = (target: Target): Codec.Codec => (isProcess(target) ? target.codec : json)

/** Payloads as the JSON that is sent. */
export const encodePayloads = (target: Target, payloads: ReadonlyArray<unknown>) => {
  const { encodeInput } = codecOf(target)
  return Effect.forEach(payloads, (payload, index) => {
    const encoded = encodeInput(payload)
    return "problem" in encoded
      ? Effect.fail(new InvalidPayload({ message: `payloads.${index}: ${encoded.problem}` }))
      : Effect.succeed(encoded.value)
  })
}

/** An output as the service has it. */
export type StoredOutput = Pick<Outputs.Output, "id" | "payload" | "files">

/** Returns a function that decodes outputs. */
export const decoderOf = <T extends Target>(target: T) => {
  const { decodeOutput } = codecOf(target)
  return ({ files, id, payload }: StoredOutput): Effect.Effect<TypedOutput<Output<T>>, InvalidOutput> => {
    const decoded = decodeOutput(payload)
    return "problem" in decoded
      ? Effect.fail(new InvalidOutput({ message: `the output ${id}: ${decoded.problem}` }))
      : // The schema that has decoded it is that of the last step of `T`.
        Effect.succeed({ id, payload: decoded.value as Output<T>, files })
  }
}

/** The failed items of a run of a process, newest first. */
export const failedOf = Effect.fnUntraced(function* <T extends Target>(target: T, run: ProcessRunId) {
  const { steps } = yield* Processes.get(yield* idOf(target))
  const names = new Map<string, string>(steps.map(({ id, name }) => [id, name]))
  const isKnown = (name: string) => !isProcess(target) || target.steps.some((step) => step.name === name)
  return yield* WorkItems.stream({ processRun: run, state: "failed", limit: 500 }).pipe(
    Stream.map(({ exception, id, step }): FailedItem<T> => {
      const name = step === null ? undefined : names.get(step.id)
      // One of the names of the steps of `T`, as has just been seen.
      return { id, step: (name !== undefined && isKnown(name) ? name : null) as FailedItem<T>["step"], exception }
    }),
    Stream.runCollect
  )
})
