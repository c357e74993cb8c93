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
import { clockOf, count, duration, short } from "../format.ts"
import { type Lamp, stateText } from "../kit/states.ts"
import { Artifacts } from "./Artifacts.tsx"
import { Log } from "./Log.tsx"
import { Rerun } from "./run/Rerun.tsx"
import { Stop } from "./run/Stop.tsx"
import * as text from "../text/text.ts"

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
  ["failed", text.runs.failed, "failed"],
  ["in_progress", text.runs.inProgress, "in_progress"],
  ["waiting", text.runs.waiting, "pending"],
  ["done", text.runs.done, "done"]
] as const

/** The steps of the run as stations on a line, each with what is in it. */
const Steps = ({ steps }: { readonly steps: ReadonlyArray<RunStep> }) => (
  <ol class="line" aria-label={text.runs.steps}>
    {steps.map((step) => {
      const numbers = states.filter(([state]) => step.items[state] > 0)
      return (
        <li key={step.id} class={`station ${lampOfStep(step)}`}>
          <span class="lamp" aria-hidden="true" />
          <b>{step.name}</b>
          {numbers.length === 0 ? (
            <span class="quiet">{text.runs.noItems}</span>
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
              {step.ended_at === null
                ? text.runs.since(<Time at={step.started_at} />)
                : duration((Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000)}
            </span>
          )}
          {step.waits_for === null ? null : <p class="why">{text.runs.waitsFor(step.waits_for)}</p>}
        </li>
      )
    })}
  </ol>
)

/** What the event `ENVIRONMENT` says, as the console of the step run does. */
const environmentOf = (environment: StepRunEvent["environment"]) => {
  if (environment == null) return ""
  const { cached, digest, provider, seconds } = environment
  return text.runs.environment(
    digest.slice(0, 12),
    provider,
    cached ? text.runs.builtBefore : text.runs.builtIn(seconds.toFixed(1))
  )
}

const Events = ({ stepRun }: { readonly stepRun: string }) => {
  const { data, error } = useResource<Page<StepRunEvent>>(`step-runs/${stepRun}/events`, { limit: 100 })
  if (data === undefined) return <Problem message={error} />
  return (
    <Table
      label={text.common.events}
      rows={data.data.map((event, index) => ({ ...event, id: String(index) }))}
      columns={[
        { title: text.common.time, cell: ({ timestamp }) => <span class="mono">{clockOf(timestamp)}</span> },
        { title: text.common.event, cell: ({ event_type }) => event_type.toLowerCase().replaceAll("_", " ") },
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
    label={text.screens.items}
    path="work-items"
    query={{ process_run_id: run, state, step_id: step }}
    empty={<Empty title={text.runs.noWorkItems} />}
    columns={[
      {
        title: text.common.item,
        cell: ({ id }) => (
          <a class="mono" href={to(["items", id])}>
            {short(id)}
          </a>
        )
      },
      { title: text.common.state, cell: ({ state }) => <State state={state} /> },
      {
        title: text.common.error,
        cell: ({ exception }) => (exception === null ? "" : exception.message || exception.code)
      },
      {
        title: text.common.updated,
        isNumber: true,
        cell: ({ created_at, state_updated_at }) => <Time at={state_updated_at ?? created_at} />
      }
    ]}
  />
)

/** Which items of a step are listed, and the way back to all. */
const Chosen = ({ state, step }: { readonly state: string | undefined; readonly step: string }) => (
  <p class="listed">
    {text.runs.itemsOf(
      <b>{step}</b>,
      state === undefined ? "" : `, ${stateText(state)}`,
      <a href={withQuery({ of: undefined, state: undefined })}>{text.runs.allSteps}</a>
    )}
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
        <Head title={text.common.run} />
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
              {state === "stopping" ? text.runs.terminate : text.runs.stop}
            </Button>
          ) : may("Processes.trigger_processes") ? (
            <Rerun run={run.data} />
          ) : undefined
        }
      >
        {text.runs.startedBy(
          source?.name ?? started_by.type,
          <Time at={started_at} />,
          `${seconds === null ? "" : ` · ${duration(seconds)}`}${priority === 0 ? "" : text.runs.priority(priority)}`
        )}
      </Head>
      <Problem message={run.error ?? line.error ?? steps.error} />
      <Steps steps={line.data?.data ?? []} />
      <Tabs
        label={text.runs.sections}
        current={tab}
        tabs={[
          { name: "items", label: text.common.items, href: withQuery({ ...all, tab: "items" }) },
          { name: "failed", label: text.runs.failedTab, href: withQuery({ ...all, tab: "failed" }) },
          { name: "log", label: text.common.log, href: withQuery({ ...all, tab: "log" }) },
          { name: "events", label: text.common.events, href: withQuery({ ...all, tab: "events" }) },
          { name: "artifacts", label: text.common.artifacts, href: withQuery({ ...all, tab: "artifacts" }) }
        ]}
      />
      {ofStep ? (
        <div class="two">
          <Panel>
            {selected === undefined ? (
              <Empty title={text.runs.noStep} />
            ) : tab === "log" ? (
              <Log key={selected.id} stepRun={selected.id} />
            ) : tab === "events" ? (
              <Events key={selected.id} stepRun={selected.id} />
            ) : (
              <Artifacts key={selected.id} stepRun={selected.id} />
            )}
          </Panel>
          <Panel title={text.runs.stepRuns} flush>
            <Table
              label={text.runs.stepRuns}
              rows={stepRuns}
              columns={[
                {
                  title: text.common.step,
                  cell: (one) => (
                    <a href={withQuery({ step: one.id })} aria-current={one.id === selected?.id ? "true" : undefined}>
                      {one.step.name} <span class="mono quiet">{short(one.id)}</span>
                    </a>
                  )
                },
                {
                  title: text.common.state,
                  cell: (one) => <State state={one.state}>{one.error?.code ?? undefined}</State>
                },
                {
                  title: text.common.duration,
                  isNumber: true,
                  cell: (one) => (one.duration === null ? "" : duration(one.duration))
                }
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
