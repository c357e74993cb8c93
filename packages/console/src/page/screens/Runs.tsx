/** Runs: the list, and one of them. */
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import { Empty, Head, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { now } from "../kit/clock.ts"
import { route, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { duration, short } from "../format.ts"
import { stateText } from "../kit/states.ts"
import { Run } from "./Run.tsx"
import { Choice, Filters, ProcessChoice } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const states = ["in_progress", "unresolved", "completed", "stopping", "new"] as const

/** In hours. */
const periods = [
  { value: "1", label: text.runs.lastHour },
  { value: "24", label: text.runs.lastDay },
  { value: "168", label: text.runs.lastWeek }
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
      <Head title={text.screens.runs} />
      <Filters>
        <Choice
          label={text.common.state}
          name="state"
          all={text.common.allStates}
          options={states.map((state) => ({ value: state, label: stateText(state) }))}
        />
        <ProcessChoice />
        <Choice label={text.common.started} name="since" all={text.runs.anyTime} options={periods} />
      </Filters>
      <section class="panel flush">
        <List<ProcessRun>
          label={text.screens.runs}
          path="process-runs"
          query={{ state, process_id: process, created_after: timeOf(since) }}
          columns={[
            {
              title: text.common.run,
              cell: ({ id }) => (
                <a class="mono" href={to(["runs", id])}>
                  {short(id)}
                </a>
              )
            },
            { title: text.common.state, cell: ({ state }) => <State state={state} /> },
            {
              title: text.common.process,
              cell: ({ process }) => <a href={to(["processes", process.id])}>{process.name}</a>
            },
            {
              title: text.common.started,
              cell: ({ created_at, started_at }) => <Time at={started_at ?? created_at} />
            },
            {
              title: text.common.startedBy,
              cell: ({ source, started_by }) => <span class="quiet">{source?.name ?? started_by.type}</span>
            },
            {
              title: text.common.duration,
              isNumber: true,
              cell: (run) => (run.duration === null ? "" : duration(run.duration))
            }
          ]}
          empty={
            state === undefined && process === undefined && since === undefined ? (
              <Empty title={text.runs.none}>
                <a href={to(["processes"])}>{text.runs.startProcess}</a>
              </Empty>
            ) : (
              <Empty title={text.runs.noMatch}>
                <a href={to(["runs"])}>{text.runs.viewAll}</a>
              </Empty>
            )
          }
        />
      </section>
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Runs /> : <Run key={id} id={id} />)
