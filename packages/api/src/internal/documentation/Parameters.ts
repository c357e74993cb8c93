/** The parameters of paths, queries and headers, by their names: each means the same in all operations. */
import { ids } from "./ExampleIds.ts"

/** The text of a parameter, and the value of those that are required in the examples. */
export interface ParameterText {
  readonly description: string
  readonly example?: string
}

const required = (description: string, example: string): ParameterText => ({ description, example })

export const parameterTexts: Readonly<Record<string, ParameterText>> = {
  workspace_id: required("The id of the workspace of the key.", ids.workspace),
  asset_id: required("The id of the asset, or `name:` and its name, such as `name:config/eu.json`.", ids.asset),
  upload_id: required("The id of the upload, from `createAssetUpload`.", ids.assetUpload),
  assistant_id: required("The id of the assistant.", ids.assistant),
  assistant_run_id: required("The id of the assistant run.", ids.assistantRun),
  process_id: required("The id of the process.", ids.process),
  step_id: required("The id of the step, from `getProcess`.", ids.step),
  process_run_id: required("The id of the process run.", ids.processRun),
  step_run_id: required("The id of the step run; in the interface of robots also called robot run.", ids.stepRun),
  artifact_id: required("The id of the artifact, from `listStepRunArtifacts`.", ids.artifact),
  work_item_id: required("The id of the work item.", ids.workItem),
  file_id: required("The id of the file.", ids.file),
  file_name: required("The name of the file; it is ignored.", "log.html"),
  failure_id: required("The id of the group of failures.", ids.failure),
  bulk_operation_id: required("The id of the bulk operation.", ids.bulkOperation),
  task_package_id: required("The id of the task package.", ids.taskPackage),
  version: required("The number of the version; 1 is the first of its package.", "2"),
  secret_name: required("The name of the secret.", "erp"),
  webhook_id: required("The id of the webhook.", ids.webhook),
  delivery_id: required("The id of the delivery, from `listWebhookDeliveries`.", ids.delivery),
  schedule_id: required("The id of the schedule.", ids.schedule),
  trigger_id: required("The id of the trigger.", ids.trigger),
  worker_id: required("The id of the worker.", ids.worker),
  worker_group_id: required("The id of the worker group.", ids.workerGroup),
  labels: {
    description: "Only step runs that ask for exactly these labels, separated by commas; empty: for none. Default: any."
  },
  token_id: required("The id of the link token.", ids.groupLinkToken),
  alert_id: required("The id of the alert.", ids.alert),
  channel_id: required("The id of the alert channel.", ids.alertChannel),
  chain: {
    description:
      "`workspace`, or `room` for what belongs to the room as a whole: its accounts, sign-ins, refused ones among them, workspaces and restores. `room` needs `Room.manage` too."
  },
  actor_id: { description: "Only entries of this key or person." },
  action: { description: "Only entries of this operation, such as `updateProcess`." },
  resource_type: { description: "Only entries about this kind of resource, such as `process`." },
  resource_id: { description: "Only entries about the resource with this id; of a secret its name." },
  from: { description: "Only what happened at this time or later; ISO 8601 with a zone." },
  until: { description: "Only what happened before this time; ISO 8601 with a zone." },
  api_key_id: required("The id of the key, not the key itself.", ids.apiKey),
  user_id: required("The id of the user.", ids.user),
  role_name: required("The name of the role.", "clerk"),
  limit: { description: "How many items a page has; more than 500 count as 500." },
  cursor: { description: "Where the page begins: from `next` of the page before, with the same filters." },
  name: { description: "Only what has exactly this name. An extension." },
  state: { description: "Only what is in this state." },
  created_after: { description: "Only what was created at this time or later; ISO 8601 with a zone. An extension." },
  created_before: { description: "Only what was created before this time; ISO 8601 with a zone. An extension." },
  order: { description: "`newest_first`: the end first; default: oldest first. An extension." },
  position: {
    description:
      "The page that begins with this message, counted from 0; a negative one counts from the end. Without `cursor` and `order`. An extension."
  },
  count: {
    description: "With `position`: how many messages the page has; more than 1,000 count as 1,000. An extension."
  },
  include_data: { description: "Whether payloads and files are included." },
  includeData: { description: "Whether payloads and files are included." },
  reference: { description: "Only work items with this reference. An extension." },
  tag: { description: "Only work items with this tag. An extension." },
  due_state: { description: "Only open work items that have a `due_at` and are so far from it. An extension." },
  hours: { description: "How many hours, with the current one; 1 to 168, default 24." },
  type: { description: "Only failures with this type of exception." },
  code: { description: "Only failures with this code." },
  note: { description: "Why there is a new version, up to 1,000 characters; shown with the version." },
  with_handshake: { description: "The handshake of the service that calls: `asana`." },
  "x-hook-secret": { description: "The secret of the handshake; the response repeats it." },
  "last-event-id": { description: "The id of the last event that was received; browsers send it by themselves." },
  after: { description: "The `seq` of the last hint that was received; the stream continues after it." },
  encryptionScheme: {
    description: "The scheme with which the value is encrypted; one is known.",
    example: "robocloud-vault-transit-v2"
  },
  publicKey: {
    description: "The RSA key of the reader, at least 2048 bits: base64 of its DER SubjectPublicKeyInfo.",
    example:
      "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEApc2oC5aEXTY43Mawz5xukXQZQf5q0Zr3OlIdiGxg6dozgvXQySsyB4fstAhx3FHr53EUzolsyuuIMsVPLsB7TH81rEQsqy0X9MrpU51e5K0RMOq+YSgCI15HcRrhl3AQuNcbTlMLBWb5cK/A9qPzyUX0CqwzhB6wsHsObo9ACipnI/UDyU+G6WMsjnacErLimOHZTqKRrjgNZuzwRfc/OTNOV6nspJ9nJxD5WVUg5r4fuMKfZ7iLFDaxxgqatumLfDt522ZxWScWFIRtRSOd+AtXZcDCvR5f90CN1w+AoJxJE5V6CNISZDZcu+Uy75lCTmLl7q0kC4yPFtf29+bTmwIDAQAB"
  },
  sortBy: { description: "What the list is sorted by: `createTs`." },
  sortOrder: { description: "`asc`: oldest first; `desc` (default): newest first." }
}
