/** Process runs and their outputs. */
import type { Outputs } from "../../contract/Outputs.ts"
import type { ProcessRun, ProcessRuns } from "../../contract/ProcessRuns.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badPage, largePayload, unknown } from "./Phrases.ts"

const notStartable =
  "The process has no steps, or a step names a package without content or without its task. Nothing was started; the message names the step."

const processRun: (typeof ProcessRun)["Encoded"] = {
  id: ids.processRun,
  state: "unresolved",
  created_at: "2026-11-20T08:15:31.985Z",
  started_at: "2026-11-20T08:15:32.081Z",
  ended_at: "2026-11-20T08:15:32.510Z",
  process: { id: ids.process, name: "Invoices" },
  started_by: { type: "api", details: null },
  source: null,
  duration: 0.429,
  priority: 10
}

export const processRuns: Documented<typeof ProcessRuns> = {
  getProcessRun: {
    description:
      "Returns a run: its state, what started it, and its duration in seconds once it has ended. A run is `completed` when all of its items are done, and `unresolved` while a failed item is left.",
    response: processRun,
    errors: { 404: unknown("process run") }
  },
  getProcessRunSteps: {
    description:
      "Returns the steps of a run in their order, each with the numbers of its items by state, and why items wait when they do. It costs the same for a run of many items as for one of few.",
    response: {
      data: [
        {
          id: ids.step,
          name: "Read",
          items: { waiting: 0, in_progress: 1, done: 1, failed: 0 },
          started_at: "2026-11-20T08:15:32.082Z",
          ended_at: null,
          waits_for: null
        }
      ]
    },
    errors: { 404: unknown("process run") }
  },
  listProcessRuns: {
    description:
      "Returns the runs of the workspace, newest first. Filters may be combined. A `process_id` that does not exist gives an empty list.",
    response: { data: [processRun], has_more: false, next: null },
    errors: { 400: badPage }
  },
  startProcessRun: {
    description:
      "Starts a run. `with_payloads` creates an item for each of 1 to 1,000 payloads; `with_work_item_ids` takes up to 10,000 items from the queue of the process, all or none; `with_inputs` takes all that wait there, and starts nothing (`started: false`) when none do. Without a body, or with `{}`, it starts with the default work item of the process, else with one empty item. The run and its items are created in one transaction, and workers lease its first steps from then on. A `callback` receives the events of this run.",
    request: { type: "with_payloads", payloads: [{ invoice: 4711 }, { invoice: 4712 }], priority: 10 },
    response: { started: true, id: ids.processRun },
    errors: {
      400: "The body is invalid, its `type` is unknown, or a payload does not match the input schema of the process. The message names the field; nothing was started.",
      404: unknown("process"),
      409: `${notStartable.replace(". Nothing", ", or an id of `work_item_ids` is repeated or does not wait in the queue of this process. Nothing")}`,
      413: largePayload
    }
  },
  startProcessRunAgain: {
    description:
      "Starts a new run of the same process, as it is defined now, with the inputs of an ended run: the items of its first step that still exist, with their payloads and files as they are now. The old run does not change.",
    response: { started: true, id: ids.secondRun },
    errors: {
      404: unknown("process run"),
      409: `The run has not ended, all of its inputs were deleted, or the process cannot start: it has no steps, or a package without content. Nothing was started.`
    }
  },
  stopProcessRun: {
    description:
      "Stops a run. Items that wait become `done` or `failed`, as the request says, and step runs that have not started end. Started step runs are terminated, or finish the item they have reserved. The run ends when the last of them has ended. `accepted` is false when it had already ended.",
    parameters: { process_run_id: ids.secondRun },
    request: {
      set_remaining_work_items_as_done: false,
      terminate_ongoing_activity_runs: true,
      reason: "the invoices of the wrong day"
    },
    response: { accepted: true },
    errors: { 400: badBody, 404: unknown("process run") }
  },
  deleteProcessRun: {
    description: "Deletes an ended run with its step runs, logs, artifacts, items and outputs. Irreversible.",
    parameters: { process_run_id: ids.secondRun },
    response: { id: ids.secondRun, deleted: true },
    errors: { 404: unknown("process run"), 409: "The run has not ended. Stop it, and wait for its end." }
  },
  startProcessRunFromIntegration: {
    description:
      "Starts a run for services that can be given only an address. The key is in `token` of the query, and the whole body is the payload of one work item. With `with_handshake=asana`, a request with `X-Hook-Secret` starts nothing: the response repeats the header. Each request starts a run; there are no idempotency keys here.",
    request: { task: "new invoice", invoice: 4713 },
    response: { started: true, id: ids.thirdRun },
    errors: {
      400: "The body is not JSON, or does not match the input schema of the process. Nothing was started.",
      404: unknown("process"),
      409: notStartable,
      413: largePayload
    }
  }
}

export const outputs: Documented<typeof Outputs> = {
  listOutputs: {
    description:
      "Returns what the last step of a run created, oldest first, with payloads and files. Outputs of earlier steps are work items of the next step instead. The addresses of files need no key and are valid for one hour.",
    response: {
      data: [
        {
          id: ids.output,
          created_at: "2026-11-20T08:15:32.435Z",
          process: { id: ids.process },
          process_run: { id: ids.processRun },
          payload: { invoice: 4711, total: 120.5 },
          masked: [],
          files: []
        },
        {
          id: ids.secondOutput,
          created_at: "2026-11-20T08:15:32.464Z",
          process: { id: ids.process },
          process_run: { id: ids.processRun },
          payload: { total: 120.5 },
          masked: [],
          files: []
        }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage, 404: unknown("process run") }
  }
}
