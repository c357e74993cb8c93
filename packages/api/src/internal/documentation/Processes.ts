/** Processes and pauses. */
import type { PausedBy, Pauses } from "../../contract/Pauses.ts"
import type { Process, Processes } from "../../contract/Processes.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badBodyOr, badPage, nameExists, unknown } from "./Phrases.ts"

const definition = {
  name: "Invoices",
  description: "Reads the invoices of a day",
  steps: [
    {
      name: "Read",
      task: { name: "Read", package_id: ids.taskPackage },
      max_parallel: 1,
      timeout_seconds: 600,
      retry: { max_attempts: 3, delay_seconds: 60 },
      concurrency: { key: "/customer", limit: 2 }
    }
  ],
  rate: { limit: 100, per: "minute" },
  sensitive: ["/iban"],
  default_work_item: { payload: { day: "today" } }
} as const

const badDefinition = badBodyOr(
  "two steps have the same name, the key of a limit is a secret field, `check_payloads` is set without an `input_schema`, or a pinned version or task does not exist"
)
const unknownParts = "The workspace has no such task package or worker group; the message names the step."
const largeDefinition =
  "The `input_schema` is larger than 256 KiB, or the payload of the default work item larger than 1 MiB. Nothing was changed."

const process = {
  id: ids.process,
  name: "Invoices",
  description: "Reads the invoices of the day before",
  created_at: "2026-11-20T08:15:31.054Z",
  steps: [{ id: ids.step, name: "Read", paused: null }],
  paused: null
} satisfies (typeof Process)["Encoded"]

export const processes: Documented<typeof Processes> = {
  getProcess: {
    description: "Returns a process with the ids and names of its steps, and its pause, if it is paused.",
    response: process,
    errors: { 404: unknown("process") }
  },
  listProcesses: {
    description: "Returns the processes of the workspace, newest first, without their steps.",
    response: {
      data: [{ id: ids.process, name: "Invoices", created_at: "2026-11-20T08:15:31.054Z", paused: null }],
      has_more: false,
      next: null
    },
    errors: { 400: badPage }
  },
  createProcess: {
    description:
      "Creates a process from its definition. Steps run in the order of the list: what an item of one step outputs becomes an item of the next. A step names a task of a task package, or only a task, which workers then define themselves. The name is unique in the workspace.",
    request: definition,
    response: { ...process, description: definition.description },
    errors: { 400: badDefinition, 404: unknownParts, 409: nameExists("process"), 413: largeDefinition }
  },
  updateProcess: {
    description:
      "Replaces the whole definition. A step keeps its id while its name stays. Runs continue with the steps they started with. With `revision`, the definition is replaced only if it is still the one that was read. `delete_work_items` deletes items of the queue in the same transaction.",
    request: { ...definition, description: process.description, delete_work_items: [] },
    response: process,
    errors: {
      400: badDefinition,
      403: "The key is unknown or of another workspace, or it lacks `Processes.write_processes`, or, with `delete_work_items`, `Processes.write_work_items`.",
      404: `${unknown("process")} Or ${unknownParts.charAt(0).toLowerCase()}${unknownParts.slice(1)}`,
      409: "Another process has this name, the definition was changed since `revision` was read, or one of `delete_work_items` no longer waits in the queue. Nothing was changed; read the definition again.",
      413: largeDefinition
    }
  },
  getProcessDefinition: {
    description:
      "Returns the whole definition as it is stored, with its `revision`. Send it back with `updateProcess`, changed, to edit a process without losing changes of others.",
    response: {
      ...definition,
      description: process.description,
      revision: "7ea3946c4fbe7ddb75e9b3c72a9b90021b7e2d80ba719410041c739dccf2c9e7"
    },
    errors: { 404: unknown("process") }
  },
  getProcessLimits: {
    description:
      "Returns what waits for the limits of the process and its steps: each value of a limit that has no room, with what has it now. What waits longest comes first, at most 100. Changes of limits count at once, also for runs that have started; a run counts by the pointers that it started with.",
    response: {
      data: [
        {
          kind: "concurrency",
          step: { id: ids.step, name: "Read" },
          key: "/customer",
          value: "70-1",
          limit: 2,
          in_hand: 2,
          waiting: 14,
          since: "2026-11-20T08:15:31.054Z",
          room_at: null,
          held_by: [{ work_item_id: ids.workItem, process_run_id: ids.processRun, since: "2026-11-20T08:15:31.106Z" }]
        }
      ]
    },
    errors: { 404: unknown("process") }
  },
  deleteProcess: {
    description: "Deletes a process with its ended runs, its schedules and its triggers. Irreversible.",
    response: { id: ids.process, deleted: true },
    errors: {
      404: unknown("process"),
      409: "A run of the process has not ended, or items wait in its queue. Stop the run, or delete the items, and try again."
    }
  }
}

const note = { note: "the ERP is down until noon" }

const by: (typeof PausedBy)["Encoded"] = { type: "api_key", id: ids.callerKey, name: "deploy" }

export const pauses: Documented<typeof Pauses> = {
  pauseProcess: {
    description:
      "Pauses a process: nothing more of it is leased to workers. Step runs that have started continue. Runs can still be started, and wait. Pausing a paused process replaces the note.",
    request: note,
    response: { paused: { by, ...note, since: "2026-11-20T08:15:31.106Z" } },
    errors: { 400: badBody, 404: unknown("process") }
  },
  resumeProcess: {
    description:
      "Ends the pause of a process, and its failures are counted from zero again. Changes nothing when it is not paused.",
    response: { paused: null },
    errors: { 404: unknown("process") }
  },
  pauseProcessStep: {
    description:
      "Pauses one step of a process: no step run of it is leased. Its items wait; other steps and started step runs continue.",
    request: note,
    response: { paused: { by, ...note, since: "2026-11-20T08:15:31.134Z" } },
    errors: { 400: badBody, 404: "The workspace has no such process, or the process has no such step." }
  },
  resumeProcessStep: {
    description:
      "Ends the pause of a step, and its failures are counted from zero again. Changes nothing when it is not paused.",
    response: { paused: null },
    errors: { 404: "The workspace has no such process, or the process has no such step." }
  },
  pauseWorker: {
    description:
      "Pauses a worker: it stays online, finishes its step runs, and leases nothing more until it is resumed.",
    request: note,
    response: { paused: { by, ...note, since: "2026-11-20T08:15:31.013Z" } },
    errors: { 400: badBody, 404: unknown("worker") }
  },
  resumeWorker: {
    description: "Ends the pause of a worker. Changes nothing when it is not paused.",
    response: { paused: null },
    errors: { 404: unknown("worker") }
  },
  pauseWorkerGroup: {
    description:
      "Pauses a worker group: steps that are bound to it wait. Its workers still lease steps that are not bound to it.",
    request: note,
    response: { paused: { by, ...note, since: "2026-11-20T08:15:30.890Z" } },
    errors: { 400: badBody, 404: unknown("worker group") }
  },
  resumeWorkerGroup: {
    description: "Ends the pause of a worker group. Changes nothing when it is not paused.",
    response: { paused: null },
    errors: { 404: unknown("worker group") }
  }
}
