/** The state of a worker in one lamp, and its current step runs. */
import type { Worker } from "@signalbox/api/contract/Workers"
import { State, Time } from "../../kit/Basics.tsx"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { short } from "../../format.ts"
import { stateText } from "../../kit/states.ts"
import * as text from "../../text/text.ts"

/** A worker that drains and is gone has ended: it takes nothing until it is started again. */
const wordsOf = ({ draining, paused, state }: Worker): string =>
  [
    state,
    ...(paused === null ? [] : [stateText("paused")]),
    ...(draining ? [state === "offline" ? text.workers.drained : text.workers.draining] : [])
  ].join(", ")

export const WorkerState = ({ worker }: { readonly worker: Worker }) => {
  const { draining, paused, state } = worker
  const isHeld = state !== "offline" && (paused !== null || draining)
  return <State state={isHeld ? "paused" : state}>{wordsOf(worker)}</State>
}

/** Links to the runs of its current step runs. */
export const CurrentWork = ({ worker: { draining, paused, state, step_runs } }: { readonly worker: Worker }) =>
  step_runs.length === 0 ? (
    <span class="quiet">
      {state === "offline" ? "" : paused !== null || draining ? text.workers.noWork : text.workers.waitsForWork}
    </span>
  ) : (
    <ul class="plain inhand">
      {step_runs.map(({ id, process_run, step }) => (
        <li key={id}>
          {may("Processes.read_runs") ? (
            <>
              <a class="name-link" href={to(["runs", process_run.id], { tab: "log", step: id })}>
                {step}
              </a>{" "}
              <span class="mono quiet">{short(process_run.id)}</span>
            </>
          ) : (
            step
          )}
        </li>
      ))}
    </ul>
  )

/** A worker that is not offline was heard of within seconds of the last load, which may be a while ago. */
export const LastSeen = ({ worker: { last_seen_at, state } }: { readonly worker: Worker }) =>
  state === "offline" ? <Time at={last_seen_at} /> : <>{text.overview.now}</>

export const Labels = ({ labels }: { readonly labels: ReadonlyArray<string> }) => (
  <>
    {labels.map((label) => (
      <span key={label} class="tag">
        {label}
      </span>
    ))}
  </>
)
