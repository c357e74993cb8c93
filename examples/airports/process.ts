/**
 * The definition of the airports process.
 */
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import { splitAirports, summariseState } from "./tasks.ts"

/** Splits the table into states, then summarises them, two at a time. */
export const airports: ProcessDefinition = {
  name: "airports",
  description: "Splits a table of airports by state and summarises each state",
  steps: [
    { name: "split", task: { name: splitAirports.name } },
    { name: "summarise", task: { name: summariseState.name }, max_parallel: 2 }
  ]
}
