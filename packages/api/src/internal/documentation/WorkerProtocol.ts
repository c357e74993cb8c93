/** The interface of workers. */
import type { WorkerProtocol } from "../../contract/WorkerProtocol.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badBodyOr } from "./Phrases.ts"

const lost = "`LEASE_LOST`: the step run has ended, or is another worker's. Stop the task."
const noStepRun = "The workspace has no such step run."
const lease_token = "lease-7Qm2"

export const workerProtocol: Documented<typeof WorkerProtocol> = {
  linkWorker: {
    description:
      "Exchanges a link token for the identity of a worker. The token of a worker can be used once, that of a group until it expires or is deleted. Store `worker_token`: it is returned only here, and is the bearer token of all other calls.",
    request: { link_token: "link-3nVx", name: "office", tasks: ["Read"], labels: ["site=vienna"] },
    response: { worker_id: ids.worker, workspace_id: ids.workspace, worker_token: "worker-9kTb", heartbeat_seconds: 3 },
    errors: {
      400: badBody,
      403: "The link token is unknown, used, expired or deleted. Create another one."
    }
  },
  leaseStepRuns: {
    description:
      "Waits for up to `wait_seconds` for step runs that this worker can execute, and leases at most `free` of them; it responds earlier when there are some. A lease that is not started within 30 seconds ends, and another worker may get the step run. Each lease has the tokens of its step run; they are refused once it has ended.",
    request: { free: 1, tasks: ["Read"], packages: true, wait_seconds: 0 },
    response: {
      leases: [
        {
          step_run_id: ids.stepRun,
          process_id: ids.process,
          process_run_id: ids.processRun,
          lease_token: "lease-7Qm2",
          run_token: "run-5rJd",
          task: { name: "Read" },
          step_id: ids.step,
          package: {
            digest: "sha256:3ca6066f2829a3be8dc2dfbfe1f1a4ef1925f1f2c73c5f6fb20ab750d71f731c",
            url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000fe/invoices.zip?expires=1795166130&signature=tx7vapMqK"
          },
          work_item_id: ids.leasedItem,
          timeout_seconds: 600,
          env: {},
          environment: null
        }
      ]
    },
    errors: { 400: badBody }
  },
  heartbeat: {
    description:
      "Keeps the worker online and its step runs alive: send it every `heartbeat_seconds`. After 10 seconds without one, its step runs fail with `WORKER_LOST`. Returns which of them must stop, and which it no longer owns.",
    request: { step_run_ids: [ids.stepRun], starting: false },
    response: { stop: [], lost: [], drain: false },
    errors: { 400: badBody }
  },
  startStepRun: {
    description:
      "Reports that the task of a leased step run starts. Its time limit counts from here, or from the end of a build. Repeating it changes nothing.",
    request: { lease_token },
    response: { accepted: true },
    errors: { 400: badBody, 404: noStepRun, 409: lost }
  },
  reportStepRunBuild: {
    description:
      "Reports that a started step run begins to build the environment of its package, or has built it. The time limit of the step counts from the end of the build.",
    request: { lease_token, state: "started" },
    response: { accepted: true },
    errors: { 400: badBody, 404: noStepRun, 409: lost }
  },
  nextWorkItems: {
    description:
      "Settles items of up to 100 step runs of one run, and reserves the next item for each, in one transaction. Each step run has its own result, in the order of the request: an item, null when none waits, or an error, in which case nothing of that step run was changed. A repetition changes nothing and returns the reserved items. With `ahead`, a step run of a step with a `retry` is given further items, which it may begin without waiting for the response; it then settles several in one request. What it does not begin is given back when it takes no more or ends.",
    request: {
      step_runs: [
        {
          step_run_id: ids.stepRun,
          lease_token,
          settled: { work_item_id: ids.leasedItem, attempt: 1, state: "COMPLETED", outputs: [{ total: 120.5 }] }
        }
      ]
    },
    response: {
      step_runs: [
        {
          step_run_id: ids.stepRun,
          item: { work_item_id: ids.secondItem, attempt: 1, payload: { invoice: 4712 }, files: [] },
          begin_ahead: false,
          error: null
        }
      ]
    },
    errors: {
      400: badBodyOr("a step run is named twice"),
      404: "The workspace has no such process run."
    }
  },
  finishStepRun: {
    description:
      "Reports that the task has ended: with success when `error` is null. An item that is still reserved is settled by that result. The tokens of the step run are refused from then on, so that a repetition is a 409: treat it as done.",
    request: { lease_token, error: null },
    response: { accepted: true },
    errors: { 400: badBody, 404: noStepRun, 409: lost }
  },
  unlinkWorker: {
    description: "Removes the worker from the workspace. Irreversible: its token is refused from then on.",
    response: { id: ids.worker, deleted: true },
    errors: { 409: "The worker has a step run. Finish it first." }
  },
  sendStepRunConsole: {
    description:
      "Stores lines of the console, in order. `offset` is how many messages of this step run were sent before: repeated ones are stored once. A message has at most 65,536 characters.",
    request: {
      lease_token,
      offset: 0,
      messages: [{ timestamp: "2026-11-20T08:15:32.200Z", message: "read 2 invoices" }]
    },
    response: { accepted: true },
    errors: {
      400: badBody,
      404: noStepRun,
      409: lost,
      413: "The body is larger than 8 MiB. Send fewer messages in one request."
    }
  },
  sendStepRunEvents: {
    description:
      "Stores events of the worker, in order; they appear among those of the service in `listStepRunEvents`. `offset` is how many events were sent before: repeated ones are stored once. An event is a word in capitals that the service does not use itself.",
    request: { lease_token, offset: 0, events: [{ timestamp: "2026-11-20T08:15:32.200Z", event_type: "SETUP" }] },
    response: { accepted: true },
    errors: { 400: badBody, 404: noStepRun, 409: lost }
  },
  createStepRunArtifact: {
    description:
      "Returns the form with which one artifact is uploaded: a multipart `POST` to `url` without authorization, with all fields of `form_data` first and the part `file` last. It is listed once it is complete; the same name replaces it.",
    request: { lease_token, name: "output/log.html", size: 13 },
    response: {
      upload: {
        url: "https://robots.example.com/transfer/v1/uploads",
        form_data: { policy: "eyJraW5kIjoiZmlsZSJ9", signature: "tx7vapMqK" }
      }
    },
    errors: {
      400: "The name is no relative path with `/` and without `..`, or another field is invalid; the message names it.",
      404: noStepRun,
      409: lost,
      413: "`size` is larger than 1 GiB."
    }
  }
}
