/** Groups of failures, and bulk operations. */
import type { BulkOperation, BulkOperations } from "../../contract/BulkOperations.ts"
import type { Failure, Failures } from "../../contract/Failures.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBodyOr, badPage, unknown } from "./Phrases.ts"

const failure: (typeof Failure)["Encoded"] = {
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

export const failures: Documented<typeof Failures> = {
  listFailures: {
    description:
      "Returns groups of similar failures: in the same step, with the same type and code, and with messages that differ only in numbers, ids and quoted paths. The group that failed last comes first. Resolved groups are returned only with `state=resolved`.",
    response: { data: [failure], has_more: false, next: null },
    errors: { 400: badPage }
  },
  getFailure: {
    description:
      "Returns a group of failures, with up to five of its items. A group without failed items is deleted 90 days after its last change, unless it is muted.",
    response: failure,
    errors: { 404: unknown("group of failures") }
  },
  updateFailure: {
    description:
      "Changes the given fields of a group. `muted` triggers no alerts, until `muted_until` or until it is reopened; `resolved` is reopened when a similar failure occurs. The items themselves do not change.",
    request: { state: "muted", muted_until: "2036-11-27T08:00:00Z", note: "the supplier knows", assignee: "Ada" },
    response: {
      ...failure,
      state: "muted",
      muted_until: "2036-11-27T08:00:00.000Z",
      note: "the supplier knows",
      assignee: "Ada"
    },
    errors: {
      400: badBodyOr("`muted_until` is past, or is given for a group that is not muted"),
      404: unknown("group of failures"),
      409: "A group with failed items cannot be resolved: retry, mark as done or delete them first. A resolved group cannot be muted: reopen it first."
    }
  }
}

const filter = { process_id: ids.process, state: "new", tag: "import" } as const

const bulkOperation: (typeof BulkOperation)["Encoded"] = {
  id: ids.bulkOperation,
  operation: "delete",
  filter,
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

export const bulkOperations: Documented<typeof BulkOperations> = {
  createBulkOperation: {
    description:
      "Creates a job that retries, deletes or marks as done all items, or starts all runs again, that match a filter now and have not changed when they are processed. Each is processed once, with the rules of the single operation, and a refusal of one does not stop the others. `dry_run: true` only counts. The key needs the permission of the single operation too.",
    request: { operation: "delete", filter },
    response: {
      total: 1,
      bulk_operation: {
        ...bulkOperation,
        state: "waiting",
        updated_at: bulkOperation.created_at,
        ended_at: null,
        skipped: null
      }
    },
    errors: {
      400: badBodyOr(
        "the filter has no key besides `state` and not `everything: true`, or one that the operation does not support"
      ),
      403: "The key is unknown or of another workspace, or it lacks `Processes.run_bulk_operations`, `Processes.write_work_items`, or for `start_again` `Processes.trigger_processes`."
    }
  },
  listBulkOperations: {
    description: "Returns the jobs, newest first. They are stored for 30 days after their end.",
    response: { data: [bulkOperation], has_more: false, next: null },
    errors: { 400: badPage }
  },
  getBulkOperation: {
    description:
      "Returns a job with its progress: how many matched, how many were changed, and why others were refused, in groups.",
    response: bulkOperation,
    errors: { 404: unknown("bulk operation") }
  },
  cancelBulkOperation: {
    description: "Cancels a job. Changes already made stay. `accepted` is false when it had already ended.",
    response: { accepted: true },
    errors: { 404: unknown("bulk operation") }
  }
}
