/**
 * The airports process. The compiler checks that the output of the first task fits the input of the second.
 */
import * as Process from "@signalbox/api/Process"
import { splitAirports, summariseState } from "./tasks.ts"

/** Splits the table into states, then summarises them, two at a time. */
export const airports = Process.make("airports", {
  description: "Splits a table of airports by state and summarises each state",
  steps: [
    Process.step(splitAirports, { name: "split" }),
    Process.step(summariseState, { name: "summarise", max_parallel: 2 })
  ],
  check_payloads: true
})
