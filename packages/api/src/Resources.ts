/**
 * The modules of the client without Effect one by one, for `connectOnly` of `@signalbox/api/promise`: a program that names those that it
 * uses has no others in its bundle.
 *
 * ```ts
 * import { connectOnly } from "@signalbox/api/promise"
 * import { workItems } from "@signalbox/api/resources"
 *
 * export const failed = async () => {
 *   await using room = connectOnly({ workItems })
 *   return await room.workItems.list({ state: "failed" })
 * }
 * ```
 */
export {
  apiKeys,
  audit,
  assets,
  changes,
  consoleTickets,
  room,
  secrets,
  workspaces
} from "./internal/promise/AdministrationClients.ts"
export { bulkOperations, failures } from "./internal/promise/FailureClients.ts"
export { alertChannels, alerts, webhooks } from "./internal/promise/NotificationClients.ts"
export { assistants, taskPackages } from "./internal/promise/PackageClients.ts"
export { process } from "./internal/promise/ProcessClient.ts"
export { processes, processRuns } from "./internal/promise/RunClients.ts"
export { schedules, triggers } from "./internal/promise/StartClients.ts"
export { roles, users } from "./internal/promise/PeopleClients.ts"
export { stepRuns } from "./internal/promise/StepRunClients.ts"
export { files, outputs, workItems } from "./internal/promise/WorkClients.ts"
export { workerGroups, workers } from "./internal/promise/WorkerClients.ts"
