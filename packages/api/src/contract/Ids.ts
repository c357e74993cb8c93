/** Branded ids. The service creates UUIDv7 strings; a client must treat every id as opaque. */
import type * as Brand from "effect/Brand"
import * as Schema from "effect/Schema"

/** A bundle has those that its program uses: hence the marks of purity, here and in what other modules share. */
const id = <const B extends string>(brand: Parameters<typeof Schema.brand<B>>[0]) =>
  Schema.String.pipe(Schema.brand<B>(brand))

/** Identifies a workspace. */
export const WorkspaceId = /* @__PURE__ */ id("WorkspaceId")
export type WorkspaceId = string & Brand.Brand<"WorkspaceId">

/** Identifies a process. */
export const ProcessId = /* @__PURE__ */ id("ProcessId")
export type ProcessId = string & Brand.Brand<"ProcessId">

/** Identifies a step of a process; it does not change while the step keeps its name. */
export const StepId = /* @__PURE__ */ id("StepId")
export type StepId = string & Brand.Brand<"StepId">

/** Identifies a run of a process. */
export const ProcessRunId = /* @__PURE__ */ id("ProcessRunId")
export type ProcessRunId = string & Brand.Brand<"ProcessRunId">

/** Identifies a step run: one execution of one step on one worker. */
export const StepRunId = /* @__PURE__ */ id("StepRunId")
export type StepRunId = string & Brand.Brand<"StepRunId">

/** Identifies a work item, and an output: an output that becomes a work item of the next step keeps its id. */
export const WorkItemId = /* @__PURE__ */ id("WorkItemId")
export type WorkItemId = string & Brand.Brand<"WorkItemId">

/** Identifies a file of a work item or of an output. */
export const FileId = /* @__PURE__ */ id("FileId")
export type FileId = string & Brand.Brand<"FileId">

/** Identifies a worker. */
export const WorkerId = /* @__PURE__ */ id("WorkerId")
export type WorkerId = string & Brand.Brand<"WorkerId">

/** Identifies a task package. */
export const TaskPackageId = /* @__PURE__ */ id("TaskPackageId")
export type TaskPackageId = string & Brand.Brand<"TaskPackageId">

/** Identifies a worker group. */
export const WorkerGroupId = /* @__PURE__ */ id("WorkerGroupId")
export type WorkerGroupId = string & Brand.Brand<"WorkerGroupId">

/** Identifies an asset. */
export const AssetId = /* @__PURE__ */ id("AssetId")
export type AssetId = string & Brand.Brand<"AssetId">

/** Identifies an upload of an asset's content. */
export const AssetUploadId = /* @__PURE__ */ id("AssetUploadId")
export type AssetUploadId = string & Brand.Brand<"AssetUploadId">

/** Identifies an assistant. */
export const AssistantId = /* @__PURE__ */ id("AssistantId")
export type AssistantId = string & Brand.Brand<"AssistantId">

/** Identifies a run of an assistant. */
export const AssistantRunId = /* @__PURE__ */ id("AssistantRunId")
export type AssistantRunId = string & Brand.Brand<"AssistantRunId">

/** Identifies an artifact of a step run. */
export const ArtifactId = /* @__PURE__ */ id("ArtifactId")
export type ArtifactId = string & Brand.Brand<"ArtifactId">

/** Identifies a webhook. */
export const WebhookId = /* @__PURE__ */ id("WebhookId")
export type WebhookId = string & Brand.Brand<"WebhookId">

/** Identifies a delivery: one event on its way to one webhook, over all attempts. */
export const WebhookDeliveryId = /* @__PURE__ */ id("WebhookDeliveryId")
export type WebhookDeliveryId = string & Brand.Brand<"WebhookDeliveryId">

/** Identifies an event; the same over all attempts and redeliveries, so receivers drop duplicates by it. */
export const EventId = /* @__PURE__ */ id("EventId")
export type EventId = string & Brand.Brand<"EventId">

/** Identifies a link token of a worker group. */
export const LinkTokenId = /* @__PURE__ */ id("LinkTokenId")
export type LinkTokenId = string & Brand.Brand<"LinkTokenId">

/** Identifies a schedule. */
export const ScheduleId = /* @__PURE__ */ id("ScheduleId")
export type ScheduleId = string & Brand.Brand<"ScheduleId">

/** Identifies an occurrence of a schedule. */
export const ScheduleOccurrenceId = /* @__PURE__ */ id("ScheduleOccurrenceId")
export type ScheduleOccurrenceId = string & Brand.Brand<"ScheduleOccurrenceId">

/** Identifies a trigger. */
export const TriggerId = /* @__PURE__ */ id("TriggerId")
export type TriggerId = string & Brand.Brand<"TriggerId">

/** Identifies an alert. */
export const AlertId = /* @__PURE__ */ id("AlertId")
export type AlertId = string & Brand.Brand<"AlertId">

/** Identifies a channel of alerts. */
export const AlertChannelId = /* @__PURE__ */ id("AlertChannelId")
export type AlertChannelId = string & Brand.Brand<"AlertChannelId">

/** Identifies a firing of an alert. */
export const AlertFiringId = /* @__PURE__ */ id("AlertFiringId")
export type AlertFiringId = string & Brand.Brand<"AlertFiringId">

/** Identifies a message of an alert to a channel; the same in every attempt. */
export const AlertMessageId = /* @__PURE__ */ id("AlertMessageId")
export type AlertMessageId = string & Brand.Brand<"AlertMessageId">

/** Identifies an API key; not the key itself. */
export const ApiKeyId = /* @__PURE__ */ id("ApiKeyId")
export type ApiKeyId = string & Brand.Brand<"ApiKeyId">

/** The name of a secret, which also identifies it. */
export const SecretName = /* @__PURE__ */ id("SecretName")
export type SecretName = string & Brand.Brand<"SecretName">

/** Identifies a group of failures: its fingerprint. */
export const FailureId = /* @__PURE__ */ id("FailureId")
export type FailureId = string & Brand.Brand<"FailureId">

/** Identifies a bulk operation. */
export const AuditEntryId = /* @__PURE__ */ id("AuditEntryId")
export type AuditEntryId = string & Brand.Brand<"AuditEntryId">

export const BulkOperationId = /* @__PURE__ */ id("BulkOperationId")
export type BulkOperationId = string & Brand.Brand<"BulkOperationId">

/** Identifies an account of a person, in all workspaces of the room. */
export const UserId = /* @__PURE__ */ id("UserId")
export type UserId = string & Brand.Brand<"UserId">
