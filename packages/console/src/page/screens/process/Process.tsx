/** One process: its steps, what starts it, what waits, and its newest runs. */
import type { Process as ProcessOf, StoredDefinition } from "@signalbox/api/contract/Processes"
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import type { ScheduleListed } from "@signalbox/api/contract/Schedules"
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { count, duration, short } from "../../words.ts"
import { PauseDialog, PausedNotice } from "../work/Pause.tsx"
import { timesInWords } from "../schedule/inWords.ts"
import { startInWords } from "../trigger/inWords.ts"
import { Steps } from "./Steps.tsx"

const Runs = ({ id }: { readonly id: string }) => {
  const { data, error } = useResource<Page<ProcessRun>>("process-runs", { process_id: id, limit: 12 })
  return (
    <Panel title="Newest runs" flush>
      <Problem message={error} />
      {data === undefined ? null : data.data.length === 0 ? (
        <Empty title="It has not run yet">
          {may("Processes.trigger_processes") ? <a href={to(["processes", id, "start"])}>Start it</a> : "Start it"}, or{" "}
          {may("Schedules.write_schedules", "Processes.trigger_processes") ? (
            <a href={to(["schedules", "new"], { process: id })}>give it a schedule</a>
          ) : (
            "give it a schedule"
          )}
          .
        </Empty>
      ) : (
        <>
          <Table
            label="Newest runs"
            rows={data.data}
            columns={[
              {
                title: "Run",
                cell: (run) => (
                  <a href={to(["runs", run.id])}>
                    <State state={run.state}>
                      {run.state.replaceAll("_", " ")} <span class="mono quiet">{short(run.id)}</span>
                    </State>
                  </a>
                )
              },
              { title: "Started", cell: (run) => <Time at={run.started_at ?? run.created_at} /> },
              { title: "By", cell: (run) => <span class="quiet">{run.source?.name ?? run.started_by.type}</span> },
              { title: "Took", isNumber: true, cell: (run) => (run.duration === null ? "" : duration(run.duration)) }
            ]}
          />
          {data.has_more ? (
            <p class="empty">
              <a href={to(["runs"], { process: id })}>All its runs</a>
            </p>
          ) : null}
        </>
      )}
    </Panel>
  )
}

const Schedules = ({ id }: { readonly id: string }) => {
  const { data } = useResource<Page<ScheduleListed>>("schedules", { process_id: id, limit: 50 })
  return (
    <Panel title="Schedules">
      {data?.data.length === 0 ? <p class="quiet">None: it starts by hand or by a trigger.</p> : null}
      <ul class="plain">
        {data?.data.map((schedule) => (
          <li key={schedule.id}>
            <a href={to(["schedules", schedule.id])}>
              <b>{schedule.name}</b>
            </a>
            <br />
            {timesInWords(schedule)}
            <br />
            <span class="quiet">
              {schedule.paused !== null ? (
                <State state="paused" />
              ) : schedule.next_at === null ? (
                "over"
              ) : (
                <>
                  comes <Time at={schedule.next_at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {may("Schedules.write_schedules", "Processes.trigger_processes") ? (
        <a class="button" href={to(["schedules", "new"], { process: id })}>
          Add a schedule
        </a>
      ) : null}
    </Panel>
  )
}

const Triggers = ({ id }: { readonly id: string }) => {
  const { data } = useResource<Page<TriggerListed>>("triggers", { process_id: id, limit: 50 })
  return (
    <Panel title="Triggers">
      {data?.data.length === 0 ? <p class="quiet">None.</p> : null}
      <ul class="plain">
        {data?.data.map((trigger) => (
          <li key={trigger.id}>
            <a href={to(["triggers", trigger.id])}>
              <b>{trigger.name}</b>
            </a>
            {trigger.enabled ? "" : " (off)"}
            <br />
            {startInWords(trigger)}
            {trigger.problem === null ? null : (
              <>
                <br />
                <span class="wrong">{trigger.problem.message}</span>
              </>
            )}
          </li>
        ))}
      </ul>
      {may("Triggers.write_triggers", "Processes.trigger_processes") ? (
        <a class="button" href={to(["triggers", "new"], { process: id })}>
          Add a trigger
        </a>
      ) : null}
    </Panel>
  )
}

const Waiting = ({ id }: { readonly id: string }) => {
  const { data } = useResource<Page<WorkItemListed>>("work-items", { process_id: id, state: "new", limit: 100 })
  const oldest = data?.data.at(-1)
  return (
    <Panel title="Waiting in the queue">
      {data === undefined ? null : oldest === undefined ? (
        <p class="quiet">Nothing waits for a run.</p>
      ) : (
        <p>
          <a href={to(["items"], { state: "new", process: id })}>
            <b>
              {count(data.data.length)}
              {data.has_more ? " and more" : ""} {data.data.length === 1 ? "item waits" : "items wait"}
            </b>
          </a>{" "}
          for a run.
          {data.has_more ? null : (
            <span class="quiet">
              {" "}
              The oldest since <Time at={oldest.created_at} />.
            </span>
          )}
        </p>
      )}
    </Panel>
  )
}

export const Process = ({ id }: { readonly id: string }) => {
  const process = useResource<ProcessOf>(`processes/${id}`)
  const definition = useResource<StoredDefinition>(`processes/${id}/definition`)
  const [asked, setAsked] = useState<"pause" | "delete" | null>(null)
  const action = useAction()
  if (process.data === undefined || definition.data === undefined) {
    return (
      <>
        <Head title="Process" />
        <Problem message={process.error ?? definition.error} />
      </>
    )
  }
  const { description, name, paused } = process.data
  const { pause_after_failures } = definition.data
  const resume = () =>
    void action.run(async () => {
      await call("POST", `processes/${id}/resume`)
      process.reload()
    }, "The process is resumed.")
  return (
    <>
      <Head
        title={name}
        state={paused === null ? undefined : "paused"}
        actions={
          <>
            {may("Processes.write_processes") ? (
              <>
                <Button kind="danger" onClick={() => setAsked("delete")}>
                  Delete…
                </Button>
                <a class="button" href={to(["processes", id, "edit"])}>
                  Edit
                </a>
              </>
            ) : null}
            {!may("Processes.pause_processes") ? null : paused === null ? (
              <Button onClick={() => setAsked("pause")}>Pause…</Button>
            ) : may("Processes.trigger_processes") ? (
              <Button onClick={resume}>Resume</Button>
            ) : null}
            {may("Processes.trigger_processes") ? (
              <a class="button primary" href={to(["processes", id, "start"])}>
                Start…
              </a>
            ) : null}
          </>
        }
      >
        {description}
      </Head>
      <Problem message={action.error ?? process.error} />
      {paused === null ? null : <PausedNotice paused={paused} what="The process" />}
      <Steps process={process.data} definition={definition.data} onChange={process.reload} />
      <div class="two">
        <div class="stack">{may("Processes.read_runs") ? <Runs id={id} /> : null}</div>
        <div class="stack">
          {may("Processes.read_work_items") ? <Waiting id={id} /> : null}
          {may("Schedules.read_schedules") ? <Schedules id={id} /> : null}
          {may("Triggers.read_triggers") ? <Triggers id={id} /> : null}
          {pause_after_failures === undefined ? null : (
            <p class="quiet">It pauses itself after {pause_after_failures} failures in a row.</p>
          )}
        </div>
      </div>
      {asked === "pause" ? (
        <PauseDialog
          what={name}
          path={`processes/${id}`}
          effect="What is in progress is finished. Runs can be started, and wait until the process is resumed."
          onDone={process.reload}
          onClose={() => setAsked(null)}
        />
      ) : asked === "delete" ? (
        <Confirm
          title={`Delete ${name}`}
          submit="Delete"
          done={`Deleted: ${name}.`}
          name={name}
          onSubmit={async () => {
            await call("DELETE", `processes/${id}`)
            go(to(["processes"]))
          }}
          onClose={() => setAsked(null)}
        >
          <p>
            The process is deleted, with its schedules and triggers. It must have no run that goes on and no item that
            waits. This cannot be undone.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}
