/** Work items. */
import type { WorkItem, WorkItems } from "../../contract/WorkItems.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badBodyOr, badPage, largePayload, unknown } from "./Phrases.ts"

const unchangeable =
  "The payload and files of an item change only while it is `new`, `failed`, or `pending` without a step run."

const payload = { invoice: 4710, amount: 125, iban: "DE89370400440532013000" }

const workItem: (typeof WorkItem)["Encoded"] = {
  id: ids.workItem,
  created_at: "2026-11-20T08:15:31.619Z",
  state: "new",
  state_updated_at: null,
  process: { id: ids.process },
  process_run: null,
  step: null,
  step_run: null,
  exception: null,
  priority: 20,
  due_at: "2036-11-20T17:00:00.000Z",
  due_state: "on_time",
  reference: "invoice-4710",
  tags: ["express"],
  payload,
  masked: [],
  files: [
    {
      id: ids.attachedFile,
      name: "invoice-4710.pdf",
      size: 12,
      download: {
        url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000de/invoice-4710.pdf?expires=1795166130&signature=tx7vapMqK"
      }
    }
  ]
}

export const workItems: Documented<typeof WorkItems> = {
  getWorkItem: {
    description:
      "Returns a work item with its payload and files. Of a process with secret fields, sessions of the console and keys without `Processes.read_sensitive` get null in their place, with their pointers in `masked`; without the permission they cannot download its files either. The addresses of files need no key and are valid for one hour.",
    response: workItem,
    errors: { 404: unknown("work item") }
  },
  listWorkItems: {
    description:
      "Returns work items, newest first; filters may be combined, and an id that does not exist gives an empty list. A `step_id` needs the `process_id` or a `process_run_id` beside it. Payloads and files are left out unless `include_data=true`.",
    parameters: { include_data: "true", tag: "express" },
    response: { data: [workItem], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createWorkItem: {
    description:
      'Creates an item in the queue of a process. It waits there, in the state `new`, until a run takes it: start one with `with_inputs` or with its id. A `reference` is held by one open item of a process at a time; `when_reference_exists: "join"` returns that item unchanged instead of refusing.',
    request: {
      process: { id: ids.process },
      payload: { ...payload, amount: 120.5 },
      priority: 20,
      due_at: "2036-11-20T17:00:00Z",
      tags: ["express"],
      reference: "invoice-4710"
    },
    response: { ...workItem, payload: { ...payload, amount: 120.5 }, files: [] },
    errors: {
      400: badBodyOr("the payload does not match the input schema of the process"),
      404: unknown("process"),
      409: "An open item of the process has this `reference`; the message has its id. Settle it first, or join it.",
      413: largePayload
    }
  },
  createWorkItems: {
    description:
      "Creates up to 1,000 items in the queue of a process in one transaction, all or none, and returns their ids in the order of the payloads. `references` has one entry for each payload, null for none.",
    request: { process: { id: ids.process }, payloads: [{ invoice: 4714 }, { invoice: 4715 }], tags: ["import"] },
    response: { work_items: [{ id: ids.bulkItem }, { id: ids.secondBulkItem }] },
    errors: {
      400: badBodyOr(
        "`references` has not as many entries as `payloads`, or a payload does not match the input schema"
      ),
      404: unknown("process"),
      409: "An open item of the process has one of the references; the message has both. Nothing was created.",
      413: largePayload
    }
  },
  createWorkItemFile: {
    description:
      "Returns the form with which one file is attached: a multipart `POST` to `url` without authorization, with all fields of `form_data` first and the part `file` last, within one hour. The file appears on the item once its bytes are complete; a file of the same name is replaced. An item has at most 100 files of at most 1 GiB each.",
    request: { file_name: "invoice-4710.pdf", file_size: 12 },
    response: {
      upload: {
        url: "https://robots.example.com/transfer/v1/uploads",
        form_data: { policy: "eyJraW5kIjoiZmlsZSJ9", signature: "tx7vapMqK" }
      }
    },
    errors: {
      400: badBody,
      404: unknown("work item"),
      409: `${unchangeable} Or it already has 100 files.`,
      413: "`file_size` is larger than 1 GiB."
    }
  },
  updateWorkItemPayload: {
    description:
      "Replaces the payload of an item; repeating it changes nothing more. The payload is any JSON up to 1 MiB, or null. With `previous_payload` it is refused when the item has another payload by then. Of a caller who gets secret fields masked, null or nothing in the place of one leaves it as it is.",
    request: { payload, previous_payload: { ...payload, amount: 120.5 } },
    response: { payload, masked: [] },
    errors: {
      400: badBodyOr("the item is of the first step, and the payload does not match the input schema of the process"),
      404: unknown("work item"),
      409: `${unchangeable} Or it has another payload than \`previous_payload\`: read it again.`,
      413: largePayload
    }
  },
  revealWorkItem: {
    description:
      "Returns values that `masked` of the work item names. It leaves an entry in the audit, with the pointers and without the values. A key that has the permission reads them in the item, too.",
    request: { pointers: ["/iban"] },
    response: { values: { "/iban": payload.iban } },
    errors: {
      400: badBodyOr("nothing secret is at one of the pointers"),
      404: unknown("work item")
    }
  },
  batchWorkItems: {
    description:
      "Retries, deletes or marks as done 1 to 10,000 items in one transaction, all or none. `retry` and `mark_as_done` take `failed` items; `delete` takes those that are `new`, `failed` or `done`, and is irreversible. Items that are retried or marked already are left as they are. A retried item is `pending` again, the count of its attempts restarts, and its run continues. `outputs_passed_on` counts outputs of these items that were passed on before: a retry may create them again.",
    request: { batch_operation: "delete", work_item_ids: [ids.secondBulkItem] },
    response: { accepted: true, outputs_passed_on: 0 },
    errors: {
      400: badBodyOr("an id is given twice"),
      404: "The workspace lacks one of the items; the message has its id. Nothing was changed.",
      409: "One of the items is in a state that does not allow it, or is of a run that is stopping; the message has its id. Nothing was changed."
    }
  },
  getThroughput: {
    description:
      "Counts the items that were created in each of the last hours, by what has become of them until now; oldest hour first, and the last is the current one. Deleted items are not counted.",
    parameters: { hours: "2" },
    response: {
      data: [
        { from: "2026-11-20T22:00:00.000Z", done: 0, failed: 0, open: 0 },
        { from: "2026-11-20T23:00:00.000Z", done: 0, failed: 0, open: 2 }
      ]
    },
    errors: { 400: "`hours` is not a whole number from 1 to 168." }
  }
}
