/** One worker: what it does, what it has, and how it is held or let go. */
import type { Worker as WorkerOf } from "@signalbox/api/contract/Workers"
import { useEffect, useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { several, short } from "../../words.ts"
import { DeleteDialog, NotLoaded, PauseButton } from "../work/Resource.tsx"
import { PauseDialog, PausedNotice } from "../work/Pause.tsx"
import { RenameDialog } from "./Rename.tsx"
import { Labels, LastSeen, WorkerState } from "./State.tsx"

const Now = ({ worker: { draining, paused, state, step_runs } }: { readonly worker: WorkerOf }) => (
  <Panel title="Working on">
    {step_runs.length === 0 ? (
      <Empty title="Nothing">
        {state === "offline"
          ? "It is not heard of: start it on its machine with signalbox worker start."
          : paused !== null || draining
            ? "It gets no work for now."
            : "It waits for work that it can do."}
      </Empty>
    ) : (
      <ul class="names">
        {step_runs.map(({ id, process_run, step }) => (
          <li key={id}>
            <State state="in_progress">{step}</State>
            {may("Processes.read_runs") ? (
              <span class="together">
                <a class="name-link" href={to(["runs", process_run.id], { step: id })}>
                  Run <span class="mono">{short(process_run.id)}</span>
                </a>
                <a class="name-link" href={to(["runs", process_run.id], { step: id, tab: "log" })}>
                  Log<span class="hidden"> of {step}</span>
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
    <Panel title="About">
      <dl class="facts">
        <dt>Last heard of</dt>
        <dd>
          <LastSeen worker={worker} />
        </dd>
        <dt>Labels</dt>
        <dd>{labels.length === 0 ? "none" : <Labels labels={labels} />}</dd>
        <dt>Groups</dt>
        <dd>
          {worker_groups.length === 0
            ? "none"
            : worker_groups.map((group) => (
                <div key={group.id}>
                  <a class="name-link" href={to(["workers", "groups", group.id])}>
                    {group.name}
                  </a>
                </div>
              ))}
        </dd>
        <dt>Id</dt>
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
  if (loaded.data === undefined) return <NotLoaded title="Worker" error={loaded.error} />
  const { draining, name, paused, state, step_runs } = loaded.data
  const path = `workers/${id}`
  const resume = () =>
    void action.run(async () => {
      await call("POST", `${path}/resume`)
      loaded.reload()
    }, `${name} takes work again.`)
  return (
    <>
      <Head
        title={name}
        actions={
          <>
            {may("Workers.write_workers") ? (
              <>
                <Button kind="danger" onClick={() => setAsked("delete")}>
                  Delete…
                </Button>
                <Button onClick={() => setAsked("rename")}>Rename…</Button>
                {draining ? null : <Button onClick={() => setAsked("drain")}>Drain…</Button>}
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
      {paused === null ? null : <PausedNotice paused={paused} what="The worker" />}
      {!draining ? null : (
        <p class="notice late">
          {state === "offline" ? (
            <>
              <b>The worker has ended</b>, as it was asked to. It takes work again when it is started on its machine.
            </>
          ) : (
            <>
              <b>The worker takes nothing more.</b> It ends{" "}
              {step_runs.length === 0 ? "immediately" : `when ${several(step_runs.length, "step run")} ended`}, and
              takes work again when it is started the next time.
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
        <PauseDialog
          what={name}
          path={path}
          effect="It finishes what it is working on and stays online, but gets nothing more until it is resumed."
          onDone={loaded.reload}
          onClose={close}
        />
      ) : asked === "drain" ? (
        <FormDialog
          title={`Drain ${name}`}
          submit="Drain"
          done={`${name} takes nothing more.`}
          onSubmit={async () => {
            await call("POST", `${path}/drain`)
            loaded.reload()
          }}
          onClose={close}
        >
          <p>
            It takes nothing more
            {step_runs.length === 0 ? "" : `, finishes ${several(step_runs.length, "step run")},`} and then ends. Only
            somebody on its machine can start it again. To hold it for a while, pause it.
          </p>
        </FormDialog>
      ) : asked === "rename" ? (
        <RenameDialog
          name={name}
          path={path}
          hint="Steps are bound to groups and labels, so that the name can change at any time."
          onDone={loaded.reload}
          onClose={close}
        />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={`Delete ${name}?`}
          submit="Delete the worker"
          done={`${name} is deleted.`}
          path={path}
          list={["workers"]}
          onClose={close}
        >
          <p>
            It is refused from then on, and has to be linked again. A worker that has something in hand is kept: drain
            it first. This cannot be undone.
          </p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
