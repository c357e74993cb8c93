/** One process: its steps, what starts it, what waits, and its newest runs. */
import type { LimitWait, Process as ProcessOf, StoredDefinition } from "@signalbox/api/contract/Processes"
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
import { duration, short } from "../../format.ts"
import { ChangedBy } from "../work/ChangedBy.tsx"
import { PauseDialog, PausedNotice } from "../work/Pause.tsx"
import { timesInWords } from "../schedule/inWords.ts"
import { startInWords } from "../trigger/inWords.ts"
import { Steps } from "./Steps.tsx"
import { stateText } from "../../kit/states.ts"
import * as text from "../../text/text.ts"

const Runs = ({ id }: { readonly id: string }) => {
  const { data, error } = useResource<Page<ProcessRun>>("process-runs", { process_id: id, limit: 12 })
  return (
    <Panel title={text.processes.recentRuns} flush>
      <Problem message={error} />
      {data === undefined ? null : data.data.length === 0 ? (
        <Empty title={text.runs.none}>
          {text.processes.noRunsHint(
            may("Processes.trigger_processes") ? (
              <a href={to(["processes", id, "start"])}>{text.processes.startRun}</a>
            ) : (
              text.processes.startRun
            ),
            may("Schedules.write_schedules", "Processes.trigger_processes") ? (
              <a href={to(["schedules", "new"], { process: id })}>{text.processes.addSchedule}</a>
            ) : (
              text.processes.addSchedule
            )
          )}
        </Empty>
      ) : (
        <>
          <Table
            label={text.processes.recentRuns}
            rows={data.data}
            columns={[
              {
                title: text.common.run,
                cell: (run) => (
                  <a href={to(["runs", run.id])}>
                    <State state={run.state}>
                      {stateText(run.state)} <span class="mono quiet">{short(run.id)}</span>
                    </State>
                  </a>
                )
              },
              { title: text.common.started, cell: (run) => <Time at={run.started_at ?? run.created_at} /> },
              {
                title: text.common.startedBy,
                cell: (run) => <span class="quiet">{run.source?.name ?? run.started_by.type}</span>
              },
              {
                title: text.common.duration,
                isNumber: true,
                cell: (run) => (run.duration === null ? "" : duration(run.duration))
              }
            ]}
          />
          {data.has_more ? (
            <p class="empty">
              <a href={to(["runs"], { process: id })}>{text.runs.viewAll}</a>
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
    <Panel title={text.screens.schedules}>
      {data?.data.length === 0 ? <p class="quiet">{text.processes.noSchedules}</p> : null}
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
                text.common.ended
              ) : (
                text.processes.nextAt(<Time at={schedule.next_at} />)
              )}
            </span>
          </li>
        ))}
      </ul>
      {may("Schedules.write_schedules", "Processes.trigger_processes") ? (
        <a class="button" href={to(["schedules", "new"], { process: id })}>
          {text.schedules.new}
        </a>
      ) : null}
    </Panel>
  )
}

const Triggers = ({ id }: { readonly id: string }) => {
  const { data } = useResource<Page<TriggerListed>>("triggers", { process_id: id, limit: 50 })
  return (
    <Panel title={text.screens.triggers}>
      {data?.data.length === 0 ? <p class="quiet">{text.processes.noTriggers}</p> : null}
      <ul class="plain">
        {data?.data.map((trigger) => (
          <li key={trigger.id}>
            <a href={to(["triggers", trigger.id])}>
              <b>{trigger.name}</b>
            </a>
            {trigger.enabled ? "" : ` (${text.common.disabled})`}
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
          {text.triggers.new}
        </a>
      ) : null}
    </Panel>
  )
}

const Waiting = ({ id }: { readonly id: string }) => {
  const { data } = useResource<Page<WorkItemListed>>("work-items", { process_id: id, state: "new", limit: 100 })
  const oldest = data?.data.at(-1)
  return (
    <Panel title={text.processes.queue}>
      {data === undefined ? null : oldest === undefined ? (
        <p class="quiet">{text.processes.emptyQueue}</p>
      ) : (
        <p>
          {text.processes.waitingLine(
            <a href={to(["items"], { state: "new", process: id })}>
              <b>{text.processes.waiting(data.data.length, data.has_more)}</b>
            </a>,
            data.has_more ? null : <span class="quiet">{text.processes.oldest(<Time at={oldest.created_at} />)}</span>
          )}
        </p>
      )}
    </Panel>
  )
}

const Limits = ({ id }: { readonly id: string }) => {
  const { data } = useResource<{ readonly data: ReadonlyArray<LimitWait> }>(`processes/${id}/limits`)
  return (
    <Panel title={text.processes.limits} flush>
      {data === undefined ? null : data.data.length === 0 ? (
        <Empty title={text.processes.noLimitWaits} />
      ) : (
        <Table
          label={text.processes.limits}
          rows={data.data.map((wait, n) => ({ ...wait, id: String(n) }))}
          columns={[
            { title: text.processes.waitsFor, cell: ({ key, step, value }) => value ?? key ?? step?.name ?? "" },
            { title: text.common.items, isNumber: true, cell: ({ waiting }) => waiting },
            { title: text.processes.since, cell: ({ since }) => (since === null ? "" : <Time at={since} />) },
            {
              title: text.processes.heldBy,
              cell: ({ held_by, room_at }) =>
                room_at === null ? (
                  held_by.map(({ process_run_id: run, work_item_id: item }) => (
                    <a key={item} class="mono" href={to(["runs", run])}>
                      {short(run)}{" "}
                    </a>
                  ))
                ) : (
                  <Time at={room_at} />
                )
            }
          ]}
        />
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
        <Head title={text.common.process} />
        <Problem message={process.error ?? definition.error} />
      </>
    )
  }
  const { description, name, paused } = process.data
  const { pause_after_failures } = definition.data
  const hasLimits = [definition.data, ...definition.data.steps].some(({ concurrency, rate }) => concurrency ?? rate)
  const resume = () =>
    void action.run(async () => {
      await call("POST", `processes/${id}/resume`)
      process.reload()
    }, text.processes.resumed)
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
                  {text.common.delete}
                </Button>
                <a class="button" href={to(["processes", id, "edit"])}>
                  {text.common.edit}
                </a>
              </>
            ) : null}
            {!may("Processes.pause_processes") ? null : paused === null ? (
              <Button onClick={() => setAsked("pause")}>{text.common.pause}</Button>
            ) : may("Processes.trigger_processes") ? (
              <Button onClick={resume}>{text.common.resume}</Button>
            ) : null}
            {may("Processes.trigger_processes") ? (
              <a class="button primary" href={to(["processes", id, "start"])}>
                {text.processes.startMore}
              </a>
            ) : null}
          </>
        }
      >
        {description} <ChangedBy type="process" id={id} />
      </Head>
      <Problem message={action.error ?? process.error} />
      {paused === null ? null : <PausedNotice paused={paused} what={text.common.process} />}
      <Steps process={process.data} definition={definition.data} onChange={process.reload} />
      <div class="two">
        <div class="stack">{may("Processes.read_runs") ? <Runs id={id} /> : null}</div>
        <div class="stack">
          {may("Processes.read_work_items") ? <Waiting id={id} /> : null}
          {hasLimits && may("Processes.read_work_items") ? <Limits id={id} /> : null}
          {may("Schedules.read_schedules") ? <Schedules id={id} /> : null}
          {may("Triggers.read_triggers") ? <Triggers id={id} /> : null}
          {pause_after_failures === undefined ? null : (
            <p class="quiet">{text.processes.pausesAfter(pause_after_failures)}</p>
          )}
        </div>
      </div>
      {asked === "pause" ? (
        <PauseDialog
          what={name}
          path={`processes/${id}`}
          effect={text.processes.pauseEffect}
          onDone={process.reload}
          onClose={() => setAsked(null)}
        />
      ) : asked === "delete" ? (
        <Confirm
          title={text.common.deleteOf(name)}
          submit={text.processes.deleteProcess}
          done={text.processes.deleted(name)}
          name={name}
          onSubmit={async () => {
            await call("DELETE", `processes/${id}`)
            go(to(["processes"]))
          }}
          onClose={() => setAsked(null)}
        >
          <p>{text.processes.deleteHint}</p>
        </Confirm>
      ) : null}
    </>
  )
}
