/** Branded ids. The service creates UUIDv7 strings; a client must treat every id as opaque. */
import type * as Brand from "effect/Brand"
import * as Schema from "effect/Schema"

/** Identifies a workspace. */
export const WorkspaceId = Schema.String.pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = string & Brand.Brand<"WorkspaceId">

/** Identifies a process. */
export const ProcessId = Schema.String.pipe(Schema.brand("ProcessId"))
export type ProcessId = string & Brand.Brand<"ProcessId">

/** Identifies a step of a process; it does not change while the step keeps its name. */
export const StepId = Schema.String.pipe(Schema.brand("StepId"))
export type StepId = string & Brand.Brand<"StepId">

/** Identifies a run of a process. */
export const ProcessRunId = Schema.String.pipe(Schema.brand("ProcessRunId"))
export type ProcessRunId = string & Brand.Brand<"ProcessRunId">

/** Identifies a step run: one execution of one step on one worker. */
export const StepRunId = Schema.String.pipe(Schema.brand("StepRunId"))
export type StepRunId = string & Brand.Brand<"StepRunId">

/** Identifies a work item, and an output: an output that becomes a work item of the next step keeps its id. */
export const WorkItemId = Schema.String.pipe(Schema.brand("WorkItemId"))
export type WorkItemId = string & Brand.Brand<"WorkItemId">

/** Identifies a file of a work item or of an output. */
export const FileId = Schema.String.pipe(Schema.brand("FileId"))
export type FileId = string & Brand.Brand<"FileId">

/** Identifies a worker. */
export const WorkerId = Schema.String.pipe(Schema.brand("WorkerId"))
export type WorkerId = string & Brand.Brand<"WorkerId">

/** Identifies a task package. */
export const TaskPackageId = Schema.String.pipe(Schema.brand("TaskPackageId"))
export type TaskPackageId = string & Brand.Brand<"TaskPackageId">

/** Identifies a worker group. */
export const WorkerGroupId = Schema.String.pipe(Schema.brand("WorkerGroupId"))
export type WorkerGroupId = string & Brand.Brand<"WorkerGroupId">

/** Identifies an asset. */
export const AssetId = Schema.String.pipe(Schema.brand("AssetId"))
export type AssetId = string & Brand.Brand<"AssetId">

/** Identifies an upload of an asset's content. */
export const AssetUploadId = Schema.String.pipe(Schema.brand("AssetUploadId"))
export type AssetUploadId = string & Brand.Brand<"AssetUploadId">

/** Identifies an assistant. */
export const AssistantId = Schema.String.pipe(Schema.brand("AssistantId"))
export type AssistantId = string & Brand.Brand<"AssistantId">

/** Identifies a run of an assistant. */
export const AssistantRunId = Schema.String.pipe(Schema.brand("AssistantRunId"))
export type AssistantRunId = string & Brand.Brand<"AssistantRunId">

/** Identifies an artifact of a step run. */
export const ArtifactId = Schema.String.pipe(Schema.brand("ArtifactId"))
export type ArtifactId = string & Brand.Brand<"ArtifactId">

/** Identifies a webhook. */
export const WebhookId = Schema.String.pipe(Schema.brand("WebhookId"))
export type WebhookId = string & Brand.Brand<"WebhookId">

/** Identifies a delivery: one event on its way to one webhook, over all attempts. */
export const WebhookDeliveryId = Schema.String.pipe(Schema.brand("WebhookDeliveryId"))
export type WebhookDeliveryId = string & Brand.Brand<"WebhookDeliveryId">

/** Identifies an event; the same over all attempts and redeliveries, so receivers drop duplicates by it. */
export const EventId = Schema.String.pipe(Schema.brand("EventId"))
export type EventId = string & Brand.Brand<"EventId">

/** Identifies a link token of a worker group. */
export const LinkTokenId = Schema.String.pipe(Schema.brand("LinkTokenId"))
export type LinkTokenId = string & Brand.Brand<"LinkTokenId">

/** Identifies a schedule. */
export const ScheduleId = Schema.String.pipe(Schema.brand("ScheduleId"))
export type ScheduleId = string & Brand.Brand<"ScheduleId">

/** Identifies an occurrence of a schedule. */
export const ScheduleOccurrenceId = Schema.String.pipe(Schema.brand("ScheduleOccurrenceId"))
export type ScheduleOccurrenceId = string & Brand.Brand<"ScheduleOccurrenceId">

/** Identifies a trigger. */
export const TriggerId = Schema.String.pipe(Schema.brand("TriggerId"))
export type TriggerId = string & Brand.Brand<"TriggerId">

/** Identifies an alert. */
export const AlertId = Schema.String.pipe(Schema.brand("AlertId"))
export type AlertId = string & Brand.Brand<"AlertId">

/** Identifies a channel of alerts. */
export const AlertChannelId = Schema.String.pipe(Schema.brand("AlertChannelId"))
export type AlertChannelId = string & Brand.Brand<"AlertChannelId">

/** Identifies a firing of an alert. */
export const AlertFiringId = Schema.String.pipe(Schema.brand("AlertFiringId"))
export type AlertFiringId = string & Brand.Brand<"AlertFiringId">

/** Identifies a message of an alert to a channel; the same in every attempt. */
export const AlertMessageId = Schema.String.pipe(Schema.brand("AlertMessageId"))
export type AlertMessageId = string & Brand.Brand<"AlertMessageId">

/** Identifies an API key; not the key itself. */
export const ApiKeyId = Schema.String.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = string & Brand.Brand<"ApiKeyId">

/** The name of a secret, which also identifies it. */
export const SecretName = Schema.String.pipe(Schema.brand("SecretName"))
export type SecretName = string & Brand.Brand<"SecretName">

/** Identifies a group of failures: its fingerprint. */
export const FailureId = Schema.String.pipe(Schema.brand("FailureId"))
export type FailureId = string & Brand.Brand<"FailureId">

/** Identifies a bulk operation. */
export const BulkOperationId = Schema.String.pipe(Schema.brand("BulkOperationId"))
export type BulkOperationId = string & Brand.Brand<"BulkOperationId">
