/**
 * Every member of requests and responses, written by hand from the description of the interface, as `Operations.ts` has the
 * operations. A member of a member is `steps.id`, whether there is one or a list of them.
 */
import type { Place } from "./Members.ts"

const page = "limit cursor"
const listOf = (members: string) =>
  `data ${members
    .split(" ")
    .map((name) => `data.${name}`)
    .join(" ")} has_more next`

const file = "files files.id files.name files.size files.download files.download.url"
const assistant = "id name task task.name task.package_id created_at"
const assistantRun = "id state error error.code started_at ended_at duration assistant assistant.id assistant.name"
const details = "started_by.details.id started_by.details.first_name started_by.details.last_name"
const processRun = `id state created_at started_at ended_at process process.id process.name started_by started_by.type started_by.details ${details} duration`
const output = `id created_at process process.id process_run process_run.id payload ${file}`
const stepRun = "id state state_updated_at error error.code started_at ended_at duration step step.id step.name"
const taskPackage = "id name type tasks tasks.name download download.url"
const webhook = "id process process.id enabled_events endpoint"
const refs = "process process.id process_run process_run.id step step.id step_run step_run.id"
const itemListed = `id created_at state state_updated_at ${refs} exception exception.code exception.type exception.message`
const workItem = `${itemListed} payload ${file}`
const worker = "id name state"
const group = "id name"
const membership = "worker worker.id worker_groups worker_groups.id worker_groups.name"

/** Paths are below the workspace. Where the description leaves open how something is said, what is said is of the interface. */
export const specifiedMembers: Readonly<Record<string, Partial<Readonly<Record<Place, string>>>>> = {
  "GET /workspaces/{workspace_id}": { response: "id name organization organization.id organization.name" },

  "GET /assets/{asset_id}": { response: "id name payload payload.type payload.content_type payload.url" },
  "GET /assets": { query: page, response: listOf("id name") },
  "POST /assets": { body: "name", response: "id name payload payload.type" },
  "POST /assets/{asset_id}/uploads": { body: "content_type data", response: "id status content_type upload_url" },
  "GET /assets/{asset_id}/uploads/{upload_id}": { response: "id status content_type reason" },
  "DELETE /assets/{asset_id}": { response: "id deleted" },

  "GET /assistants/{assistant_id}": { response: assistant },
  "GET /assistants": { query: page, response: listOf(assistant) },
  "POST /assistants": { body: "name task task.name task.package_id", response: "id name" },
  "GET /assistant-runs/{assistant_run_id}": { response: assistantRun },
  "GET /assistant-runs": { query: `assistant_id ${page}`, response: listOf(assistantRun) },

  "GET /processes/{process_id}": { response: "id name description created_at steps steps.id steps.name" },
  "GET /processes": { query: page, response: listOf("id name created_at") },
  "GET /process-runs/{process_run_id}": { response: processRun },
  "GET /process-runs": { query: `process_id state ${page}`, response: listOf(processRun) },
  "GET /outputs": { query: `process_run_id ${page}`, response: listOf(output) },
  "DELETE /process-runs/{process_run_id}": { response: "id deleted" },
  "POST /processes/{process_id}/process-runs": {
    body: "type payloads work_item_ids callback callback.url callback.secret callback.callback_events",
    response: "started id"
  },
  "POST /processes/{process_id}/process-runs-integrations": { query: "with_handshake", response: "started id" },
  "POST /process-runs/{process_run_id}/stop": {
    body: "set_remaining_work_items_as_done terminate_ongoing_activity_runs reason",
    response: "accepted"
  },

  "GET /step-runs/{step_run_id}": { response: stepRun },
  "GET /step-runs": { query: `process_run_id ${page}`, response: listOf(stepRun) },
  "GET /step-runs/{step_run_id}/artifacts": { query: page, response: listOf("id name size") },
  "GET /step-runs/{step_run_id}/artifacts/{artifact_id}": { response: "id name size url" },
  "GET /step-runs/{step_run_id}/console-messages": { query: "cursor", response: listOf("timestamp message") },
  "GET /step-runs/{step_run_id}/events": { query: page, response: listOf("timestamp event_type") },

  "GET /task-packages/{task_package_id}": { response: taskPackage },
  "POST /task-packages": { body: "name type", response: taskPackage },
  "POST /task-packages/{task_package_id}": {
    body: "type configuration configuration.mode configuration.branch configuration.automatic_deployment configuration.reference",
    response: "id name type"
  },
  "DELETE /task-packages/{task_package_id}": { response: "id deleted" },

  "GET /secrets": { query: "cursor", response: listOf("name description") },
  "POST /secrets": { body: "name items description", response: "name description" },
  "POST /secrets/{secret_name}": { body: "items description", response: "name description" },
  "DELETE /secrets/{secret_name}": { response: "name deleted" },

  "GET /webhooks/{webhook_id}": { response: `${webhook} secret` },
  "GET /webhooks": { query: page, response: listOf(webhook) },
  "POST /webhooks": { body: "endpoint enabled_events process process.id", response: `${webhook} secret` },
  "DELETE /webhooks/{webhook_id}": { response: "id deleted" },

  "GET /work-items/{work_item_id}": { response: workItem },
  "GET /work-items": { query: `process_id process_run_id state include_data ${page}`, response: listOf(workItem) },
  "POST /work-items": { body: "process process.id payload", response: workItem },
  "POST /work-items/{work_item_id}/files": {
    body: "file_name file_size",
    response: "upload upload.url upload.form_data"
  },
  "POST /work-items/{work_item_id}/payload": { body: "payload", response: "payload" },
  "POST /work-items/batch": { body: "batch_operation work_item_ids", response: "accepted" },

  "GET /workers/{worker_id}": { response: worker },
  "GET /workers": { query: page, response: listOf(worker) },
  "POST /workers/{worker_id}": { body: "name", response: worker },
  "DELETE /workers/{worker_id}": { response: "id deleted" },
  "GET /worker-groups/{worker_group_id}": { response: group },
  "GET /worker-groups": { query: page, response: listOf(group) },
  "POST /worker-groups": { body: "name", response: group },
  "POST /worker-groups/{worker_group_id}": { body: "name", response: group },
  "DELETE /worker-groups/{worker_group_id}": { response: "id deleted" },
  "POST /worker-groups/{worker_group_id}/workers": { body: "worker worker.id", response: membership },
  "DELETE /worker-groups/{worker_group_id}/workers/{worker_id}": { response: membership }
}
