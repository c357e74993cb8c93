/** Events of step runs as they are stored: the environment of an `ENVIRONMENT` is JSON in the column of the message. */
import { StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { environmentEvent, type StepRunEnvironment, type StepRunEvent } from "@signalbox/api/contract/StepRuns"
import { id, nullable, Table, text, word } from "@signalbox/sql/Table"

export const eventTable = Table("step_run_event", {
  id: text,
  step_run_id: id(StepRunId),
  created_at: text,
  event_type: word<StepRunEvent["event_type"]>(),
  work_item_id: nullable(id(WorkItemId)),
  message: nullable(text)
})
export const eventRow = eventTable.pick("id", "created_at", "event_type", "message")

/** What is stored of an environment, or of a message; an event has one of them. */
export const messageOf = (environment: StepRunEnvironment | null, message: string | null): string | null =>
  environment === null ? message : JSON.stringify(environment)

export const parseEvent = ({
  created_at: timestamp,
  event_type,
  id,
  message
}: typeof eventRow.Type): StepRunEvent & { readonly id: string } =>
  event_type === environmentEvent && message !== null
    ? { id, timestamp, event_type, message: null, environment: JSON.parse(message) }
    : { id, timestamp, event_type, message, environment: null }
