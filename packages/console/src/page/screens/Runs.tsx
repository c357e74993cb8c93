/** Runs: the list, and one of them. */
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import { Empty, Head, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { go, route, to, withQuery } from "../route.ts"
import type { ScreenProps } from "../screens.tsx"
import { duration, sentence, short } from "../words.ts"
import { Run } from "./Run.tsx"

const states = ["in_progress", "unresolved", "completed", "stopping", "new"] as const

const Runs = () => {
  const { process, state } = route.value.query
  return (
    <>
      <Head title="Runs" />
      <div class="filters">
        <label class="hidden" for="state">
          State
        </label>
        <select
          id="state"
          value={state ?? ""}
          onChange={(event) => go(withQuery({ state: event.currentTarget.value }))}
        >
          <option value="">All states</option>
          {states.map((state) => (
            <option key={state} value={state}>
              {sentence(state)}
            </option>
          ))}
        </select>
      </div>
      <section class="panel flush">
        <List<ProcessRun>
          label="Runs"
          path="process-runs"
          query={{ state, process_id: process }}
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
              cell: ({ process }) => <a href={to(["runs"], { process: process.id })}>{process.name}</a>
            },
            { title: "Started", cell: ({ created_at, started_at }) => <Time at={started_at ?? created_at} /> },
            { title: "By", cell: ({ started_by }) => <span class="quiet">{started_by.type}</span> },
            { title: "Took", isNumber: true, cell: (run) => (run.duration === null ? "" : duration(run.duration)) }
          ]}
          empty={
            <Empty title={state === undefined ? "No runs yet" : `No runs that are ${sentence(state)}`}>
              <code>signalbox run PROCESS</code> starts one.
            </Empty>
          }
        />
      </section>
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Runs /> : <Run key={id} id={id} />)
