/** Runs: the list, and one of them. */
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import { Empty, Head, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { now } from "../kit/clock.ts"
import { route, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { duration, sentence, short } from "../words.ts"
import { Run } from "./Run.tsx"
import { Choice, Filters, ProcessChoice } from "./work/Filter.tsx"

const states = ["in_progress", "unresolved", "completed", "stopping", "new"] as const

/** In hours. */
const periods = [
  { value: "1", label: "in the last hour" },
  { value: "24", label: "in the last day" },
  { value: "168", label: "in the last week" }
]

/** To the minute, so that the address of the list does not change all the time. */
const timeOf = (hours: string | undefined) =>
  hours === undefined
    ? undefined
    : new Date(Math.floor(now.value / 60_000) * 60_000 - Number(hours) * 3_600_000).toISOString()

const Runs = () => {
  const { process, since, state } = route.value.query
  return (
    <>
      <Head title="Runs" />
      <Filters>
        <Choice
          label="State"
          name="state"
          all="All states"
          options={states.map((state) => ({ value: state, label: sentence(state) }))}
        />
        <ProcessChoice />
        <Choice label="Started" name="since" all="At any time" options={periods} />
      </Filters>
      <section class="panel flush">
        <List<ProcessRun>
          label="Runs"
          path="process-runs"
          query={{ state, process_id: process, created_after: timeOf(since) }}
          columns={[
            {
              title: "Run",
              cell: ({ id }) => (
                <a class="mono" href={to(["runs", id])}>
                  {short(id)}
                </a>
              )
            },
            { title: "State", cell: ({ state }) => <State state={state} /> },
            {
              title: "Process",
              cell: ({ process }) => <a href={to(["processes", process.id])}>{process.name}</a>
            },
            { title: "Started", cell: ({ created_at, started_at }) => <Time at={started_at ?? created_at} /> },
            {
              title: "By",
              cell: ({ source, started_by }) => <span class="quiet">{source?.name ?? started_by.type}</span>
            },
            { title: "Took", isNumber: true, cell: (run) => (run.duration === null ? "" : duration(run.duration)) }
          ]}
          empty={
            state === undefined && process === undefined && since === undefined ? (
              <Empty title="No runs yet">
                <a href={to(["processes"])}>Start a process</a>
              </Empty>
            ) : (
              <Empty title="No run is like this">
                <a href={to(["runs"])}>Show all runs</a>
              </Empty>
            )
          }
        />
      </section>
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Runs /> : <Run key={id} id={id} />)
