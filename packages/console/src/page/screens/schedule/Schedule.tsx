/** One schedule: when it comes next, and what became of the times before. */
import type { Schedule as ScheduleOf, ScheduleOccurrence, ScheduleTime } from "@signalbox/api/contract/Schedules"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { List } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { exactly, short } from "../../format.ts"
import { DeleteDialog, NotLoaded, PauseButton } from "../work/Resource.tsx"
import { PauseDialog } from "../work/Pause.tsx"
import { missedWords, overlapWords } from "./choices.ts"
import { timesInWords } from "./inWords.ts"
import { NextTimes } from "./NextTimes.tsx"
import * as text from "../../text/text.ts"

/** Why no run was started, where the service says no more. */
const reasons: Readonly<Record<string, string>> = {
  missed: text.schedules.reasonMissed,
  overlap: text.schedules.reasonOverlap,
  calendar: text.schedules.reasonCalendar,
  paused: text.schedules.reasonPaused,
  changed: text.schedules.reasonChanged,
  refused: text.schedules.reasonRefused,
  no_items: text.schedules.reasonNoItems
}

const History = ({ id }: { readonly id: string }) => (
  <Panel title={text.common.history} flush>
    <List<ScheduleOccurrence>
      label={text.common.history}
      path={`schedules/${id}/occurrences`}
      empty={<Empty title={text.schedules.noHistory}>{text.schedules.noHistoryHint}</Empty>}
      columns={[
        { title: text.common.time, cell: ({ at }) => <Time at={at} /> },
        {
          title: text.schedules.outcome,
          cell: ({ process_run, reason, why }) =>
            process_run !== null ? (
              <a href={to(["runs", process_run.id])}>
                <State state="done">{text.schedules.runOf(<span class="mono">{short(process_run.id)}</span>)}</State>
              </a>
            ) : (
              <>
                <State state="paused">{text.schedules.noRun}</State>{" "}
                <span class="quiet">{why ?? (reason === null ? "" : (reasons[reason] ?? reason))}</span>
              </>
            )
        },
        { title: text.schedules.scheduledFor, isNumber: true, cell: ({ at }) => exactly(at) }
      ]}
    />
  </Panel>
)

const inputsInWords = (inputs: ScheduleOf["inputs"]): string => {
  if (inputs.type === "with_inputs") return text.schedules.waitingItems
  if (inputs.type === "default") return text.schedules.defaultItemOfProcess
  return "payloads" in inputs ? text.schedules.payloadCount(inputs.payloads.length) : inputs.type
}

export const Schedule = ({ id }: { readonly id: string }) => {
  const { data: schedule, error, reload } = useResource<ScheduleOf>(`schedules/${id}`)
  const next = useResource<{ readonly data: ReadonlyArray<ScheduleTime> }>(`schedules/${id}/next`)
  const [asked, setAsked] = useState<"pause" | "delete" | null>(null)
  const action = useAction()
  if (schedule === undefined) return <NotLoaded title={text.schedules.schedule} error={error} />
  const { inputs, missed, name, overlap, paused, process, running } = schedule
  const resume = () =>
    void action.run(async () => {
      await call("POST", `schedules/${id}/resume`)
      reload()
    }, text.schedules.resumed)
  return (
    <>
      <Head
        title={name}
        state={paused === null ? undefined : "paused"}
        actions={
          may("Schedules.write_schedules") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                {text.common.delete}
              </Button>
              {may("Processes.trigger_processes") ? (
                <a class="button" href={to(["schedules", id, "edit"])}>
                  {text.common.edit}
                </a>
              ) : null}
              {paused === null || may("Processes.trigger_processes") ? (
                <PauseButton
                  isBusy={action.isBusy}
                  isPaused={paused !== null}
                  onPause={() => setAsked("pause")}
                  onResume={resume}
                />
              ) : null}
            </>
          ) : undefined
        }
      >
        {timesInWords(schedule)}
      </Head>
      <Problem message={action.error ?? error} />
      {paused === null ? null : (
        <p class="notice late">
          {text.schedules.pausedBy(paused.by.name ?? "", <Time at={paused.since} />)}
          <br />
          {paused.note}
        </p>
      )}
      <div class="two">
        <div class="stack">
          <History id={id} />
        </div>
        <div class="stack">
          <Panel title={text.schedules.nextTimes}>
            <NextTimes times={next.data?.data ?? []} isPaused={paused !== null} />
          </Panel>
          <Panel title={text.common.details}>
            <dl class="facts">
              <dt>{text.common.process}</dt>
              <dd>
                <a href={to(["processes", process.id])}>{process.name}</a>
              </dd>
              <dt>{text.processes.input}</dt>
              <dd>{inputsInWords(inputs)}</dd>
              <dt>{text.schedules.missedTimes}</dt>
              <dd>{missedWords(missed)}</dd>
              <dt>{text.schedules.overlaps}</dt>
              <dd>{overlapWords(overlap)}</dd>
              {schedule.cron === null ? null : (
                <>
                  <dt>{text.schedules.cronShort}</dt>
                  <dd class="mono">{schedule.cron}</dd>
                </>
              )}
              {running.length === 0 ? null : (
                <>
                  <dt>{text.overview.activeRuns}</dt>
                  <dd>
                    {running.map((run) => (
                      <a key={run.id} class="mono" href={to(["runs", run.id])}>
                        {short(run.id)}{" "}
                      </a>
                    ))}
                  </dd>
                </>
              )}
            </dl>
          </Panel>
        </div>
      </div>
      {asked === "pause" ? (
        <PauseDialog
          what={name}
          path={`schedules/${id}`}
          effect={text.schedules.pauseEffect}
          onDone={reload}
          onClose={() => setAsked(null)}
        />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={text.common.deleteOf(name)}
          submit={text.schedules.deleteSchedule}
          done={text.schedules.deleted(name)}
          path={`schedules/${id}`}
          list={["schedules"]}
          onClose={() => setAsked(null)}
        >
          <p>{text.schedules.deleteHint}</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
