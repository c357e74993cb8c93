/** Processes and their runs, as functions with promises. */
import type * as Redacted from "effect/Redacted"
import type { Accepted, Deleted } from "../../contract/Common.ts"
import type { ProcessId, ProcessRunId } from "../../contract/Ids.ts"
import type { PauseState } from "../../contract/Pauses.ts"
import * as Processes from "../../Processes.ts"
import * as ProcessRuns from "../../ProcessRuns.ts"
import type { AnySchema } from "../../StandardSchema.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { AwaitOptions, ListOptions, NamedListOptions, NamedSize } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** A process: its name and its steps. */
export interface NewProcess extends Omit<Plain<Processes.ProcessDefinition>, "name" | "steps"> {
  readonly name: string
  /** They run in this order. */
  readonly steps: ReadonlyArray<NewStep>
}

/** A step of a process: the task that it runs, and how. */
export interface NewStep extends Omit<Plain<Processes.StepDefinition>, "name"> {
  readonly name: string
}

/** The definition that replaces the one of a process. */
export interface ProcessChange extends NewProcess {
  /** Of the definition that is replaced; with another one the change rejects with `Conflict`. */
  readonly revision?: string
  /** Items in the queue that are deleted with the change, which is irreversible. */
  readonly delete_work_items?: ReadonlyArray<string>
}

/** Processes: named definitions made of steps. */
export interface ProcessesClient {
  /** Returns one process with its steps. */
  readonly get: (process: string, options?: CallOptions) => ApiPromise<Processes.Process>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.processes.list({ name: "invoices" })
   */
  readonly list: (page?: NamedListOptions, options?: CallOptions) => ApiPromise<ListPage<Processes.ProcessSummary>>
  /**
   * All processes, newest first.
   * @example for await (const { id, name } of room.processes.stream()) console.log(id, name)
   */
  readonly stream: (page?: NamedSize, options?: CallOptions) => AsyncIterable<Processes.ProcessSummary>
  /**
   * Creates a process; rejects with `Conflict` when the name is in use.
   * @example
   * const steps = [{ name: "read", task: { name: "read mail" } }]
   * await room.processes.create({ name: "invoices", steps })
   */
  readonly create: (definition: NewProcess, options?: CallOptions) => ApiPromise<Processes.Process>
  /**
   * Replaces a definition; with the `revision` that was read, rejects with `Conflict` when it was changed since.
   * @example
   * const definition = await room.processes.getDefinition(process)
   * await room.processes.update(process, { ...definition, description: "by mail" })
   */
  readonly update: (process: string, definition: ProcessChange, options?: CallOptions) => ApiPromise<Processes.Process>
  /** Returns the whole definition of a process. */
  readonly getDefinition: (process: string, options?: CallOptions) => ApiPromise<Processes.StoredDefinition>
  /**
   * Returns what waits for the limits of a process and its steps, and what has them now; what waits longest is first.
   * @example
   * for (const { key, value, held_by } of await room.processes.limits(process))
   *   console.log(key, value, held_by)
   */
  readonly limits: (process: string, options?: CallOptions) => ApiPromise<ReadonlyArray<Processes.LimitWait>>
  /** Deletes a process without live runs and waiting items. Irreversible. */
  readonly remove: (process: string, options?: CallOptions) => ApiPromise<Deleted<ProcessId>>
  /**
   * Pauses a process, or one of its steps: workers get nothing more of it. Returns the pause.
   * @example await room.processes.pause(process, { step: "post", note: "ERP is down" })
   */
  readonly pause: (
    process: string,
    pause?: { readonly step?: string | undefined; readonly note?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<PauseState>
  /**
   * Resumes a process, or one of its steps. Does nothing when it is not paused.
   * @example await room.processes.resume(process, { step: "post" })
   */
  readonly resume: (
    process: string,
    pause?: { readonly step?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<PauseState>
  /**
   * Creates the process, or replaces the definition of the one with its name. Safe to repeat.
   * @example
   * const steps = [{ name: "read", task: { name: "read mail" } }]
   * await room.processes.put({ name: "invoices", steps })
   */
  readonly put: (definition: NewProcess, options?: CallOptions) => ApiPromise<Processes.Process>
}

export const processes = /* @__PURE__ */ members<ProcessesClient>(Processes, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  update: 2,
  getDefinition: 1,
  limits: 1,
  remove: 1,
  pause: 2,
  resume: 2,
  put: 1
})

/** Which runs. */
export interface RunFilter extends Omit<Plain<ProcessRuns.Filter>, "process"> {
  readonly process?: string | undefined
}

/** Which runs, and which page of them. */
export interface RunPage extends RunFilter, ListOptions {}

type Inputs = Plain<ProcessRuns.StartInput>

/** A run of new work items. */
export interface RunOfPayloads extends Extract<Inputs, { readonly payloads: unknown }> {}

/** A run of work items of the queue. */
export interface RunOfWorkItems extends Extract<Inputs, { readonly workItems: unknown }> {}

/** A run of all that wait in the queue. */
export interface RunOfInputs extends Extract<Inputs, { readonly inputs: unknown }> {}

/** The input of a run: payloads, work items of the queue, or all that wait there. */
export type RunInput = RunOfPayloads | RunOfWorkItems | RunOfInputs

/** How a run starts. */
export interface StartOptions extends ProcessRuns.StartOptions {}

/** A run that was started, or that nothing waited for one. */
export interface StartedPromise extends ApiPromise<ProcessRuns.Started> {}

/** How a run is stopped. */
export interface StopOptions extends ProcessRuns.StopOptions {}

/** Process runs: start, watch and stop them. */
export interface ProcessRunsClient {
  /** Returns one run with its state. */
  readonly get: (run: string, options?: CallOptions) => ApiPromise<ProcessRuns.ProcessRun>
  /** Returns the steps of a run in their order, with the numbers of their items by state, and why they wait. */
  readonly steps: (run: string, options?: CallOptions) => ApiPromise<ReadonlyArray<ProcessRuns.RunStep>>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.processRuns.list({ process, state: "unresolved" })
   */
  readonly list: (filter?: RunPage, options?: CallOptions) => ApiPromise<ListPage<ProcessRuns.ProcessRun>>
  /**
   * All runs that match, newest first.
   * @example for await (const { id } of room.processRuns.stream({ process })) console.log(id)
   */
  readonly stream: (filter?: RunFilter, options?: CallOptions) => AsyncIterable<ProcessRuns.ProcessRun>
  /**
   * Starts a run; without input, with the default work item of the process, else one empty item.
   * @example
   * const run = await room.processRuns.start(process, { payloads: [{ day: 1 }] })
   * if (run.started) await room.processRuns.awaitEnd(run.id)
   */
  readonly start: {
    <S extends AnySchema>(
      process: string,
      input: ProcessRuns.TypedPayloads<S>,
      start?: StartOptions,
      options?: CallOptions
    ): StartedPromise
    (process: string, input?: RunInput, start?: StartOptions, options?: CallOptions): StartedPromise
  }
  /**
   * Returns the address for callers that start runs but control no headers; the key is part of it.
   * @example const url = await room.processRuns.integrationUrl(process, { key: "..." })
   */
  readonly integrationUrl: (
    process: string,
    access: { readonly key: string | Redacted.Redacted; readonly handshake?: "asana" | undefined },
    options?: CallOptions
  ) => ApiPromise<Redacted.Redacted>
  /** Starts a new run with the inputs of an ended run, and returns its id. */
  readonly startAgain: (run: string, options?: CallOptions) => ApiPromise<ProcessRunId>
  /**
   * Stops a run; `accepted` is false when it had already ended.
   * @example await room.processRuns.stop(run, { terminate: true })
   */
  readonly stop: (run: string, stop?: StopOptions, options?: CallOptions) => ApiPromise<Accepted>
  /** Deletes an ended run. Irreversible. */
  readonly remove: (run: string, options?: CallOptions) => ApiPromise<Deleted<ProcessRunId>>
  /**
   * Waits until a run has ended (`completed` or `unresolved`).
   * @example const { state } = await room.processRuns.awaitEnd(run, { timeout: "1 hour" })
   */
  readonly awaitEnd: (
    run: string,
    wait?: AwaitOptions<ProcessRuns.ProcessRun>,
    options?: CallOptions
  ) => ApiPromise<ProcessRuns.ProcessRun>
}

export const processRuns = /* @__PURE__ */ members<ProcessRunsClient>(ProcessRuns, {
  get: 1,
  steps: 1,
  list: 1,
  stream: 1,
  start: 3,
  integrationUrl: 2,
  startAgain: 1,
  stop: 2,
  remove: 1,
  awaitEnd: 2
})
