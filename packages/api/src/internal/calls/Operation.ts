/** Which function of the client a request belongs to. Its span names it; a stream of pages has none. */
import { operationIn } from "@signalbox/transport/Operation"
import { CurrentCall } from "./CurrentCall.ts"

const modules: ReadonlySet<string> = new Set([
  "AlertChannels",
  "Alerts",
  "ApiKeys",
  "Assets",
  "Assistants",
  "Audit",
  "BulkOperations",
  "ConsoleTickets",
  "Failures",
  "Named",
  "Outputs",
  "Process",
  "ProcessRuns",
  "Processes",
  "Roles",
  "Room",
  "Schedules",
  "Secrets",
  "StepRuns",
  "TaskPackages",
  "Triggers",
  "Users",
  "Vault",
  "Webhooks",
  "WorkItems",
  "WorkerGroups",
  "WorkerProtocol",
  "Workers",
  "Workspaces"
])

const inModules = operationIn(modules, (fiber) => fiber.getRef(CurrentCall)?.operation ?? null)

/** The functions that have no span, by their endpoints. */
const withoutSpan: Readonly<Record<string, string>> = {
  getWorkspace: "Workspaces.get",
  listAlertFirings: "Alerts.firings",
  listAlertMessages: "Alerts.messages",
  listGroupLinkTokens: "WorkerGroups.linkTokens",
  listScheduleOccurrences: "Schedules.occurrences",
  listStepRunArtifacts: "StepRuns.artifacts",
  listStepRunConsoleMessages: "StepRuns.consoleMessages",
  listStepRunEvents: "StepRuns.events",
  listWebhookDeliveries: "Webhooks.deliveries",
  // Of workers and robots, whose calls are members of an object.
  createOutput: "StepRunSession.createOutput",
  createRobotFile: "StepRunSession.attachFile",
  createStepRunArtifact: "WorkerProtocol.createArtifact",
  deleteWorkItemFile: "StepRunSession.removeFile",
  finishStepRun: "WorkerProtocol.finish",
  getSealedSecret: "Vault.get",
  getVaultPublicKey: "Vault.put",
  getWorkItemData: "StepRunSession.payload",
  getWorkItemFile: "StepRunSession.download",
  heartbeat: "WorkerProtocol.heartbeat",
  leaseStepRuns: "WorkerProtocol.lease",
  linkWorker: "WorkerProtocol.link",
  listWorkItemFiles: "StepRunSession.files",
  nextWorkItems: "WorkerProtocol.nextItems",
  putSealedSecret: "Vault.put",
  putWorkItemData: "StepRunSession.setPayload",
  releaseWorkItem: "StepRunSession.release",
  reportStepRunBuild: "WorkerProtocol.build",
  reserveNextWorkItem: "StepRunSession.reserveNext",
  sendStepRunConsole: "WorkerProtocol.sendConsole",
  sendStepRunEvents: "WorkerProtocol.sendEvents",
  startStepRun: "WorkerProtocol.start",
  unlinkWorker: "WorkerProtocol.unlink"
}

/** The function that calls the endpoint of this name, or of what is not one of the contract. */
export const operationOf = (endpoint: string) => inModules(withoutSpan[endpoint] ?? endpoint)
