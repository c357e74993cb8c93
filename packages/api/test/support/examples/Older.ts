/** One response for each resource of the older interface as the service sends it, with all keys. */
import * as Shapes from "../../../src/contract/LegacyShapes.ts"
import { at, type Example, later, of } from "./Example.ts"

const run = {
  id: "r1",
  state: "PENDING",
  result: "ERR",
  errorCode: "ROBOT_FAILURE",
  workspaceId: "w1",
  processId: "p1",
  processName: "invoices",
  runNo: 7,
  createTs: at,
  startTs: at,
  endTs: later,
  duration: 60.5
}
const stepRun = {
  id: "sr1",
  state: "COMPL",
  result: "TIMEOUT",
  errorCode: "TIMEOUT",
  activityId: "s1",
  stepId: "s1",
  activityName: "read",
  processRunId: "r1",
  stateTs: later,
  startTs: at,
  endTs: later,
  duration: 60.5
}

export const olderExamples: ReadonlyArray<Example> = [
  of("LegacyProcess", Shapes.LegacyProcess, { id: "p1", name: "invoices", workspaceId: "w1", createTs: at }),
  of("LegacyRun", Shapes.LegacyRun, run),
  of("LegacyStepRun", Shapes.LegacyStepRun, stepRun),
  of("LegacyRunWithSteps", Shapes.LegacyRunWithSteps, { ...run, robotRuns: [stepRun] }),
  of("LegacyWorkItem", Shapes.LegacyWorkItem, {
    id: "i1",
    state: "FAILED",
    stateTs: later,
    createTs: at,
    queueTs: at,
    workspaceId: "w1",
    processId: "p1",
    processName: "invoices",
    processRunId: "r1",
    processRunNo: 7,
    activityId: "s1",
    activityRunId: "sr1",
    batchPriority: 0,
    exception: { code: "BAD_ROW", type: "BUSINESS", message: "row 7 has no amount" }
  }),
  of("LegacyStarted", Shapes.LegacyStarted, { id: "r1", workItemIds: ["i1"] }),
  of("LegacyArtifact", Shapes.LegacyArtifact, { id: "a1", fileName: "log.html", fileSize: 120 }),
  of("LegacyMessage", Shapes.LegacyMessage, { seqNo: 1, timeStamp: at, message: "reading\n" }),
  of("LegacyEvent", Shapes.LegacyEvent, { seqNo: 1, timeStamp: at, eventType: "START", data: null }),
  of("LegacyRobot", Shapes.LegacyRobot, { id: "tp1", name: "invoices" }),
  of("LegacyUploadForm", Shapes.LegacyUploadForm, { url: "https://example.com/uploads", fields: { policy: "x" } })
]
