/** Work items, groups of failures and bulk operations. */
import type { BulkOperations } from "../../contract/BulkOperations.ts"
import type { Failures } from "../../contract/Failures.ts"
import type { WorkItems } from "../../contract/WorkItems.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badBodyOr, badPage, largePayload, unknown } from "./Phrases.ts"

const unchangeable =
  "The payload and files of an item change only while it is `new`, `failed`, or `pending` without a step run."

export const workItems: Documented<typeof WorkItems> = {
  getWorkItem: {
    description:
      "Returns a work item with its payload and files. The addresses of files need no key and are valid for one hour.",
    response: {
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
      payload: { invoice: 4710, amount: 125 },
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
    },
    errors: { 404: unknown("work item") }
  },
  listWorkItems: {
    description:
      "Returns work items, newest first; filters may be combined, and an id that does not exist gives an empty list. Payloads and files are left out unless `include_data=true`.",
    parameters: { include_data: "true", tag: "express" },
    response: {
      data: [
        {
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
          payload: { invoice: 4710, amount: 125 },
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
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage }
  },
  createWorkItem: {
    description:
      'Creates an item in the queue of a process. It waits there, in the state `new`, until a run takes it: start one with `with_inputs` or with its id. A `reference` is held by one open item of a process at a time; `when_reference_exists: "join"` returns that item unchanged instead of refusing.',
    request: {
      process: { id: ids.process },
      payload: { invoice: 4710, amount: 120.5 },
      priority: 20,
      due_at: "2036-11-20T17:00:00Z",
      tags: ["express"],
      reference: "invoice-4710"
    },
    response: {
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
      payload: { invoice: 4710, amount: 120.5 },
      files: []
    },
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
      "Replaces the payload of an item; repeating it changes nothing more. The payload is any JSON up to 1 MiB, or null.",
    request: { payload: { invoice: 4710, amount: 125 } },
    response: { payload: { invoice: 4710, amount: 125 } },
    errors: {
      400: badBodyOr("the payload does not match the input schema of the process"),
      404: unknown("work item"),
      409: unchangeable,
      413: largePayload
    }
  },
  batchWorkItems: {
    description:
      "Retries, deletes or marks as done 1 to 10,000 items in one transaction, all or none. `retry` and `mark_as_done` take `failed` items; `delete` takes those that are `new`, `failed` or `done`, and is irreversible. A retried item is `pending` again, its attempts are counted anew, and its run continues. `outputs_passed_on` counts outputs of these items that were passed on before: a retry may create them again.",
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

export const failures: Documented<typeof Failures> = {
  listFailures: {
    description:
      "Returns failed items in groups of those that failed alike: in the same step, with the same type and code, and with messages that differ only in numbers, ids and quoted paths. The group that failed last comes first. Resolved groups are returned only with `state=resolved`.",
    response: {
      data: [
        {
          id: ids.failure,
          process: { id: ids.process, name: "Invoices" },
          step: { id: ids.step, name: "Read" },
          type: "business",
          code: "NO_AMOUNT",
          message: "the invoice # has no amount",
          created_at: "2026-11-20T08:15:32.496Z",
          state: "open",
          muted_until: null,
          note: null,
          assignee: null,
          count: 1,
          first_failed_at: "2026-11-20T08:15:32.495Z",
          last_failed_at: "2026-11-20T08:15:32.495Z",
          work_items: [{ id: ids.secondItem, process_run: { id: ids.processRun } }]
        }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage }
  },
  getFailure: {
    description:
      "Returns a group of failures, with up to five of its items. A group without failed items is deleted 90 days after its last change, unless it is muted.",
    response: {
      id: ids.failure,
      process: { id: ids.process, name: "Invoices" },
      step: { id: ids.step, name: "Read" },
      type: "business",
      code: "NO_AMOUNT",
      message: "the invoice # has no amount",
      created_at: "2026-11-20T08:15:32.496Z",
      state: "open",
      muted_until: null,
      note: null,
      assignee: null,
      count: 1,
      first_failed_at: "2026-11-20T08:15:32.495Z",
      last_failed_at: "2026-11-20T08:15:32.495Z",
      work_items: [{ id: ids.secondItem, process_run: { id: ids.processRun } }]
    },
    errors: { 404: unknown("group of failures") }
  },
  updateFailure: {
    description:
      "Changes the given fields of a group. `muted` raises no alerts, until `muted_until` or until it is opened; `resolved` is opened again when an item fails like it. The items themselves do not change.",
    request: { state: "muted", muted_until: "2036-11-27T08:00:00Z", note: "the supplier knows", assignee: "Ada" },
    response: {
      id: ids.failure,
      process: { id: ids.process, name: "Invoices" },
      step: { id: ids.step, name: "Read" },
      type: "business",
      code: "NO_AMOUNT",
      message: "the invoice # has no amount",
      created_at: "2026-11-20T08:15:32.496Z",
      state: "muted",
      muted_until: "2036-11-27T08:00:00.000Z",
      note: "the supplier knows",
      assignee: "Ada",
      count: 1,
      first_failed_at: "2026-11-20T08:15:32.495Z",
      last_failed_at: "2026-11-20T08:15:32.495Z",
      work_items: [{ id: ids.secondItem, process_run: { id: ids.processRun } }]
    },
    errors: {
      400: badBodyOr("`muted_until` is past, or is given for a group that is not muted"),
      404: unknown("group of failures"),
      409: "A group with failed items cannot be resolved: retry, mark as done or delete them first. A resolved group cannot be muted: open it first."
    }
  }
}

export const bulkOperations: Documented<typeof BulkOperations> = {
  createBulkOperation: {
    description:
      "Creates a job that retries, deletes or marks as done all items, or starts all runs again, that match a filter now and have not changed when their turn comes. Each is taken once, with the rules of the single operation, and a refusal of one does not stop the others. `dry_run: true` only counts. The key needs the permission of the single operation too.",
    request: { operation: "delete", filter: { process_id: ids.process, state: "new", tag: "import" } },
    response: {
      total: 1,
      bulk_operation: {
        id: ids.bulkOperation,
        operation: "delete",
        filter: { process_id: ids.process, state: "new", tag: "import" },
        state: "waiting",
        created_at: "2026-11-20T08:15:31.866Z",
        updated_at: "2026-11-20T08:15:31.866Z",
        ended_at: null,
        total: 1,
        done: 0,
        refused: 0,
        skipped: null,
        refusals: []
      }
    },
    errors: {
      400: badBodyOr(
        "the filter has no key besides `state` and not `everything: true`, or one that the operation does not know"
      ),
      403: "The key is unknown or of another workspace, or it lacks `Processes.run_bulk_operations`, `Processes.write_work_items`, or for `start_again` `Processes.trigger_processes`."
    }
  },
  listBulkOperations: {
    description: "Returns the jobs, newest first. They are stored for 30 days after their end.",
    response: {
      data: [
        {
          id: ids.bulkOperation,
          operation: "delete",
          filter: { process_id: ids.process, state: "new", tag: "import" },
          state: "cancelled",
          created_at: "2026-11-20T08:15:31.866Z",
          updated_at: "2026-11-20T08:15:31.887Z",
          ended_at: "2026-11-20T08:15:31.887Z",
          total: 1,
          done: 0,
          refused: 0,
          skipped: 1,
          refusals: []
        }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage }
  },
  getBulkOperation: {
    description:
      "Returns a job with its progress: how many matched, on how many the operation was carried out, and why others were refused, in groups.",
    response: {
      id: ids.bulkOperation,
      operation: "delete",
      filter: { process_id: ids.process, state: "new", tag: "import" },
      state: "cancelled",
      created_at: "2026-11-20T08:15:31.866Z",
      updated_at: "2026-11-20T08:15:31.887Z",
      ended_at: "2026-11-20T08:15:31.887Z",
      total: 1,
      done: 0,
      refused: 0,
      skipped: 1,
      refusals: []
    },
    errors: { 404: unknown("bulk operation") }
  },
  cancelBulkOperation: {
    description: "Cancels a job. What it has done stays. `accepted` is false when it had already ended.",
    response: { accepted: true },
    errors: { 404: unknown("bulk operation") }
  }
}
