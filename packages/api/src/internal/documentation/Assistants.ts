/** Assistants and their runs. */
import type { AssistantRun, AssistantRuns } from "../../contract/AssistantRuns.ts"
import type { Assistant, Assistants } from "../../contract/Assistants.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badPage, nameExists, unknown } from "./Phrases.ts"

const assistant: (typeof Assistant)["Encoded"] = {
  id: ids.assistant,
  name: "Ask for an invoice",
  task: { name: "Read", package_id: ids.taskPackage },
  created_at: "2026-11-20T08:15:30.799Z"
}

export const assistants: Documented<typeof Assistants> = {
  getAssistant: {
    description: "Returns an assistant: a task of a task package that a person runs on their own machine.",
    response: assistant,
    errors: { 404: unknown("assistant") }
  },
  listAssistants: {
    description: "Returns the assistants of the workspace, newest first.",
    response: { data: [assistant], has_more: false, next: null },
    errors: { 400: badPage }
  },
  createAssistant: {
    description:
      "Creates an assistant for a task of a task package. Its name is unique in the workspace. The package may still be without content; it must have some when a run is started.",
    request: { name: assistant.name, task: assistant.task },
    response: { id: assistant.id, name: assistant.name },
    errors: { 400: badBody, 404: unknown("task package"), 409: nameExists("assistant") }
  }
}

const assistantRun: (typeof AssistantRun)["Encoded"] = {
  id: ids.assistantRun,
  state: "in_progress",
  error: null,
  started_at: "2026-11-20T08:15:30.817Z",
  ended_at: null,
  duration: null,
  assistant: { id: ids.assistant, name: "Ask for an invoice" }
}

export const assistantRuns: Documented<typeof AssistantRuns> = {
  getAssistantRun: {
    description: "Returns a run of an assistant: its state, and its duration in seconds once it has ended.",
    response: assistantRun,
    errors: { 404: unknown("assistant run") }
  },
  listAssistantRuns: {
    description: "Returns the runs of one assistant, or of all in the workspace, newest first.",
    response: { data: [assistantRun], has_more: false, next: null },
    errors: { 400: badPage }
  },
  startAssistantRun: {
    description:
      "Starts a run, which the caller executes: download the package, run the task with `run_token` as its token, and send a heartbeat every `heartbeat_seconds`. The run fails with `UNKNOWN` after three missed heartbeats. The token is refused once the run has ended.",
    response: {
      id: ids.assistantRun,
      run_token: "sba_019aa0b2-5c00-7000-8000-0000000000b4_secret",
      task: { name: "Read" },
      package: {
        digest: "sha256:3ca6066f2829a3be8dc2dfbfe1f1a4ef1925f1f2c73c5f6fb20ab750d71f731c",
        url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000fe/invoices.zip?expires=1795166130&signature=tx7vapMqK"
      },
      heartbeat_seconds: 10
    },
    errors: {
      404: unknown("assistant"),
      409: "The package of the assistant has no content or no such task, or the room was restored and is paused. Upload the package, or resume the room."
    }
  },
  heartbeatAssistantRun: {
    description: "Keeps a run alive. Send it every `heartbeat_seconds` of the started run.",
    response: assistantRun,
    errors: {
      404: unknown("assistant run"),
      409: "The run has ended, for example after missed heartbeats. Stop the task."
    }
  },
  completeAssistantRun: {
    description:
      "Ends a run: `completed` when `error` is null, else `failed` with its code. Repeating it with the same result changes nothing.",
    request: { error: null },
    response: {
      ...assistantRun,
      state: "completed",
      ended_at: "2026-11-20T08:15:30.843Z",
      duration: 0.026
    },
    errors: {
      400: badBody,
      404: unknown("assistant run"),
      409: "The run has already ended with another result, which stays."
    }
  }
}
