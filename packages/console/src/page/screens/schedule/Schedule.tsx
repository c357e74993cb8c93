/** One schedule: when it comes next, and what became of the times before. */
import type { Schedule as ScheduleOf, ScheduleOccurrence, ScheduleTime } from "@signalbox/api/contract/Schedules"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { List } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { exactly, several, short } from "../../words.ts"
import { DeleteDialog, NotLoaded, PauseButton } from "../work/Resource.tsx"
import { PauseDialog } from "../work/Pause.tsx"
import { missedWords, overlapWords } from "./choices.ts"
import { timesInWords } from "./inWords.ts"
import { NextTimes } from "./NextTimes.tsx"

/** Why no run was started, where the service says no more. */
const reasons: Readonly<Record<string, string>> = {
  missed: "it was missed",
  overlap: "an earlier run was still going on",
  calendar: "its day is left out",
  paused: "the schedule was paused",
  changed: "the schedule was changed",
  refused: "the process could not be started",
  no_items: "no item waited in the queue"
}

const History = ({ id }: { readonly id: string }) => (
  <Panel title="What became of it" flush>
    <List<ScheduleOccurrence>
      label="What became of it"
      path={`schedules/${id}/occurrences`}
      empty={<Empty title="Its time has not come yet" />}
      columns={[
        { title: "Time", cell: ({ at }) => <Time at={at} /> },
        {
          title: "Became",
          cell: ({ process_run, reason, why }) =>
            process_run !== null ? (
              <a href={to(["runs", process_run.id])}>
                <State state="done">
                  run <span class="mono">{short(process_run.id)}</span>
                </State>
              </a>
            ) : (
              <>
                <State state="paused">no run</State>{" "}
                <span class="quiet">{why ?? (reason === null ? "" : (reasons[reason] ?? reason))}</span>
              </>
            )
        },
        { title: "At", isNumber: true, cell: ({ at }) => exactly(at) }
      ]}
    />
  </Panel>
)

const inputsInWords = (inputs: ScheduleOf["inputs"]): string => {
  if (inputs.type === "with_inputs") return "all items that wait in the queue"
  if (inputs.type === "default") return "the default item of the process"
  return "payloads" in inputs ? several(inputs.payloads.length, "payload") : inputs.type
}

export const Schedule = ({ id }: { readonly id: string }) => {
  const { data: schedule, error, reload } = useResource<ScheduleOf>(`schedules/${id}`)
  const next = useResource<{ readonly data: ReadonlyArray<ScheduleTime> }>(`schedules/${id}/next`)
  const [asked, setAsked] = useState<"pause" | "delete" | null>(null)
  const action = useAction()
  if (schedule === undefined) return <NotLoaded title="Schedule" error={error} />
  const { inputs, missed, name, overlap, paused, process, running } = schedule
  const resume = () =>
    void action.run(async () => {
      await call("POST", `schedules/${id}/resume`)
      reload()
    }, "The schedule is resumed.")
  return (
    <>
      <Head
        title={name}
        state={paused === null ? undefined : "paused"}
        actions={
          may("Schedules.write_schedules") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                Delete…
              </Button>
              {may("Processes.trigger_processes") ? (
                <a class="button" href={to(["schedules", id, "edit"])}>
                  Edit
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
          <b>Paused</b> by {paused.by.name}, <Time at={paused.since} />: nothing starts until it is resumed.
          <br />
          {paused.note}
        </p>
      )}
      <div class="two">
        <div class="stack">
          <History id={id} />
        </div>
        <div class="stack">
          <Panel title="The next ten times">
            <NextTimes times={next.data?.data ?? []} isPaused={paused !== null} />
          </Panel>
          <Panel title="About">
            <dl class="facts">
              <dt>Starts</dt>
              <dd>
                <a href={to(["processes", process.id])}>{process.name}</a>
              </dd>
              <dt>With</dt>
              <dd>{inputsInWords(inputs)}</dd>
              <dt>Missed</dt>
              <dd>{missedWords(missed)}</dd>
              <dt>Overlap</dt>
              <dd>{overlapWords(overlap)}</dd>
              {schedule.cron === null ? null : (
                <>
                  <dt>Cron</dt>
                  <dd class="mono">{schedule.cron}</dd>
                </>
              )}
              {running.length === 0 ? null : (
                <>
                  <dt>Going on</dt>
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
          effect="Times that come are skipped until it is resumed. Its runs continue."
          onDone={reload}
          onClose={() => setAsked(null)}
        />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={`Delete ${name}`}
          submit="Delete"
          done={`Deleted: ${name}.`}
          path={`schedules/${id}`}
          list={["schedules"]}
          onClose={() => setAsked(null)}
        >
          <p>The schedule is deleted with its history. Its runs continue. This cannot be undone.</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
