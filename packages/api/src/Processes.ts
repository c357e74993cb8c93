/**
 * Processes: named definitions made of steps.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ProcessId, StepId } from "./contract/Ids.ts"
import type { Deleted, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as pauses from "./internal/endpoints/Pauses.ts"
import type { PauseState } from "./contract/Pauses.ts"
import * as contract from "./internal/endpoints/Processes.ts"
import type { NamedListOptions } from "./ListOptions.ts"
import { names, namedPage, namedPageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"

export type { NamedListOptions } from "./ListOptions.ts"
export type {
  DefinitionChange,
  LimitWait,
  Process,
  ProcessDefinition,
  ProcessSummary,
  StepDefinition,
  StoredDefinition
} from "./contract/Processes.ts"

const call = {
  get: returning<contract.Process, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.ProcessSummary>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.Process, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  update: returning<contract.Process, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  getDefinition: returning<contract.StoredDefinition, NotFound>()(inWorkspace(contract.getDefinition)),
  getLimits: returning<{ readonly data: ReadonlyArray<contract.LimitWait> }, NotFound>()(
    inWorkspace(contract.getLimits)
  ),
  pause: returning<PauseState, InvalidRequest | NotFound>()(inWorkspace(pauses.pauseProcess)),
  resume: returning<PauseState, NotFound>()(inWorkspace(pauses.resumeProcess)),
  pauseStep: returning<PauseState, InvalidRequest | NotFound>()(inWorkspace(pauses.pauseStep)),
  resumeStep: returning<PauseState, NotFound>()(inWorkspace(pauses.resumeStep)),
  remove: returning<Deleted<ProcessId>, Conflict | NotFound>()(inWorkspace(contract.remove))
}

export const get = Effect.fn("Processes.get")((process: ProcessId) => call.get({ params: { process_id: process } }))

/**
 * Returns one page, newest first.
 *
 * ```ts
 * import * as Processes from "@signalbox/api/Processes"
 *
 * export const named = Processes.list({ name: "invoices" })
 * ```
 */
export const list = Effect.fn("Processes.list")(
  (options: NamedListOptions = {}) => call.list({ query: options }),
  refusing("processes.list", { 0: namedPage })
)

/** Emits all processes, newest first. */
export const stream = (options: Omit<NamedListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("processes.stream", namedPageSize, options))

/** Creates a process; fails with `Conflict` when the name is in use. An extension of the hosted service's interface. */
export const create = Effect.fn("Processes.create")(
  (definition: contract.ProcessDefinition) => call.create({ payload: definition }),
  refusing("processes.create", { 0: contract.ProcessDefinition })
)

/**
 * Replaces a definition. A step whose name does not change keeps its id; runs keep the steps they started with. With the `revision`
 * of a definition that was read, fails with `Conflict` when it was changed since. Items of its queue in `delete_work_items` are
 * deleted with the change, or, when it fails, not.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as Processes from "@signalbox/api/Processes"
 * import * as Effect from "effect/Effect"
 *
 * export const renamed = Effect.fn(function* (process: ProcessId) {
 *   const stored = yield* Processes.getDefinition(process)
 *   const name = `${stored.name} of today`
 *   return yield* Processes.update(process, { ...stored, name })
 * })
 * ```
 */
export const update = Effect.fn("Processes.update")(
  (process: ProcessId, definition: contract.DefinitionChange) =>
    call.update({ params: { process_id: process }, payload: definition }),
  refusing("processes.update", { 1: contract.DefinitionChange })
)

/** Returns the whole definition of a process. */
export const getDefinition = Effect.fn("Processes.getDefinition")((process: ProcessId) =>
  call.getDefinition({ params: { process_id: process } })
)

/**
 * Returns what waits for the limits of a process and its steps: each value that has no room, with what has it now. What waits longest
 * is first, at most 100. An extension of the hosted service's interface.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as Processes from "@signalbox/api/Processes"
 *
 * export const waits = (process: ProcessId) => Processes.limits(process)
 * ```
 */
export const limits = Effect.fn("Processes.limits")((process: ProcessId) =>
  Effect.map(call.getLimits({ params: { process_id: process } }), ({ data }) => data)
)

/** Deletes a process without live runs and waiting items. Irreversible. */
export const remove = Effect.fn("Processes.remove")((process: ProcessId) =>
  call.remove({ params: { process_id: process } })
)

/** What is paused: a process, or one of its steps. */
export interface ResumeOptions {
  readonly step?: StepId | undefined
}

/** What is paused, and why. */
export interface PauseOptions extends ResumeOptions {
  readonly note?: string | undefined
}

const pauseOptions = names<PauseOptions>("option", { step: 1, note: 1 })
const resumeOptions = names<ResumeOptions>("option", { step: 1 })

/**
 * Pauses a process, or one of its steps: workers get nothing more of it. Step runs that they are processing continue; new
 * runs can be started, and wait. Returns the pause. An extension of the hosted service's interface.
 *
 * ```ts
 * import type { ProcessId, StepId } from "@signalbox/api/contract/Ids"
 * import * as Processes from "@signalbox/api/Processes"
 *
 * export const stop = (process: ProcessId) =>
 *   Processes.pause(process, { note: "the bank is down until noon" })
 * ```
 */
export const pause = Effect.fn("Processes.pause")(
  (process: ProcessId, { note, step }: PauseOptions = {}) => {
    const payload = defined({ note })
    return step === undefined
      ? call.pause({ params: { process_id: process }, payload })
      : call.pauseStep({ params: { process_id: process, step_id: step }, payload })
  },
  refusing("processes.pause", { 1: pauseOptions })
)

/**
 * Resumes a process, or one of its steps. Does nothing when it is not paused. An extension.
 *
 * ```ts
 * import type { ProcessId, StepId } from "@signalbox/api/contract/Ids"
 * import * as Processes from "@signalbox/api/Processes"
 *
 * export const goOn = (process: ProcessId, step: StepId) =>
 *   Processes.resume(process, { step })
 * ```
 */
export const resume = Effect.fn("Processes.resume")(
  (process: ProcessId, { step }: ResumeOptions = {}) =>
    step === undefined
      ? call.resume({ params: { process_id: process } })
      : call.resumeStep({ params: { process_id: process, step_id: step } }),
  refusing("processes.resume", { 1: resumeOptions })
)

/** Creates the process, or replaces the definition of the one with its name. Safe to repeat. */
export const put = Effect.fn("Processes.put")(
  function* (definition: contract.ProcessDefinition) {
    return yield* create(definition).pipe(
      Effect.catchTag("Conflict", (conflict) =>
        Effect.gen(function* () {
          const named = yield* Stream.runHead(
            Stream.filter(stream({ limit: 500 }), (process) => process.name === definition.name)
          )
          return named._tag === "None" ? yield* conflict : yield* update(named.value.id, definition)
        })
      )
    )
  },
  refusing("processes.put", { 0: contract.ProcessDefinition })
)
