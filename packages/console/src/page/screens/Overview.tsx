/** What needs a person now, what runs, and who works. */
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import type { ThroughputHour } from "@signalbox/api/contract/WorkItems"
import type { Worker } from "@signalbox/api/contract/Workers"
import type { Page } from "../api.ts"
import { Empty, Head, Panel, Problem, State, Time } from "../kit/Basics.tsx"
import { Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { to } from "../route.ts"
import { may, session } from "../state.ts"
import { several, short } from "../words.ts"
import { Needs } from "./overview/Needs.tsx"
import { Throughput } from "./overview/Throughput.tsx"
import { UpNext } from "./overview/UpNext.tsx"

const Running = () => {
  const runs = useResource<Page<ProcessRun>>("process-runs", { state: "in_progress", limit: 10 })
  return (
    <Panel title="Running now" flush>
      <Problem message={runs.error} />
      {runs.data === undefined ? null : runs.data.data.length === 0 ? (
        <Empty title="No run is in progress">
          <code>signalbox run PROCESS</code> starts one.
        </Empty>
      ) : (
        <Table
          label="Running now"
          rows={runs.data.data}
          columns={[
            {
              title: "Run",
              cell: ({ id, state }) => (
                <a href={to(["runs", id])}>
                  <State state={state}>{short(id)}</State>
                </a>
              )
            },
            { title: "Process", cell: ({ process }) => <a href={to(["processes", process.id])}>{process.name}</a> },
            {
              title: "Started by",
              cell: ({ source, started_by }) => <span class="quiet">{source?.name ?? started_by.type}</span>
            },
            {
              title: "Since",
              isNumber: true,
              cell: ({ created_at, started_at }) => <Time at={started_at ?? created_at} />
            }
          ]}
        />
      )}
    </Panel>
  )
}

const Workers = () => {
  const workers = useResource<Page<Worker>>("workers", { limit: 20 })
  return (
    <Panel title="Workers" flush>
      <Problem message={workers.error} />
      {workers.data === undefined ? null : workers.data.data.length === 0 ? (
        <Empty title="No workers">
          Nothing runs before one is linked. <a href={to(["workers"])}>Link a worker</a>
        </Empty>
      ) : (
        <Table
          label="Workers"
          rows={workers.data.data}
          columns={[
            { title: "Name", cell: ({ id, name }) => <a href={to(["workers", id])}>{name}</a> },
            {
              title: "State",
              isNumber: true,
              cell: ({ paused, state }) => <State state={paused === null ? state : "paused"} />
            }
          ]}
        />
      )}
    </Panel>
  )
}

export default () => {
  const mayRead = may("Processes.read_work_items")
  const throughput = useResource<{ readonly data: ReadonlyArray<ThroughputHour> }>(mayRead ? "throughput" : null)
  const done = throughput.data?.data.reduce((sum, hour) => sum + hour.done, 0)
  return (
    <>
      <Head
        title={session.value?.workspace.name ?? "Overview"}
        actions={
          may("Processes.trigger_processes") && may("Processes.read_processes") ? (
            <a class="button primary" href={to(["processes"])}>
              Start a run
            </a>
          ) : undefined
        }
      >
        {done === undefined ? "" : `${several(done, "item")} done in the last 24 hours`}
      </Head>
      <div class="two">
        <div class="stack">
          <Needs />
          {may("Processes.read_runs") ? <Running /> : null}
        </div>
        <div class="stack">
          {mayRead ? <Throughput {...throughput} /> : null}
          {may("Schedules.read_schedules") ? <UpNext /> : null}
          {may("Workers.read_workers") ? <Workers /> : null}
        </div>
      </div>
    </>
  )
}
