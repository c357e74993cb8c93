/** Step runs, and what they leave: events, artifacts, console. */
import type { ArtifactListed, StepRun, StepRuns } from "../../contract/StepRuns.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badPage, unknown } from "./Phrases.ts"

const badCursor = "`cursor` is not from this list, or `order` is invalid. Begin again without `cursor`."

const stepRun: (typeof StepRun)["Encoded"] = {
  id: ids.stepRun,
  state: "completed",
  state_updated_at: "2026-11-20T08:15:32.509Z",
  error: null,
  started_at: "2026-11-20T08:15:32.082Z",
  ended_at: "2026-11-20T08:15:32.509Z",
  duration: 0.427,
  step: { id: ids.step, name: "Read" },
  task_package: {
    id: ids.taskPackage,
    version: 2,
    digest: "sha256:3ca6066f2829a3be8dc2dfbfe1f1a4ef1925f1f2c73c5f6fb20ab750d71f731c"
  }
}

const artifact: (typeof ArtifactListed)["Encoded"] = { id: ids.artifact, name: "output/log.html", size: 13 }

export const stepRuns: Documented<typeof StepRuns> = {
  getStepRun: {
    description:
      "Returns a step run: one execution of a step on one worker. A step run is executed at most once; a retry is a new step run. `error.code` tells why it failed.",
    response: stepRun,
    errors: { 404: unknown("step run") }
  },
  listStepRuns: {
    description: "Returns the step runs of a process run, newest first. `process_run_id` is required.",
    response: { data: [stepRun], has_more: false, next: null },
    errors: { 400: `\`process_run_id\` is missing, or: ${badPage}`, 404: unknown("process run") }
  },
  listStepRunEvents: {
    description:
      "Returns what happened to a step run, oldest first: those events that the service records, and those that its worker reported. `NO_WORKER` and `PAUSED` say in `message` what it waits for, `LOG_INCOMPLETE` how many lines of the log its worker had to drop.",
    response: {
      data: [
        { timestamp: "2026-11-20T08:15:31.991Z", event_type: "CREATED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:31.991Z", event_type: "QUEUED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.019Z", event_type: "LEASED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.093Z", event_type: "START", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.093Z", event_type: "ITEM_RESERVED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.200Z", event_type: "SETUP", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.286Z", event_type: "ARTIFACT_ADDED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.441Z", event_type: "OUTPUT_CREATED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.468Z", event_type: "OUTPUT_CREATED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.468Z", event_type: "ITEM_RELEASED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.468Z", event_type: "ITEM_RESERVED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.498Z", event_type: "ITEM_FAILED", message: null, environment: null },
        { timestamp: "2026-11-20T08:15:32.512Z", event_type: "END", message: null, environment: null }
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage, 404: unknown("step run") }
  },
  listStepRunArtifacts: {
    description:
      "Returns the files that a step run saved, newest first. An artifact is listed once its upload is complete.",
    response: { data: [artifact], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("step run") }
  },
  getStepRunArtifact: {
    description:
      "Returns an artifact with the address where it is downloaded. The address needs no key and is valid for one hour.",
    response: {
      ...artifact,
      url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000d8/log.html?expires=1795166130&signature=tx7vapMqK"
    },
    errors: { 404: "The workspace has no such step run, or the step run has no such artifact." }
  },
  listStepRunConsoleMessages: {
    description:
      "Returns the console output of a step run, oldest first, up to 1,000 messages a page; `order=newest_first` begins at the end. To follow a log, read to the end, then read the address in `newer` again and again: it also works while nothing is there yet. To read any part of a long log, pass `position`.",
    response: {
      data: [{ timestamp: "2026-11-20T08:15:32.200Z", message: "read 2 invoices" }],
      has_more: false,
      next: null,
      newer:
        "https://robots.example.com/api/v1/workspaces/019aa0b2-5c00-7000-8000-0000000000a1/step-runs/019aa0b2-5c00-7000-8000-0000000000c6/console-messages?cursor=MDFhMjA1OTA",
      position: null,
      total: 1
    },
    errors: { 400: badCursor, 404: unknown("step run") }
  }
}
