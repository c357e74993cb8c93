/**
 * The airports process: what `Processes.create` takes.
 */
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import { splitAirports, summariseState } from "./tasks.ts"

/** Split the table into states, then summarise the states, two at a time, as they come. */
export const airports: ProcessDefinition = {
  name: "airports",
  description: "Splits a table of airports by state and summarises each state",
  steps: [
    { name: "split", task: { name: splitAirports.name } },
    { name: "summarise", task: { name: summariseState.name }, max_parallel: 2 }
  ]
}
