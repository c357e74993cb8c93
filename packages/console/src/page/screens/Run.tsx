/** One run: its steps, its items, and what its robots wrote. */
import type { ProcessRun, RunStep } from "@signalbox/api/contract/ProcessRuns"
import type { StepRun, StepRunEvent } from "@signalbox/api/contract/StepRuns"
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import type { Page } from "../api.ts"
import { Button, Empty, Head, Panel, Problem, State, Tabs, Time } from "../kit/Basics.tsx"
import { List, Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { route, to, withQuery } from "../route.ts"
import { may } from "../state.ts"
import { clockOf, count, duration, type Lamp, sentence, short } from "../words.ts"
import { Artifacts } from "./Artifacts.tsx"
import { Log } from "./Log.tsx"
import { Again } from "./run/Again.tsx"
import { Stop } from "./run/Stop.tsx"

/** The lamp of a step: what needs a person first. */
const lampOfStep = ({ items, waits_for }: RunStep): Lamp =>
  items.failed > 0
    ? "failed"
    : items.in_progress > 0
      ? "busy"
      : items.waiting > 0
        ? waits_for === null
          ? "idle"
          : "late"
        : items.done > 0
          ? "done"
          : "idle"

/** What is counted, its word, and the state of such items. */
const states = [
  ["failed", "failed", "failed"],
  ["in_progress", "in progress", "in_progress"],
  ["waiting", "waiting", "pending"],
  ["done", "done", "done"]
] as const

/** The steps of the run as stations on a line, each with what is in it. */
const Steps = ({ steps }: { readonly steps: ReadonlyArray<RunStep> }) => (
  <ol class="line" aria-label="Steps">
    {steps.map((step) => {
      const numbers = states.filter(([state]) => step.items[state] > 0)
      return (
        <li key={step.id} class={`station ${lampOfStep(step)}`}>
          <span class="lamp" aria-hidden="true" />
          <b>{step.name}</b>
          {numbers.length === 0 ? (
            <span class="quiet">nothing yet</span>
          ) : (
            <ul class="numbers">
              {numbers.map(([state, word, stateOfItem]) => (
                <li key={state} class={state}>
                  <a href={withQuery({ tab: "items", of: step.id, state: stateOfItem })}>
                    <b>{count(step.items[state])}</b> {word}
                  </a>
                </li>
              ))}
            </ul>
          )}
          {step.started_at === null ? null : (
            <span class="quiet">
              {step.ended_at === null ? (
                <>
                  since <Time at={step.started_at} />
                </>
              ) : (
                `took ${duration((Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000)}`
              )}
            </span>
          )}
          {step.waits_for === null ? null : <p class="why">Waits: {step.waits_for}</p>}
        </li>
      )
    })}
  </ol>
)

/** What the event `ENVIRONMENT` says, as the console of the step run does. */
const environmentOf = (environment: StepRunEvent["environment"]) => {
  if (environment == null) return ""
  const { cached, digest, provider, seconds } = environment
  return `${digest.slice(0, 12)} by ${provider}, ${cached ? "built before" : `built in ${seconds.toFixed(1)} s`}`
}

const Events = ({ stepRun }: { readonly stepRun: string }) => {
  const { data, error } = useResource<Page<StepRunEvent>>(`step-runs/${stepRun}/events`, { limit: 100 })
  if (data === undefined) return <Problem message={error} />
  return (
    <Table
      label="Events"
      rows={data.data.map((event, index) => ({ ...event, id: String(index) }))}
      columns={[
        { title: "Time", cell: ({ timestamp }) => <span class="mono">{clockOf(timestamp)}</span> },
        { title: "Event", cell: ({ event_type }) => event_type.toLowerCase().replaceAll("_", " ") },
        { title: "", cell: ({ environment, message }) => message ?? environmentOf(environment) }
      ]}
    />
  )
}

const Items = ({
  run,
  state,
  step
}: {
  readonly run: string
  readonly state: string | undefined
  readonly step: string | undefined
}) => (
  <List<WorkItemListed>
    label="Work items"
    path="work-items"
    query={{ process_run_id: run, state, step_id: step }}
    empty={<Empty title="No work items" />}
    columns={[
      {
        title: "Item",
        cell: ({ id }) => (
          <a class="mono" href={to(["items", id])}>
            {short(id)}
          </a>
        )
      },
      { title: "State", cell: ({ state }) => <State state={state} /> },
      { title: "Why", cell: ({ exception }) => (exception === null ? "" : exception.message || exception.code) },
      {
        title: "Changed",
        isNumber: true,
        cell: ({ created_at, state_updated_at }) => <Time at={state_updated_at ?? created_at} />
      }
    ]}
  />
)

/** Which items of a step are listed, and the way back to all. */
const Chosen = ({ state, step }: { readonly state: string | undefined; readonly step: string }) => (
  <p class="listed">
    Items of <b>{step}</b>
    {state === undefined ? "" : `, ${sentence(state)}`}.{" "}
    <a href={withQuery({ of: undefined, state: undefined })}>Show the items of all steps</a>
  </p>
)

export const Run = ({ id }: { readonly id: string }) => {
  const run = useResource<ProcessRun>(`process-runs/${id}`)
  const line = useResource<{ readonly data: ReadonlyArray<RunStep> }>(`process-runs/${id}/steps`)
  const steps = useResource<Page<StepRun>>("step-runs", { process_run_id: id, limit: 100 })
  const [isStopping, setStopping] = useState(false)
  const { of, state: stateOfItems, step, tab = "items" } = route.value.query
  const stepRuns = steps.data?.data ?? []
  const selected = stepRuns.find(({ id }) => id === step) ?? stepRuns[0]
  if (run.data === undefined) {
    return (
      <>
        <Head title="Run" />
        <Problem message={run.error} />
      </>
    )
  }
  const { duration: seconds, ended_at, priority, process, source, started_at, started_by, state } = run.data
  const stepOfItems = line.data?.data.find(({ id }) => id === of)
  const all = { of: undefined, state: undefined }
  const ofStep = tab === "log" || tab === "events" || tab === "artifacts"
  return (
    <>
      <Head
        title={`${process.name} ${short(id)}`}
        state={state}
        actions={
          ended_at === null && may("Processes.trigger_processes") ? (
            <Button kind="danger" onClick={() => setStopping(true)}>
              {state === "stopping" ? "End it now" : "Stop"}
            </Button>
          ) : may("Processes.trigger_processes") ? (
            <Again run={run.data} />
          ) : undefined
        }
      >
        by {source?.name ?? started_by.type}, <Time at={started_at} />
        {seconds === null ? "" : ` · ${duration(seconds)}`}
        {priority === 0 ? "" : ` · priority ${priority}`}
      </Head>
      <Problem message={run.error ?? line.error ?? steps.error} />
      <Steps steps={line.data?.data ?? []} />
      <Tabs
        label="Parts of the run"
        current={tab}
        tabs={[
          { name: "items", label: "Items", href: withQuery({ ...all, tab: "items" }) },
          { name: "failed", label: "Failed", href: withQuery({ ...all, tab: "failed" }) },
          { name: "log", label: "Log", href: withQuery({ ...all, tab: "log" }) },
          { name: "events", label: "Events", href: withQuery({ ...all, tab: "events" }) },
          { name: "artifacts", label: "Artifacts", href: withQuery({ ...all, tab: "artifacts" }) }
        ]}
      />
      {ofStep ? (
        <div class="two">
          <Panel>
            {selected === undefined ? (
              <Empty title="No step has begun" />
            ) : tab === "log" ? (
              <Log key={selected.id} stepRun={selected.id} />
            ) : tab === "events" ? (
              <Events key={selected.id} stepRun={selected.id} />
            ) : (
              <Artifacts key={selected.id} stepRun={selected.id} />
            )}
          </Panel>
          <Panel title="Step runs" flush>
            <Table
              label="Step runs"
              rows={stepRuns}
              columns={[
                {
                  title: "Step",
                  cell: (one) => (
                    <a href={withQuery({ step: one.id })} aria-current={one.id === selected?.id ? "true" : undefined}>
                      {one.step.name} <span class="mono quiet">{short(one.id)}</span>
                    </a>
                  )
                },
                { title: "State", cell: (one) => <State state={one.state}>{one.error?.code ?? undefined}</State> },
                { title: "Took", isNumber: true, cell: (one) => (one.duration === null ? "" : duration(one.duration)) }
              ]}
            />
          </Panel>
        </div>
      ) : (
        <Panel flush>
          {stepOfItems === undefined ? null : <Chosen step={stepOfItems.name} state={stateOfItems} />}
          <Items run={id} step={of} state={tab === "failed" ? "failed" : stateOfItems} />
        </Panel>
      )}
      {isStopping ? <Stop run={id} isStopping={state === "stopping"} onClose={() => setStopping(false)} /> : null}
    </>
  )
}
