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
import { short } from "../format.ts"
import { Needs } from "./overview/Needs.tsx"
import { Throughput } from "./overview/Throughput.tsx"
import { UpNext } from "./overview/UpNext.tsx"
import * as text from "../text/text.ts"

const Running = () => {
  const runs = useResource<Page<ProcessRun>>("process-runs", { state: "in_progress", limit: 10 })
  return (
    <Panel title={text.overview.activeRuns} flush>
      <Problem message={runs.error} />
      {runs.data === undefined ? null : runs.data.data.length === 0 ? (
        <Empty title={text.overview.noRuns}>{text.overview.noRunsHint(<code>signalbox run PROCESS</code>)}</Empty>
      ) : (
        <Table
          label={text.overview.activeRuns}
          rows={runs.data.data}
          columns={[
            {
              title: text.common.run,
              cell: ({ id, state }) => (
                <a href={to(["runs", id])}>
                  <State state={state}>{short(id)}</State>
                </a>
              )
            },
            {
              title: text.common.process,
              cell: ({ process }) => <a href={to(["processes", process.id])}>{process.name}</a>
            },
            {
              title: text.common.startedBy,
              cell: ({ source, started_by }) => <span class="quiet">{source?.name ?? started_by.type}</span>
            },
            {
              title: text.common.started,
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
    <Panel title={text.screens.workers} flush>
      <Problem message={workers.error} />
      {workers.data === undefined ? null : workers.data.data.length === 0 ? (
        <Empty title={text.overview.noWorkers}>
          {text.overview.noWorkersHint(<a href={to(["workers"])}>{text.workers.link}</a>)}
        </Empty>
      ) : (
        <Table
          label={text.screens.workers}
          rows={workers.data.data}
          columns={[
            { title: text.common.name, cell: ({ id, name }) => <a href={to(["workers", id])}>{name}</a> },
            {
              title: text.common.state,
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
        title={session.value?.workspace.name ?? text.screens.overview}
        actions={
          may("Processes.trigger_processes") && may("Processes.read_processes") ? (
            <a class="button primary" href={to(["processes"])}>
              {text.overview.startRun}
            </a>
          ) : undefined
        }
      >
        {done === undefined ? "" : text.overview.done(done)}
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
