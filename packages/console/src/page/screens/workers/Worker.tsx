/** One worker: what it does, what it has, and how it is held or let go. */
import type { Worker as WorkerOf } from "@signalbox/api/contract/Workers"
import { useEffect, useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { short } from "../../format.ts"
import { DeleteDialog, NotLoaded, PauseButton } from "../work/Resource.tsx"
import { PauseDialog, PausedNotice } from "../work/Pause.tsx"
import { RenameDialog } from "./Rename.tsx"
import { Labels, LastSeen, WorkerState } from "./State.tsx"
import * as text from "../../text/text.ts"

const Now = ({ worker: { draining, paused, state, step_runs } }: { readonly worker: WorkerOf }) => (
  <Panel title={text.workers.currentWork}>
    {step_runs.length === 0 ? (
      <Empty title={text.workers.noStepRuns}>
        {state === "offline"
          ? text.workers.offlineHint
          : paused !== null || draining
            ? text.workers.heldHint
            : text.workers.idleHint}
      </Empty>
    ) : (
      <ul class="names">
        {step_runs.map(({ id, process_run, step }) => (
          <li key={id}>
            <State state="in_progress">{step}</State>
            {may("Processes.read_runs") ? (
              <span class="together">
                <a class="name-link" href={to(["runs", process_run.id], { step: id })}>
                  {text.workers.runOf(<span class="mono">{short(process_run.id)}</span>)}
                </a>
                <a class="name-link" href={to(["runs", process_run.id], { step: id, tab: "log" })}>
                  {text.common.log}
                  <span class="hidden">{text.workers.logOf(step)}</span>
                </a>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    )}
  </Panel>
)

const About = ({ worker }: { readonly worker: WorkerOf }) => {
  const { id, labels, worker_groups } = worker
  return (
    <Panel title={text.common.details}>
      <dl class="facts">
        <dt>{text.workers.lastSeen}</dt>
        <dd>
          <LastSeen worker={worker} />
        </dd>
        <dt>{text.workers.labels}</dt>
        <dd>{labels.length === 0 ? text.common.none : <Labels labels={labels} />}</dd>
        <dt>{text.workers.groups}</dt>
        <dd>
          {worker_groups.length === 0
            ? text.common.none
            : worker_groups.map((group) => (
                <div key={group.id}>
                  <a class="name-link" href={to(["workers", "groups", group.id])}>
                    {group.name}
                  </a>
                </div>
              ))}
        </dd>
        <dt>{text.common.id}</dt>
        <dd class="mono">{id}</dd>
      </dl>
    </Panel>
  )
}

export const Worker = ({ id }: { readonly id: string }) => {
  const loaded = useResource<WorkerOf>(`workers/${id}`)
  const [asked, setAsked] = useState<"pause" | "drain" | "rename" | "delete" | null>(null)
  const action = useAction()
  const close = () => setAsked(null)
  const isEnding = loaded.data?.draining === true && loaded.data.state !== "offline"
  useEffect(() => {
    if (!isEnding) return
    // No hint says that it was deleted, and somebody may be waiting for that.
    const timer = setInterval(loaded.reload, 4000)
    return () => clearInterval(timer)
  }, [isEnding])
  if (loaded.data === undefined) return <NotLoaded title={text.workers.worker} error={loaded.error} />
  const { draining, name, paused, state, step_runs } = loaded.data
  const path = `workers/${id}`
  const resume = () =>
    void action.run(async () => {
      await call("POST", `${path}/resume`)
      loaded.reload()
    }, text.workers.resumed(name))
  return (
    <>
      <Head
        title={name}
        actions={
          <>
            {may("Workers.write_workers") ? (
              <>
                <Button kind="danger" onClick={() => setAsked("delete")}>
                  {text.common.delete}
                </Button>
                <Button onClick={() => setAsked("rename")}>{text.workers.renameMore}</Button>
                {draining ? null : <Button onClick={() => setAsked("drain")}>{text.workers.drainMore}</Button>}
              </>
            ) : null}
            {may("Workers.pause_workers") ? (
              <PauseButton
                isBusy={action.isBusy}
                isPaused={paused !== null}
                onPause={() => setAsked("pause")}
                onResume={resume}
              />
            ) : null}
          </>
        }
      >
        <WorkerState worker={loaded.data} />
      </Head>
      <Problem message={action.error ?? loaded.error} />
      {paused === null ? null : <PausedNotice paused={paused} what={text.workers.worker} />}
      {!draining ? null : (
        <p class="notice late">
          {state === "offline" ? (
            <>
              <b>{text.workers.drainedTitle}</b> {text.workers.drainedHint}
            </>
          ) : (
            <>
              <b>{text.workers.drainingTitle}</b> {text.workers.drainingHint(step_runs.length)}
            </>
          )}
        </p>
      )}
      <div class="two">
        <div class="stack">
          <Now worker={loaded.data} />
        </div>
        <div class="stack">
          <About worker={loaded.data} />
        </div>
      </div>
      {asked === "pause" ? (
        <PauseDialog what={name} path={path} effect={text.workers.pauseEffect} onDone={loaded.reload} onClose={close} />
      ) : asked === "drain" ? (
        <FormDialog
          title={text.workers.drainTitle(name)}
          submit={text.workers.drain}
          done={text.workers.drainingDone(name)}
          onSubmit={async () => {
            await call("POST", `${path}/drain`)
            loaded.reload()
          }}
          onClose={close}
        >
          <p>{text.workers.drainHint(step_runs.length)}</p>
        </FormDialog>
      ) : asked === "rename" ? (
        <RenameDialog name={name} path={path} hint={text.workers.renameHint} onDone={loaded.reload} onClose={close} />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={text.common.deleteOf(name)}
          submit={text.workers.deleteWorker}
          done={text.workers.deletedWorker(name)}
          path={path}
          list={["workers"]}
          onClose={close}
        >
          <p>{text.workers.deleteHint}</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
