/** The texts of all operations, by their identifiers. */
import * as Administration from "./Administration.ts"
import { alertChannels } from "./AlertChannels.ts"
import { alerts } from "./Alerts.ts"
import * as Assets from "./Assets.ts"
import * as Assistants from "./Assistants.ts"
import * as Failures from "./Failures.ts"
import { legacy } from "./Legacy.ts"
import type { OperationText } from "./OperationText.ts"
import * as People from "./People.ts"
import * as Processes from "./Processes.ts"
import * as ProcessRuns from "./ProcessRuns.ts"
import * as Robot from "./Robot.ts"
import { schedules } from "./Schedules.ts"
import { stepRuns } from "./StepRuns.ts"
import { taskPackages } from "./TaskPackages.ts"
import { triggers } from "./Triggers.ts"
import { webhooks } from "./Webhooks.ts"
import { workerProtocol } from "./WorkerProtocol.ts"
import * as Workers from "./Workers.ts"
import { workItems } from "./WorkItems.ts"

export const operationTexts: Readonly<Record<string, OperationText>> = {
  ...Administration.workspaces,
  ...Administration.room,
  ...Administration.apiKeys,
  ...Administration.audit,
  ...People.users,
  ...People.roles,
  ...Administration.consoleTickets,
  ...Administration.changes,
  ...Assets.assets,
  ...Assets.secrets,
  ...Assets.robotSecrets,
  ...Assistants.assistants,
  ...Assistants.assistantRuns,
  ...Processes.processes,
  ...Processes.pauses,
  ...ProcessRuns.processRuns,
  ...ProcessRuns.outputs,
  ...stepRuns,
  ...workItems,
  ...Failures.failures,
  ...Failures.bulkOperations,
  ...taskPackages,
  ...webhooks,
  ...schedules,
  ...triggers,
  ...Workers.workers,
  ...Workers.workerGroups,
  ...alerts,
  ...alertChannels,
  ...workerProtocol,
  ...Robot.robotProcess,
  ...Robot.robotData,
  ...legacy
}
