/** Text of executions of durable flows. */
import { type Node, phrase } from "../phrase.ts"

export const flows = {
  noMatch: "No matching executions",
  viewAll: "View all executions",
  none: "No executions yet",
  noneHint: "An execution starts when a program submits a flow, or by a schedule.",
  flowName: "Flow name",
  key: "Key",
  executions: "Executions",
  execution: "Execution",
  pages: "Pages",
  newest: "Newest",
  older: "Older",
  resumeTitle: "Resume execution",
  failedUndos: "These undo steps failed and will be retried. Select those that you have undone by hand:",
  retryFrom: (step: string) => `Retry from ${step}`,
  retryFromHere: "Retry from here",
  retryFromHint: "This step and all later steps are repeated. Earlier steps are not.",
  invalidValue: (reason: string) => `Value: invalid JSON: ${reason}`,
  send: (signal: string) => `Send ${signal}`,
  sendSignal: "Send signal",
  sent: (signal: string) => `Signal ${signal} sent.`,
  messageId: "Message ID",
  messageIdHint: "A message sent again with the same ID is delivered once",
  value: "Value",
  valueHint:
    'JSON that the flow expects, such as {"approved": true, "comment": null} for an approval, which is recorded in your name',
  running: (attempt: number, host: string) => `running, attempt ${attempt}${host}`,
  onHost: (host: string) => `, on ${host}`,
  failedThen: (times: number, time: Node) =>
    phrase`failed ${times === 1 ? "once" : `${times} times`}, next attempt ${time}`,
  stoppedIn: (attempt: number) => `stopped in attempt ${attempt}`,
  sleeping: "sleeping",
  sleepingUntil: (time: Node) => phrase`sleeping until ${time}`,
  recordingVersion: "recording the code version",
  waitingFor: (kind: string, subject: Node, timeout: Node) => phrase`waiting for ${kind}${subject}${timeout}`,
  signalKind: "signal ",
  inboxKind: "message ",
  branches: "Branches",
  branch: "Branch",
  activity: "Activity",
  since: "Since",
  sendMore: (signal: string) => `Send ${signal}…`,
  steps: "Steps",
  noStep: "No steps started",
  attempt: "Attempt",
  fromStep: (step: string) => ` from ${step}`,
  undos: "Undo steps",
  endOfFlow: "end of the flow",
  cause: "Cause",
  code: "Code",
  recorded: "Recorded",
  reached: "Reached",
  valueMismatch: (what: string, path: Node, expected: string, type: string) =>
    phrase`${what}${path}: ${expected}, but ${type} is recorded`,
  halted: "Halted",
  haltedOn: (host: string) => ` on ${host}`,
  lastRun: "Last run",
  lastRunOn: (path: Node, host: string, time: Node) => phrase`${path} on ${host}, ${time}`,
  flow: "Flow",
  flowVersion: (flow: Node, version: number, missing: string) => phrase`${flow}, version ${version}${missing}`,
  notRegistered: ", not registered in this program",
  children: "Children",
  queue: "Queue",
  place: (n: number) => `position ${n}`,
  endedAt: "Ended",
  startedAt: (time: Node) => phrase`started ${time}`,
  causeAndRemedy: "Cause and remedy",
  result: "Result",
  retryMore: "Retry…",
  remedy: (remedy: string) => `Remedy: ${remedy}`,
  timesOut: (time: Node) => phrase`; times out ${time}`,
  subjects: { flows: "execution", runs: "run" },
  commandOf: (command: string, flow: string, key: string) => `${command}: ${flow} ${key}`,
  commands: {
    resume: {
      label: "Resume",
      effect: "The execution continues from where it stopped. Completed steps are not repeated.",
      done: "Execution resumed."
    },
    retry: {
      label: "Retry",
      effect: "The execution continues at the failed step. Steps completed before are not repeated.",
      done: "Execution retried."
    },
    suspend: {
      label: "Suspend",
      effect: "Running steps finish; no new step starts until the execution is resumed.",
      done: "The execution will be suspended when its running steps have ended."
    },
    cancel: {
      label: "Cancel execution",
      effect: "Running steps finish, no new step starts, and completed steps are undone where the flow defines how.",
      done: "The execution is being cancelled."
    }
  }
}
