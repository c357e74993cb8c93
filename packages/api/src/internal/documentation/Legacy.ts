/** The older interface. */
import type { Legacy } from "../../contract/Legacy.ts"
import type { LegacyRun, LegacyStepRun, LegacyUploadForm, LegacyWorkItem } from "../../contract/LegacyShapes.ts"
import { ids } from "./ExampleIds.ts"
import type { Documented } from "./OperationText.ts"
import { badBody, badPage, largePayload, unknown } from "./Phrases.ts"

const instead = (identifier: string) => `For clients of older generations: use \`${identifier}\` instead.`
const notStartable =
  "The process has no steps, or a step names a package without content or without its task. Nothing was started."
const badPayload =
  "The body is not JSON, or a payload does not match the input schema of the process. Nothing was started."
const noStepRun = "The run has no such step run, or the workspace no such run."

const run: (typeof LegacyRun)["Encoded"] = {
  id: ids.processRun,
  state: "PENDING",
  result: "ERR",
  errorCode: null,
  workspaceId: ids.workspace,
  processId: ids.process,
  processName: "Invoices",
  runNo: 1,
  createTs: "2026-11-20T08:15:31.985Z",
  startTs: "2026-11-20T08:15:32.081Z",
  endTs: "2026-11-20T08:15:32.510Z",
  duration: 0.429
}

const stepRun: (typeof LegacyStepRun)["Encoded"] = {
  id: ids.stepRun,
  state: "COMPL",
  result: "COMPL",
  errorCode: null,
  activityId: ids.step,
  stepId: ids.step,
  activityName: "Read",
  processRunId: ids.processRun,
  stateTs: "2026-11-20T08:15:32.509Z",
  startTs: "2026-11-20T08:15:32.082Z",
  endTs: "2026-11-20T08:15:32.509Z",
  duration: 0.427
}

const newItem: (typeof LegacyWorkItem)["Encoded"] = {
  id: ids.workItem,
  state: "NEW",
  stateTs: "2026-11-20T08:15:31.619Z",
  createTs: "2026-11-20T08:15:31.619Z",
  queueTs: "2026-11-20T08:15:31.619Z",
  workspaceId: ids.workspace,
  processId: ids.process,
  processName: "Invoices",
  processRunId: null,
  processRunNo: null,
  activityId: null,
  activityRunId: null,
  batchPriority: 0,
  exception: null
}

const completedItem: (typeof LegacyWorkItem)["Encoded"] = {
  id: ids.leasedItem,
  state: "COMPLETED",
  stateTs: "2026-11-20T08:15:32.464Z",
  createTs: "2026-11-20T08:15:31.986Z",
  queueTs: "2026-11-20T08:15:31.986Z",
  workspaceId: ids.workspace,
  processId: ids.process,
  processName: "Invoices",
  processRunId: ids.processRun,
  processRunNo: 1,
  activityId: ids.step,
  activityRunId: ids.stepRun,
  batchPriority: 0,
  exception: null
}

const failedItem: (typeof LegacyWorkItem)["Encoded"] = {
  ...completedItem,
  id: ids.secondItem,
  state: "FAILED",
  stateTs: "2026-11-20T08:15:32.495Z",
  exception: { code: "NO_AMOUNT", type: "BUSINESS", message: "the invoice 4712 has no amount" }
}

const uploadForm: (typeof LegacyUploadForm)["Encoded"] = {
  url: "https://robots.example.com/transfer/v1/uploads",
  fields: { policy: "eyJraW5kIjoiZmlsZSJ9", signature: "tx7vapMqK" }
}

export const legacy: Documented<typeof Legacy> = {
  legacyProcesses: {
    description: `Returns the processes of the workspace. ${instead("listProcesses")}`,
    response: {
      data: [{ id: ids.process, name: "Invoices", workspaceId: ids.workspace, createTs: "2026-11-20T08:15:31.054Z" }],
      has_more: false,
      next: null
    },
    errors: { 400: badPage }
  },
  legacyStart: {
    description: `Starts a run with one item, whose payload is the whole body. Without a body, and with \`[]\`, it starts with the default work item of the process. Each call starts a run. ${instead("startProcessRun")}`,
    request: { invoice: 4720 },
    response: { id: ids.olderRun, workItemIds: [ids.olderStarted] },
    errors: { 400: badPayload, 404: unknown("process"), 409: notStartable, 413: largePayload }
  },
  legacyStartBatch: {
    description: `Starts one run for each of 1 to 1,000 payloads, all or none. ${instead("startProcessRun")}`,
    request: [{ invoice: 4721 }, { invoice: 4722 }],
    response: [
      { id: ids.secondOlderRun, workItemIds: [ids.secondOlderStarted] },
      { id: ids.thirdOlderRun, workItemIds: [ids.thirdOlderStarted] }
    ],
    errors: { 400: badPayload, 404: unknown("process"), 409: notStartable, 413: largePayload }
  },
  legacyStartRequested: {
    description: `Starts a run with the default work item of the process, or with items that wait in its queue. ${instead("startProcessRun")}`,
    request: { type: "default" },
    response: { id: ids.fourthOlderRun, workItemIds: [ids.fourthOlderStarted] },
    errors: {
      400: badBody,
      404: unknown("process"),
      409: `${notStartable} Or one of the items does not wait in the queue of the process.`,
      413: largePayload
    }
  },
  legacyRuns: {
    description: `Returns the runs of a process, newest first. ${instead("listProcessRuns")}`,
    response: { data: [run], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("process") }
  },
  legacyWorkspaceRuns: {
    description: `Returns the newest runs of all processes, as a list without an envelope. ${instead("listProcessRuns")}`,
    response: [run],
    errors: { 400: "`limit` is not a positive integer." }
  },
  legacyRun: {
    description: `Returns a run with its newest 1,000 step runs. The process in the path is ignored. ${instead("getProcessRun")}`,
    response: { ...run, robotRuns: [stepRun] },
    errors: { 404: unknown("process run") }
  },
  legacyWorkItems: {
    description: `Returns the items of a process, newest first; payload and files only with \`includeData=true\`. ${instead("listWorkItems")}`,
    response: {
      data: [
        {
          ...newItem,
          id: ids.olderItem,
          stateTs: "2026-11-20T08:15:31.779Z",
          createTs: "2026-11-20T08:15:31.779Z",
          queueTs: "2026-11-20T08:15:31.779Z"
        },
        {
          ...newItem,
          id: ids.bulkItem,
          stateTs: "2026-11-20T08:15:31.721Z",
          createTs: "2026-11-20T08:15:31.721Z",
          queueTs: "2026-11-20T08:15:31.721Z"
        },
        newItem
      ],
      has_more: false,
      next: null
    },
    errors: { 400: badPage, 404: unknown("process") }
  },
  legacyRunWorkItems: {
    description: `Returns the items of a run, newest first unless \`sortBy=createTs&sortOrder=asc\`; payload and files only with \`includeData=true\`. ${instead("listWorkItems")}`,
    parameters: { sortBy: "createTs", sortOrder: "asc" },
    response: { data: [completedItem, failedItem], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("process run") }
  },
  legacyWorkItem: {
    description: `Returns an item; payload and files only with \`includeData=true\`. The process in the path is ignored. ${instead("getWorkItem")}`,
    parameters: { includeData: "true" },
    response: {
      ...newItem,
      payload: { invoice: 4710, amount: 125, iban: "DE89370400440532013000" },
      masked: [],
      files: [
        {
          id: ids.attachedFile,
          fileName: "invoice-4710.pdf",
          fileSize: 12,
          url: "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000de/invoice-4710.pdf?expires=1795166130&signature=tx7vapMqK"
        }
      ]
    },
    errors: { 400: "`includeData` is neither `true` nor `false`.", 404: unknown("work item") }
  },
  legacyCreateWorkItem: {
    description: `Creates an item in the queue of a process. Each call creates another one. ${instead("createWorkItem")}`,
    request: { payload: { invoice: 4723 } },
    response: { id: ids.olderItem },
    errors: { 400: badBody, 404: unknown("process"), 413: largePayload }
  },
  legacyCreateWorkItemFile: {
    description: `Returns the form with which one file is attached: a multipart \`POST\` with all of \`fields\` first and the part \`file\` last. ${instead("createWorkItemFile")}`,
    request: { fileName: "invoice-4710.pdf", fileSize: 12 },
    response: uploadForm,
    errors: {
      400: badBody,
      404: unknown("work item"),
      409: "The item is done, or a step run has it; or it has 100 files.",
      413: "`fileSize` is larger than 1 GiB."
    }
  },
  legacyRetryWorkItem: {
    description: `Makes a failed item \`PENDING\` again, and restarts the count of its attempts. ${instead("batchWorkItems")}`,
    parameters: { work_item_id: ids.secondItem },
    response: {
      ...failedItem,
      state: "PENDING",
      stateTs: "2026-11-20T08:15:32.966Z",
      activityRunId: ids.retriedStepRun
    },
    errors: { 404: unknown("work item"), 409: "The item is not failed, or its run is stopping." }
  },
  legacyBatchWorkItems: {
    description: `Retries, deletes or marks as done 1 to 10,000 items, all or none. ${instead("batchWorkItems")}`,
    request: { batchOperation: "delete", workItemIds: [ids.olderItem] },
    response: { accepted: true },
    errors: {
      400: badBody,
      404: "The workspace lacks one of the items; the message has its id. Nothing was changed.",
      409: "One of the items is in a state that does not allow it; the message has its id. Nothing was changed."
    }
  },
  legacyStepRuns: {
    description: `Returns the step runs of a run, newest first. The process in the path is ignored. ${instead("listStepRuns")}`,
    response: { data: [stepRun], has_more: false, next: null },
    errors: { 400: badPage, 404: unknown("process run") }
  },
  legacyStepRun: {
    description: `Returns a step run. ${instead("getStepRun")}`,
    response: stepRun,
    errors: { 404: noStepRun }
  },
  legacyArtifacts: {
    description: `Returns the newest 1,000 artifacts of a step run, without an envelope. ${instead("listStepRunArtifacts")}`,
    response: [{ id: ids.artifact, fileName: "output/log.html", fileSize: 13 }],
    errors: { 400: "A parameter is invalid; the message names it.", 404: noStepRun }
  },
  legacyMessages: {
    description: `Returns the first 1,000 lines of the console of a step run, fewer where lines are long, without an envelope. ${instead("listStepRunConsoleMessages")}`,
    response: [{ seqNo: 1, timeStamp: "2026-11-20T08:15:32.200Z", message: "read 2 invoices\n" }],
    errors: { 400: "A parameter is invalid; the message names it.", 404: noStepRun }
  },
  legacyEvents: {
    description: `Returns the first 1,000 events of a step run, without an envelope. ${instead("listStepRunEvents")}`,
    response: [
      { seqNo: 1, timeStamp: "2026-11-20T08:15:31.991Z", eventType: "CREATED", data: null },
      { seqNo: 2, timeStamp: "2026-11-20T08:15:31.991Z", eventType: "QUEUED", data: null },
      { seqNo: 3, timeStamp: "2026-11-20T08:15:32.019Z", eventType: "LEASED", data: null },
      { seqNo: 4, timeStamp: "2026-11-20T08:15:32.093Z", eventType: "START", data: null },
      { seqNo: 5, timeStamp: "2026-11-20T08:15:32.093Z", eventType: "ITEM_RESERVED", data: null },
      { seqNo: 6, timeStamp: "2026-11-20T08:15:32.200Z", eventType: "SETUP", data: null },
      { seqNo: 7, timeStamp: "2026-11-20T08:15:32.286Z", eventType: "ARTIFACT_ADDED", data: null },
      { seqNo: 8, timeStamp: "2026-11-20T08:15:32.441Z", eventType: "OUTPUT_CREATED", data: null },
      { seqNo: 9, timeStamp: "2026-11-20T08:15:32.468Z", eventType: "OUTPUT_CREATED", data: null },
      { seqNo: 10, timeStamp: "2026-11-20T08:15:32.468Z", eventType: "ITEM_RELEASED", data: null },
      { seqNo: 11, timeStamp: "2026-11-20T08:15:32.468Z", eventType: "ITEM_RESERVED", data: null },
      { seqNo: 12, timeStamp: "2026-11-20T08:15:32.498Z", eventType: "ITEM_FAILED", data: null },
      { seqNo: 13, timeStamp: "2026-11-20T08:15:32.512Z", eventType: "END", data: null }
    ],
    errors: { 400: "A parameter is invalid; the message names it.", 404: noStepRun }
  },
  legacyArtifact: {
    description: `Returns, as a JSON string, the address where an artifact is downloaded; it needs no key and is valid for one hour. The file name in the path is ignored. ${instead("getStepRunArtifact")}`,
    response:
      "https://robots.example.com/transfer/v1/files/019aa0b2-5c00-7000-8000-0000000000d8/log.html?expires=1795166130&signature=tx7vapMqK",
    errors: { 404: "The step run has no such artifact." }
  },
  legacyRobots: {
    description: `Returns the task packages of the workspace. ${instead("listTaskPackages")}`,
    response: { data: [{ id: ids.taskPackage, name: "invoices" }], has_more: false, next: null },
    errors: { 400: badPage }
  },
  legacyRobotUpload: {
    description: `Returns the form with which a zip is uploaded, valid for one hour: a multipart \`POST\` with all of \`fields\` first and the part \`file\` last. ${instead("getTaskPackageUpload")}`,
    response: uploadForm,
    errors: { 404: unknown("task package"), 409: "The package is taken from a git repository." }
  }
}
