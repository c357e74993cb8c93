/** Triggers. */
import type { TriggerListed, Triggers } from "../../contract/Triggers.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBodyOr, badPage, nameExists, unknown, unknownOne } from "./Phrases.ts"

const mayNotStart =
  "The key is unknown or of another workspace, or it lacks `Triggers.write_triggers` or `Processes.trigger_processes`."

const trigger = {
  name: "pushes",
  process: { id: ids.process },
  start: { at_least: 10, oldest_seconds: 300 },
  webhook: {
    signature: { type: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=", secret: "a shared secret" },
    payload: { repository: "/repository/full_name" },
    event_id: { header: "X-GitHub-Delivery" }
  }
} as const

const badTrigger = badBodyOr("neither `start` nor `webhook` is given, or a signature has no secret")

const listed: (typeof TriggerListed)["Encoded"] = {
  id: ids.trigger,
  name: "pushes",
  process: { id: ids.process, name: "Invoices" },
  created_at: "2026-11-20T08:15:31.466Z",
  enabled: false,
  start: { at_least: 10, oldest_seconds: 300, max_runs: 1 },
  webhook: {
    signature: { type: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=" },
    handshake: null,
    payload: { repository: "/repository/full_name" },
    event_id: { header: "X-GitHub-Delivery", pointer: null },
    max_waiting: 1000
  },
  problem: null,
  refused_requests: null
}

const url = "https://robots.example.com/hooks/sbh_019aa0b2-5c00-7000-8000-0000000000e8_secret"

export const triggers: Documented<typeof Triggers> = {
  getTrigger: {
    description:
      "Returns a trigger with its runs that have not ended, and in `problem` why no run can start, if so. The address of its webhook is not returned again.",
    response: { ...listed, running: [] },
    errors: { 404: unknown("trigger") }
  },
  listTriggers: {
    description: "Returns the triggers of the workspace, or of one process, newest first.",
    response: { data: [listed], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createTrigger: {
    description:
      "Creates a trigger. `webhook` gives it an address: each request there becomes an item in the queue of the process; the address is in `url`, which is returned only here, and is a secret. `start` starts a run with all items of the queue when `at_least` wait, or the oldest has waited for `oldest_seconds`. The trigger continues when the key that created it is revoked.",
    request: trigger,
    response: { ...listed, enabled: true, running: [], url },
    errors: {
      400: badTrigger,
      403: mayNotStart,
      404: unknown("process"),
      409: nameExists("trigger")
    }
  },
  updateTrigger: {
    description:
      "Replaces the whole trigger. Its address and, when none is given, the secret of its signature stay; `url` is null unless it got an address only now. Items that wait do not change.",
    request: { ...trigger, enabled: false },
    response: { ...listed, running: [], url: null },
    errors: {
      400: badTrigger,
      403: mayNotStart,
      404: unknownOne("trigger", "process"),
      409: nameExists("trigger")
    }
  },
  rotateTriggerUrl: {
    description:
      "Creates a new address for a trigger and returns it. The old address is revoked immediately, and the state of its handshake is deleted. Each call creates another address.",
    response: { ...listed, running: [], url },
    errors: { 404: unknown("trigger"), 409: "The trigger has no `webhook`, and so no address." }
  },
  deleteTrigger: {
    description: "Deletes a trigger and revokes its address. Irreversible. Its runs continue, and its items stay.",
    response: { id: ids.trigger, deleted: true },
    errors: { 404: unknown("trigger") }
  }
}
