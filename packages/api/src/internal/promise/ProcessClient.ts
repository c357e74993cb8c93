/** Processes as code, as functions with promises. */
import { defined } from "@signalbox/transport/Defined"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { ProcessId, ProcessRunId, WorkItemId } from "../../contract/Ids.ts"
import type { Started } from "../../ProcessRuns.ts"
import * as Process from "../../Process.ts"
import { adaptSource } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { UploadSource } from "./WorkClients.ts"

/** A process, or the id of one, whose payloads are then any JSON. */
export type Target = Process.Process | string

/** The process as the module takes it. */
type Known<T extends Target> = T extends Process.Process ? T : ProcessId

/** A payload of a process, as the task of its first step gets it. */
export type PayloadOf<T extends Target> = T extends Process.Process ? T["input"]["Type"] : Schema.Json

/** An output of a process, as the task of its last step makes it. */
export type OutputOf<T extends Target> = T extends Process.Process ? T["output"]["Type"] : Schema.Json

/** How a process is run from its payloads to its outputs. */
export interface RunOptions<T extends Target> {
  /**
   * What happens to failed items: `"fail"` (default) rejects with `RunUnresolved`, `"settle"` marks all as done; a function decides for
   * each, and again in each round after a retry (`round` counts from 1).
   */
  readonly failures?:
    | "fail"
    | "settle"
    | ((item: Process.FailedItem<Known<T>>, round: number) => Process.Decision | PromiseLike<Process.Decision>)
  /** The files of an item; default: none. */
  readonly files?: (payload: PayloadOf<T>, index: number) => ReadonlyArray<UploadSource>
  /** Rejects with `Timeout` after this time in a round; the run continues. Default: no limit. */
  readonly timeout?: Duration.Input
}

/** What a run starts with: work items of the queue, or payloads. */
export type RunStart<T extends Target> =
  | { readonly workItems: ReadonlyArray<string> }
  | { readonly payloads: ReadonlyArray<PayloadOf<T>> }

/** Which run of a process. */
export interface OfRun {
  readonly run: string
}

/** Processes as code: what `Process.make` of `@signalbox/api/Process` has made is deployed and run. */
export interface ProcessClient {
  /**
   * Compares a process with what the workspace has under its name, and changes nothing.
   * @example const { changes } = await room.process.plan(invoices)
   */
  readonly plan: (process: Process.Process, options?: CallOptions) => ApiPromise<Process.Plan>
  /**
   * Brings the workspace to what a process says. Safe to repeat; rejects with `WaitingItems`, or `InvalidProcess`.
   * @example await room.process.deploy(invoices, { waiting: "keep" })
   */
  readonly deploy: (
    process: Process.Process,
    deployment?: Process.DeployOptions,
    options?: CallOptions
  ) => ApiPromise<Process.Deployed>
  /** The id of the process of a name; rejects with `NotDeployed` when there is none. */
  readonly idByName: (name: string, options?: CallOptions) => ApiPromise<ProcessId>
  /**
   * The id that a process has in the workspace; rejects with `NotDeployed` when it has none.
   * @example const id = await room.process.id(invoices)
   */
  readonly id: (process: Process.Process, options?: CallOptions) => ApiPromise<ProcessId>
  /**
   * Creates work items in the queue of a process, and returns their ids in the order of the payloads.
   * @example const ids = await room.process.createWorkItems(invoices, [{ number: "A1" }])
   */
  readonly createWorkItems: <T extends Target>(
    process: T,
    payloads: ReadonlyArray<PayloadOf<T>>,
    options?: CallOptions
  ) => ApiPromise<ReadonlyArray<WorkItemId>>
  /**
   * Starts a run with work items of the queue, with payloads, or, without either, with the default work item.
   * @example
   * const payloads = [{ number: "A1" }]
   * const { started } = await room.process.startRun(invoices, { payloads })
   */
  readonly startRun: <T extends Target>(process: T, input?: RunStart<T>, options?: CallOptions) => ApiPromise<Started>
  /**
   * The outputs of a run, decoded, oldest first.
   * @example
   * for await (const { payload } of room.process.outputs(invoices, { run }))
   *   console.log(payload)
   */
  readonly outputs: <T extends Target>(
    process: T,
    of: OfRun,
    options?: CallOptions
  ) => AsyncIterable<Process.TypedOutput<OutputOf<T>>>
  /**
   * All outputs of a run, decoded, oldest first.
   * @example const outputs = await room.process.collectOutputs(invoices, { run })
   */
  readonly collectOutputs: <T extends Target>(
    process: T,
    of: OfRun,
    options?: CallOptions
  ) => ApiPromise<ReadonlyArray<Process.TypedOutput<OutputOf<T>>>>
  /**
   * The failed work items of a run, newest first: at which step, and why.
   * @example const failed = await room.process.failedItems(invoices, { run })
   */
  readonly failedItems: <T extends Target>(
    process: T,
    of: OfRun,
    options?: CallOptions
  ) => ApiPromise<ReadonlyArray<Process.FailedItem<Known<T>>>>
  /**
   * Runs a process from its payloads to its outputs; rejects with `RunUnresolved` when items fail, unless `failures` decides.
   * @example const { outputs } = await room.process.run(invoices, [{ number: "A1" }])
   */
  readonly run: <T extends Target>(
    process: T,
    payloads: ReadonlyArray<PayloadOf<T>>,
    run?: RunOptions<T>,
    options?: CallOptions
  ) => ApiPromise<Ran<T>>
}

/** What a run has made. */
export interface Ran<T extends Target> {
  readonly run: ProcessRunId
  /** Oldest first. */
  readonly outputs: ReadonlyArray<Process.TypedOutput<OutputOf<T>>>
  /** Failed items that were marked as done. */
  readonly settled: ReadonlyArray<WorkItemId>
}

/** Functions that decide become effects, and blobs what can be uploaded. */
const run = (
  process: Process.Target,
  payloads: ReadonlyArray<Process.Payload<Process.Target>>,
  { failures = "fail", files, ...options }: RunOptions<Target> = {}
) =>
  Process.run(process, payloads, {
    ...options,
    failures:
      typeof failures === "function" ? (item, round) => Effect.promise(async () => failures(item, round)) : failures,
    ...defined({
      files: files && ((payload: PayloadOf<Target>, index: number) => files(payload, index).map(adaptSource))
    })
  })

const asGiven = (argument: unknown) => argument

export const process = /* @__PURE__ */ members<ProcessClient>(
  { ...Process, run },
  {
    plan: 1,
    deploy: 2,
    idByName: 1,
    id: 1,
    createWorkItems: 2,
    startRun: 2,
    outputs: 2,
    collectOutputs: 2,
    failedItems: 2,
    run: 3
  },
  // Schemas and tasks may be functions.
  asGiven
)
