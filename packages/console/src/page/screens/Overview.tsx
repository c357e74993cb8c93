/** What needs a person now, what runs, and who works. */
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import type { Worker } from "@signalbox/api/contract/Workers"
import type { Page } from "../api.ts"
import { Empty, Head, Panel, Problem, State, Time } from "../kit/Basics.tsx"
import { Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { to } from "../route.ts"
import { may, session } from "../state.ts"
import { short } from "../words.ts"

const Needs = () => {
  const failed = useResource<Page<WorkItemListed>>("work-items", { state: "failed", limit: 8 })
  const items = failed.data?.data ?? []
  return (
    <Panel title="Needs a person">
      <Problem message={failed.error} />
      {failed.data !== undefined && items.length === 0 ? (
        <Empty title="Nothing">All is well.</Empty>
      ) : (
        <ul class="needs">
          {items.map(({ created_at, exception, id, state_updated_at, step }) => (
            <li key={id} class="failed">
              <span class="lamp" aria-hidden="true" />
              <div>
                <b>{exception?.message || exception?.code || "An item failed"}</b>
                <br />
                <span class="quiet">
                  {exception?.type ?? "unspecified"} · <Time at={state_updated_at ?? created_at} />
                  {step === null ? "" : ` · item ${short(id)}`}
                </span>
              </div>
              <span class="do">
                <a class="button" href={to(["items", id])}>
                  Look
                </a>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

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
            { title: "Process", cell: ({ process }) => process.name },
            { title: "Started by", cell: ({ started_by }) => <span class="quiet">{started_by.type}</span> },
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
          Nothing runs before one is linked: <code>signalbox worker link</code>
        </Empty>
      ) : (
        <Table
          label="Workers"
          rows={workers.data.data}
          columns={[
            { title: "Name", cell: ({ name }) => name },
            { title: "State", isNumber: true, cell: ({ state }) => <State state={state} /> }
          ]}
        />
      )}
    </Panel>
  )
}

export default () => (
  <>
    <Head title={session.value?.workspace.name ?? "Overview"} />
    <div class="two">
      <div class="stack">
        {may("Processes.read_work_items") ? <Needs /> : null}
        {may("Processes.read_runs") ? <Running /> : null}
      </div>
      <div class="stack">{may("Workers.read_workers") ? <Workers /> : null}</div>
    </div>
  </>
)
