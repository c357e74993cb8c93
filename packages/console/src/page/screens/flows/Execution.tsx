/** One execution: its state and what to do about it, what each branch does, and its steps with their attempts. */
import { useState } from "preact/hooks"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { duration, exactly, short } from "../../format.ts"
import { Commands, ForkDialog, RetryDialog } from "./Commands.tsx"
import { type Activity, awaited, dueOf, type Entry, type Inspection, isRetriable, parted } from "./executions.ts"
import { Actions, SendDialog, type Sending, takesValue } from "./Sending.tsx"
import { States, Value } from "./States.tsx"
import * as text from "../../text/text.ts"

const Path = ({ path }: { readonly path: string }) => {
  const { branch, name } = parted(path)
  return (
    <span class="mono">
      <span class="quiet">{branch}</span>
      {name}
    </span>
  )
}

const Subject = ({ subject }: { readonly subject: string | null }) => {
  const what = awaited(subject)
  return what === null ? (
    <>{subject ?? ""}</>
  ) : (
    <>
      {text.flows.subjects[what.screen]}{" "}
      <a class="mono" href={to([what.screen, what.id])}>
        {short(what.id)}
      </a>
    </>
  )
}

/** What a branch does or waits for. */
const Doing = ({ activity }: { readonly activity: Activity }) => {
  const { attempt, host, kind, subject } = activity
  const due = dueOf(activity)
  switch (kind) {
    case "attempt":
      return <>{text.flows.running(attempt ?? 0, host === null ? "" : text.flows.onHost(host))}</>
    case "pause":
      return <>{text.flows.failedThen(attempt ?? 0, <Time at={due} />)}</>
    case "stopped":
      return <>{text.flows.stoppedIn(attempt ?? 0)}</>
    case "sleep":
      return due === null ? <>{text.flows.sleeping}</> : text.flows.sleepingUntil(<Time at={due} />)
    case "patch":
      return <>{text.flows.recordingVersion}</>
    default:
      return (
        <>
          {text.flows.waitingFor(
            kind === "signal" ? text.flows.signalKind : kind === "inbox" ? text.flows.inboxKind : "",
            <Subject subject={subject} />,
            due === null ? null : text.flows.timesOut(<Time at={due} />)
          )}
        </>
      )
  }
}

/** What the code of a step has recorded for its next attempt; nothing when it is withheld. */
const Details = ({ of: { details = null } }: { readonly of: Pick<Activity, "details"> }) =>
  details === null ? null : <div class="quiet">{text.flows.recordedDetails(<Value value={details} />)}</div>

const Now = ({
  inspection,
  onSend
}: {
  readonly inspection: Inspection
  readonly onSend: (sending: Sending) => void
}) => {
  const { now } = inspection
  const canSend = may("Processes.trigger_processes") && now.some(takesValue)
  return (
    <Panel title={text.flows.branches} flush>
      <Table
        label={text.flows.branches}
        rows={now.map((activity) => ({ ...activity, id: activity.path }))}
        columns={[
          { title: text.flows.branch, cell: ({ path }) => <Path path={path} /> },
          {
            title: text.flows.activity,
            cell: (activity) => (
              <>
                <Doing activity={activity} />
                {activity.failure === null ? null : <div class="why">{activity.failure.message}</div>}
                <Details of={activity} />
              </>
            )
          },
          { title: text.flows.since, isNumber: true, cell: ({ since }) => <Time at={since} /> },
          ...(canSend
            ? [
                {
                  title: text.common.actions,
                  isNumber: true,
                  cell: (activity: Activity) => <Actions activity={activity} onSend={onSend} />
                }
              ]
            : [])
        ]}
      />
    </Panel>
  )
}

const tookOf = ({ ended_at, started_at }: Entry) =>
  ended_at === null ? "" : duration((Date.parse(ended_at) - Date.parse(started_at)) / 1000)

const History = ({ inspection, onDone }: { readonly inspection: Inspection; readonly onDone: () => void }) => {
  const [from, setFrom] = useState<string | null>(null)
  const [forkFrom, setForkFrom] = useState<string | null>(null)
  const { execution, steps } = inspection
  const canFork = may("Processes.trigger_processes")
  const canRetry = isRetriable(execution.state) && canFork
  const last = new Map(steps.map((entry) => [entry.path, entry]))
  return (
    <Panel title={text.flows.steps} flush>
      {steps.length === 0 ? (
        <Empty title={text.flows.noStep} />
      ) : (
        <Table
          label={text.flows.steps}
          rows={steps.map((entry) => ({ ...entry, id: `${entry.path} ${entry.attempt} ${entry.redo}` }))}
          columns={[
            {
              title: text.common.step,
              cell: ({ kind, path }) => (
                <>
                  <Path path={path} />
                  {kind === "step" ? null : <span class="quiet"> {kind}</span>}
                </>
              )
            },
            {
              title: text.common.state,
              cell: ({ failure, kind, state }) => (
                <>
                  <State state={state === "running" && kind !== "step" ? "waiting" : state} />
                  {failure === null ? null : <div class="why">{failure.message}</div>}
                </>
              )
            },
            { title: text.flows.attempt, isNumber: true, cell: ({ attempt }) => String(attempt) },
            { title: text.common.started, isNumber: true, cell: ({ started_at }) => <Time at={started_at} /> },
            { title: text.common.duration, isNumber: true, cell: tookOf },
            ...(canFork
              ? [
                  {
                    title: text.common.actions,
                    isNumber: true,
                    cell: (entry: Entry) =>
                      entry.kind === "step" && last.get(entry.path)?.attempt === entry.attempt ? (
                        <>
                          {canRetry ? (
                            <Button onClick={() => setFrom(entry.path)}>
                              {text.flows.retryMore}
                              <span class="hidden">{text.flows.fromStep(entry.path)}</span>
                            </Button>
                          ) : null}
                          <Button onClick={() => setForkFrom(entry.path)}>
                            {text.flows.forkMore}
                            <span class="hidden">{text.flows.fromStep(entry.path)}</span>
                          </Button>
                        </>
                      ) : null
                  }
                ]
              : [])
          ]}
        />
      )}
      {from === null ? null : (
        <RetryDialog id={execution.id} from={from} onDone={onDone} onClose={() => setFrom(null)} />
      )}
      {forkFrom === null ? null : <ForkDialog id={execution.id} from={forkFrom} onClose={() => setForkFrom(null)} />}
    </Panel>
  )
}

const Json = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <Panel title={title}>
    <pre class="log" tabIndex={0} role="region" aria-label={title}>
      {JSON.stringify(value, null, 2)}
    </pre>
  </Panel>
)

const Undos = ({ undos }: Pick<Inspection, "undos">) => (
  <Panel title={text.flows.undos} flush>
    <Table
      label={text.flows.undos}
      rows={undos.map((undo) => ({ ...undo, id: `${undo.path} ${undo.redo}` }))}
      columns={[
        { title: text.common.step, cell: ({ path }) => <Path path={path} /> },
        {
          title: text.common.state,
          cell: ({ failure, state }) => (
            <>
              <State state={state} />
              {failure === null ? null : <div class="why">{failure.message}</div>}
            </>
          )
        }
      ]}
    />
  </Panel>
)

type Halt = NonNullable<Inspection["halt"]>

const Operation = ({ operation }: { readonly operation: Halt["recorded"] }) =>
  operation === null ? (
    <>{text.flows.endOfFlow}</>
  ) : (
    <>
      <Path path={operation.path} />
      <span class="quiet">
        {" "}
        {operation.kind}
        {operation.path === operation.name ? "" : ` ${operation.name}`}
      </span>
    </>
  )

/** Why it halted: the recorded and the reached step side by side, the value that does not fit, and who ran it last. */
const Cause = ({ halt }: { readonly halt: Halt }) => {
  const { code, host, last_run, process, reached, recorded, since, value } = halt
  return (
    <Panel title={text.flows.cause}>
      <dl class="facts">
        <dt>{text.flows.code}</dt>
        <dd class="mono">{code}</dd>
        {recorded === null ? null : (
          <>
            <dt>{text.flows.recorded}</dt>
            <dd>
              <Operation operation={recorded} />
            </dd>
            <dt>{text.flows.reached}</dt>
            <dd>
              <Operation operation={reached} />
            </dd>
          </>
        )}
        {value === null ? null : (
          <>
            <dt>{text.flows.value}</dt>
            <dd>
              {text.flows.valueMismatch(
                value.what,
                value.path === "" ? null : <span class="mono"> {value.path}</span>,
                value.expected,
                value.type
              )}
            </dd>
          </>
        )}
        <dt>{text.flows.halted}</dt>
        <dd>
          <Time at={since} />
          {host === null ? null : text.flows.haltedOn(host)}
          {process === null ? null : <span class="mono quiet"> {short(process)}</span>}
        </dd>
        {last_run === null ? null : (
          <>
            <dt>{text.flows.lastRun}</dt>
            <dd>{text.flows.lastRunOn(<Path path={last_run.path} />, last_run.host, <Time at={last_run.at} />)}</dd>
          </>
        )}
      </dl>
    </Panel>
  )
}

const About = ({ inspection }: { readonly inspection: Inspection }) => {
  const { execution, queue, registered, unreadable } = inspection
  const { changed_at, deadline_at, ended_at, flow, id, parent, priority, starts_at, tags, version } = execution
  const children = inspection.steps.flatMap(({ subject }) => awaited(subject) ?? [])
  const links = new Map(children.map((child) => [child.id, child]))
  return (
    <Panel title={text.common.details}>
      <dl class="facts">
        <dt>{text.flows.flow}</dt>
        <dd>
          {text.flows.flowVersion(
            <a href={to(["flows"], { flow })}>{flow}</a>,
            version,
            registered ? "" : text.flows.notRegistered
          )}
        </dd>
        <dt>{text.common.id}</dt>
        <dd class="mono">{id}</dd>
        {unreadable === undefined ? null : (
          <>
            <dt>{text.flows.values}</dt>
            <dd>{text.flows.encryptedWith(unreadable)}</dd>
          </>
        )}
        {tags.length === 0 ? null : (
          <>
            <dt>{text.common.tags}</dt>
            <dd>{tags.join(", ")}</dd>
          </>
        )}
        {parent === null ? null : (
          <>
            <dt>{text.common.startedBy}</dt>
            <dd>
              <Subject subject={`execution ${parent}`} />
            </dd>
          </>
        )}
        {links.size === 0 ? null : (
          <>
            <dt>{text.flows.children}</dt>
            <dd>
              {[...links.values()].map(({ id, screen }) => (
                <div key={id}>
                  <Subject subject={`${screen === "flows" ? "execution" : "run"} ${id}`} />
                </div>
              ))}
            </dd>
          </>
        )}
        {queue === null ? null : (
          <>
            <dt>{text.flows.queue}</dt>
            <dd>{text.flows.place(queue.place)}</dd>
          </>
        )}
        {starts_at === null || starts_at === undefined ? null : (
          <>
            <dt>{text.flows.startsAt}</dt>
            <dd>
              <Time at={starts_at} />
            </dd>
          </>
        )}
        {priority === undefined || priority === 0 ? null : (
          <>
            <dt>{text.flows.priority}</dt>
            <dd>{priority}</dd>
          </>
        )}
        {deadline_at === null || deadline_at === undefined ? null : (
          <>
            <dt>{text.flows.deadline}</dt>
            <dd>
              <Time at={deadline_at} />
            </dd>
          </>
        )}
        <dt>{ended_at === null ? text.common.updated : text.flows.endedAt}</dt>
        <dd>
          <Time at={ended_at ?? changed_at} />
        </dd>
      </dl>
    </Panel>
  )
}

/** Times as the rest of the page shows them. */
const withTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, exactly)

/** The lamp of the notice that says how it stands. */
const noticeOf = (state: Inspection["execution"]["state"]) =>
  state === "halted" || state === "failed" ? "failed" : "late"

export const Execution = ({ id }: { readonly id: string }) => {
  const { data: inspection, error, reload } = useResource<Inspection>(`flow-executions/${encodeURIComponent(id)}`)
  // Here, since the answer is shown when the execution waits no more.
  const [sending, setSending] = useState<Sending | null>(null)
  if (inspection === undefined) {
    return (
      <>
        <Head title={text.flows.execution} />
        <Problem message={error} />
      </>
    )
  }
  const { execution, halt = null, now, remedy, summary, undos } = inspection
  const { flow, input, key, result, started_at, state } = execution
  return (
    <>
      <Head
        title={`${flow} ${key}`}
        state={state}
        actions={may("Processes.trigger_processes") ? <Commands inspection={inspection} onDone={reload} /> : undefined}
      >
        {text.flows.startedAt(<Time at={started_at} />)}
      </Head>
      <Problem message={error} />
      {sending === null ? null : (
        <SendDialog id={id} sending={sending} onDone={reload} onClose={() => setSending(null)} />
      )}
      {remedy === null ? (
        <p class="quiet">{withTimes(summary)}</p>
      ) : (
        <div class={`notice ${noticeOf(state)}`} role="note" aria-label={text.flows.causeAndRemedy}>
          <b>{withTimes(summary)}</b>
          {halt === null || summary.endsWith(halt.message) ? null : (
            <>
              <br />
              {halt.message}
            </>
          )}
          <br />
          {text.flows.remedy(remedy)}
        </div>
      )}
      <div class="two">
        <div class="stack">
          {now.length === 0 ? null : <Now inspection={inspection} onSend={setSending} />}
          <States id={id} />
          <History inspection={inspection} onDone={reload} />
          {undos.length === 0 ? null : <Undos undos={undos} />}
        </div>
        <div class="stack">
          {halt === null ? null : <Cause halt={halt} />}
          <About inspection={inspection} />
          <Json title={text.processes.input} value={input} />
          {state === "completed" ? <Json title={text.flows.result} value={result} /> : null}
          {state === "failed" && execution.error !== null ? (
            <Json title={text.common.error} value={execution.error} />
          ) : null}
        </div>
      </div>
    </>
  )
}
