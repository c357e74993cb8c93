/** Workers and worker groups. */
import type { GroupLinkToken, WorkerGroups } from "../../contract/WorkerGroups.ts"
import type { Worker, Workers } from "../../contract/Workers.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badBodyOr, badPage, nameExists, unknown, unknownOne } from "./Phrases.ts"

const pastExpiry = badBodyOr("`expires_at` is not in the future")
const noToken = "The workspace has no such worker group, or the group has no such link token."

const worker: (typeof Worker)["Encoded"] = {
  id: ids.worker,
  name: "office 1",
  state: "busy",
  labels: ["site=vienna"],
  draining: false,
  paused: null,
  last_seen_at: "2026-11-20T08:15:32.116Z",
  worker_groups: [{ id: ids.workerGroup, name: "Vienna, first floor" }],
  step_runs: [{ id: ids.stepRun, step: "Read", process_run: { id: ids.processRun } }]
}

export const workers: Documented<typeof Workers> = {
  getWorker: {
    description:
      "Returns a worker: `offline` without a heartbeat for 10 seconds, `busy` while it has a step run, else `idle`, with its groups and the step runs it is processing.",
    response: worker,
    errors: { 404: unknown("worker") }
  },
  listWorkers: {
    description: "Returns the workers of the workspace, newest first.",
    response: { data: [worker], has_more: false, next: null },
    errors: { 400: badPage }
  },
  updateWorker: {
    description: "Renames a worker. Names of workers need not be unique. Without `name` nothing changes.",
    request: { name: "office 1" },
    response: {
      ...worker,
      state: "idle",
      last_seen_at: "2026-11-20T08:15:30.978Z",
      step_runs: []
    },
    errors: { 400: badBody, 404: unknown("worker") }
  },
  deleteWorker: {
    description:
      "Deletes a worker. Irreversible: its token is refused from then on, and its machine must be linked again.",
    response: { id: ids.worker, deleted: true },
    errors: { 404: unknown("worker"), 409: "The worker has a step run. Drain it, and wait until it is idle." }
  },
  drainWorker: {
    description:
      "Lets a worker finish: it leases nothing more, ends when its step runs have ended, and leases again when it is started the next time. Repeating it changes nothing.",
    response: {
      id: ids.worker,
      name: "two",
      state: "idle",
      labels: [],
      draining: true,
      paused: null,
      last_seen_at: "2026-11-20T08:15:33.143Z",
      worker_groups: [],
      step_runs: []
    },
    errors: { 404: unknown("worker") }
  },
  getQueueDepth: {
    description:
      "Counts the step runs that want a worker now, for what starts and stops workers: scale by `total`. `waiting` alone falls to zero as soon as workers have them. What a pause holds back is not counted. Each step run is bound to one worker group or none, and asks for one set of labels, so it is counted for exactly one combination of `worker_group_id` and `labels`.",
    response: { waiting: 0, assigned: 1, total: 1 },
    errors: {
      400: "A parameter is invalid, such as `labels` with an empty label; the message names it.",
      404: unknownOne("process", "worker group")
    }
  },
  createWorkerLinkToken: {
    description:
      "Creates a token with which one worker links itself, once. `link_token` is returned only here. It is valid for one hour, or until `expires_at`.",
    request: { expires_at: "2036-11-21T08:15:30Z" },
    response: { id: ids.workerLinkToken, expires_at: "2036-11-21T08:15:30.000Z", link_token: "link-3nVx" },
    errors: { 400: pastExpiry }
  }
}

const groupLinkToken: (typeof GroupLinkToken)["Encoded"] = {
  id: ids.groupLinkToken,
  name: "autoscaling",
  expires_at: "2036-11-21T08:15:30.000Z",
  worker_group: { id: ids.workerGroup }
}

export const workerGroups: Documented<typeof WorkerGroups> = {
  getWorkerGroup: {
    description: "Returns a worker group, and its pause, if it is paused.",
    response: { id: ids.workerGroup, name: "Vienna", paused: null },
    errors: { 404: unknown("worker group") }
  },
  listWorkerGroups: {
    description: "Returns the worker groups of the workspace, newest first.",
    response: { data: [{ id: ids.workerGroup, name: "Vienna", paused: null }], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createWorkerGroup: {
    description:
      "Creates a worker group without workers. Steps that name it are leased only by its workers. The name is unique in the workspace.",
    request: { name: "Vienna" },
    response: { id: ids.workerGroup, name: "Vienna", paused: null },
    errors: { 400: badBody, 409: nameExists("worker group") }
  },
  updateWorkerGroup: {
    description: "Renames a worker group. Without `name` nothing changes.",
    request: { name: "Vienna, first floor" },
    response: { id: ids.workerGroup, name: "Vienna, first floor", paused: null },
    errors: { 400: badBody, 404: unknown("worker group"), 409: nameExists("worker group") }
  },
  deleteWorkerGroup: {
    description: "Deletes a worker group with its link tokens. Irreversible. Its workers stay linked.",
    response: { id: ids.workerGroup, deleted: true },
    errors: { 404: unknown("worker group"), 409: "A step of a process names the group. Change the step first." }
  },
  addWorkerToGroup: {
    description:
      "Adds a worker to a group, and returns all groups of the worker. A worker may be in any number of groups. Adding it again changes nothing.",
    request: { worker: { id: ids.worker } },
    response: {
      worker: { id: ids.worker },
      worker_groups: [{ id: ids.workerGroup, name: "Vienna, first floor", paused: null }]
    },
    errors: { 400: badBody, 404: "The workspace has no such worker group, or no such worker; the message names which." }
  },
  removeWorkerFromGroup: {
    description:
      "Removes a worker from a group, and returns the groups it is still in. Step runs that it has leased continue.",
    response: { worker: { id: ids.worker }, worker_groups: [] },
    errors: { 404: "The workspace has no such worker group, or the worker is not in it." }
  },
  listGroupLinkTokens: {
    description: "Returns the link tokens of a group, newest first, without their texts.",
    response: { data: [groupLinkToken], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("worker group") }
  },
  createGroupLinkToken: {
    description:
      "Creates a token with which any number of workers link themselves into the group, until it expires or is deleted; without `expires_at` it does not expire. `link_token` is returned only here.",
    request: { name: "autoscaling", expires_at: "2036-11-21T08:15:30Z" },
    response: { ...groupLinkToken, link_token: "sbl_019aa0b2-5c00-7000-8000-0000000000f4_secret" },
    errors: { 400: pastExpiry, 404: unknown("worker group") }
  },
  getGroupLinkToken: {
    description: "Returns a link token of a group, without its text.",
    response: groupLinkToken,
    errors: { 404: noToken }
  },
  updateGroupLinkToken: {
    description: "Changes the given fields of a link token. With `expires_at: null` it does not expire.",
    request: { name: "autoscaling, night", expires_at: null },
    response: { ...groupLinkToken, name: "autoscaling, night", expires_at: null },
    errors: { 400: pastExpiry, 404: noToken }
  },
  deleteGroupLinkToken: {
    description: "Deletes a link token: no further worker links with it. Irreversible. Workers that it linked stay.",
    response: { id: ids.groupLinkToken, deleted: true },
    errors: { 404: noToken }
  }
}
