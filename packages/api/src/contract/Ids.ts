/**
 * Branded ids. The service makes UUIDv7 strings; a client must treat every id as opaque.
 */
import * as Schema from "effect/Schema"

/** Identifies a workspace. */
export const WorkspaceId = Schema.String.pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = typeof WorkspaceId.Type

/** Identifies a process. */
export const ProcessId = Schema.String.pipe(Schema.brand("ProcessId"))
export type ProcessId = typeof ProcessId.Type

/** Identifies a step of a process; it stays while the step keeps its name. */
export const StepId = Schema.String.pipe(Schema.brand("StepId"))
export type StepId = typeof StepId.Type

/** Identifies a run of a process. */
export const ProcessRunId = Schema.String.pipe(Schema.brand("ProcessRunId"))
export type ProcessRunId = typeof ProcessRunId.Type

/** Identifies a step run: one execution of one step on one worker. */
export const StepRunId = Schema.String.pipe(Schema.brand("StepRunId"))
export type StepRunId = typeof StepRunId.Type

/** Identifies a work item, and an output: an output that travels on keeps its id as a work item. */
export const WorkItemId = Schema.String.pipe(Schema.brand("WorkItemId"))
export type WorkItemId = typeof WorkItemId.Type

/** Identifies a file of a work item or of an output. */
export const FileId = Schema.String.pipe(Schema.brand("FileId"))
export type FileId = typeof FileId.Type

/** Identifies a worker. */
export const WorkerId = Schema.String.pipe(Schema.brand("WorkerId"))
export type WorkerId = typeof WorkerId.Type

/** Identifies a task package. */
export const TaskPackageId = Schema.String.pipe(Schema.brand("TaskPackageId"))
export type TaskPackageId = typeof TaskPackageId.Type

/** Identifies a worker group. */
export const WorkerGroupId = Schema.String.pipe(Schema.brand("WorkerGroupId"))
export type WorkerGroupId = typeof WorkerGroupId.Type
