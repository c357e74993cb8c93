/** Events of step runs as they are stored: the environment of an `ENVIRONMENT` is JSON in the column of the message. */
import { environmentEvent, type StepRunEnvironment, type StepRunEvent } from "@signalbox/api/contract/StepRuns"

export interface EventRow extends Omit<StepRunEvent, "environment"> {
  readonly id: string
}

/** What is stored of an environment, or of a message; an event has one of them. */
export const messageOf = (environment: StepRunEnvironment | null, message: string | null): string | null =>
  environment === null ? message : JSON.stringify(environment)

export const parseEvent = (row: EventRow): StepRunEvent & { readonly id: string } =>
  row.event_type === environmentEvent && row.message !== null
    ? { ...row, message: null, environment: JSON.parse(row.message) }
    : { ...row, environment: null }
