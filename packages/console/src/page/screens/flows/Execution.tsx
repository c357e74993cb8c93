/** One execution: its state and what to do about it, what each branch does, and its steps with their attempts. */
import { useState } from "preact/hooks"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { duration, exactly, short } from "../../words.ts"
import { Commands, RetryDialog, SignalDialog } from "./Commands.tsx"
import { type Activity, awaited, dueOf, type Entry, type Inspection, isRetriable, parted } from "./words.ts"

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
      {what.screen === "flows" ? "execution " : "run "}
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
      return (
        <>
          runs, attempt {attempt}
          {host === null ? "" : `, on ${host}`}
        </>
      )
    case "pause":
      return (
        <>
          failed {attempt === 1 ? "once" : `${attempt} times`}, is tried again <Time at={due} />
        </>
      )
    case "stopped":
      return <>stopped in attempt {attempt}</>
    case "sleep":
      return due === null ? (
        <>sleeps</>
      ) : (
        <>
          sleeps; wakes <Time at={due} />
        </>
      )
    case "patch":
      return <>records which version of the code it follows</>
    default:
      return (
        <>
          waits for {kind === "signal" ? "the signal " : kind === "inbox" ? "a message of " : ""}
          <Subject subject={subject} />
          {due === null ? null : (
            <>
              {"; gives up "}
              <Time at={due} />
            </>
          )}
        </>
      )
  }
}

/** Whether it waits for something that a person can send. */
const takesValue = ({ kind }: Activity) => kind === "signal" || kind === "inbox"

const Now = ({ inspection, onDone }: { readonly inspection: Inspection; readonly onDone: () => void }) => {
  const [sending, setSending] = useState<Activity | null>(null)
  const { execution, now } = inspection
  const canSend = may("Processes.trigger_processes") && now.some(takesValue)
  return (
    <Panel title="Each branch now" flush>
      <Table
        label="Each branch now"
        rows={now.map((activity) => ({ ...activity, id: activity.path }))}
        columns={[
          { title: "Branch", cell: ({ path }) => <Path path={path} /> },
          {
            title: "Does",
            cell: (activity) => (
              <>
                <Doing activity={activity} />
                {activity.failure === null ? null : <div class="why">{activity.failure.message}</div>}
              </>
            )
          },
          { title: "Since", isNumber: true, cell: ({ since }) => <Time at={since} /> },
          ...(canSend
            ? [
                {
                  title: "Send",
                  isNumber: true,
                  cell: (activity: Activity) =>
                    takesValue(activity) ? (
                      <Button onClick={() => setSending(activity)}>Send {activity.subject ?? activity.path}…</Button>
                    ) : null
                }
              ]
            : [])
        ]}
      />
      {sending === null ? null : (
        <SignalDialog
          id={execution.id}
          signal={sending.subject ?? sending.path}
          isInbox={sending.kind === "inbox"}
          onDone={onDone}
          onClose={() => setSending(null)}
        />
      )}
    </Panel>
  )
}

const tookOf = ({ ended_at, started_at }: Entry) =>
  ended_at === null ? "" : duration((Date.parse(ended_at) - Date.parse(started_at)) / 1000)

const History = ({ inspection, onDone }: { readonly inspection: Inspection; readonly onDone: () => void }) => {
  const [from, setFrom] = useState<string | null>(null)
  const { execution, steps } = inspection
  const canRetry = isRetriable(execution.state) && may("Processes.trigger_processes")
  const last = new Map(steps.map((entry) => [entry.path, entry]))
  return (
    <Panel title="Steps" flush>
      {steps.length === 0 ? (
        <Empty title="No step has begun" />
      ) : (
        <Table
          label="Steps"
          rows={steps.map((entry) => ({ ...entry, id: `${entry.path} ${entry.attempt} ${entry.redo}` }))}
          columns={[
            {
              title: "Step",
              cell: ({ kind, path }) => (
                <>
                  <Path path={path} />
                  {kind === "step" ? null : <span class="quiet"> {kind}</span>}
                </>
              )
            },
            {
              title: "State",
              cell: ({ failure, kind, state }) => (
                <>
                  <State state={state === "running" && kind !== "step" ? "waiting" : state} />
                  {failure === null ? null : <div class="why">{failure.message}</div>}
                </>
              )
            },
            { title: "Attempt", isNumber: true, cell: ({ attempt }) => String(attempt) },
            { title: "Began", isNumber: true, cell: ({ started_at }) => <Time at={started_at} /> },
            { title: "Took", isNumber: true, cell: tookOf },
            ...(canRetry
              ? [
                  {
                    title: "Again",
                    isNumber: true,
                    cell: (entry: Entry) =>
                      entry.kind === "step" && last.get(entry.path)?.attempt === entry.attempt ? (
                        <Button onClick={() => setFrom(entry.path)}>
                          Retry…<span class="hidden"> from {entry.path}</span>
                        </Button>
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
  <Panel title="Undos" flush>
    <Table
      label="Undos"
      rows={undos.map((undo) => ({ ...undo, id: `${undo.path} ${undo.redo}` }))}
      columns={[
        { title: "Of", cell: ({ path }) => <Path path={path} /> },
        {
          title: "State",
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
    <>the end of the flow</>
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
    <Panel title="Cause">
      <dl class="facts">
        <dt>Code</dt>
        <dd class="mono">{code}</dd>
        {recorded === null ? null : (
          <>
            <dt>Recorded</dt>
            <dd>
              <Operation operation={recorded} />
            </dd>
            <dt>Reached</dt>
            <dd>
              <Operation operation={reached} />
            </dd>
          </>
        )}
        {value === null ? null : (
          <>
            <dt>Value</dt>
            <dd>
              {value.what}
              {value.path === "" ? null : <span class="mono"> {value.path}</span>}: {value.expected}, and {value.type}{" "}
              is recorded
            </dd>
          </>
        )}
        <dt>Halted</dt>
        <dd>
          <Time at={since} />
          {host === null ? null : ` on ${host}`}
          {process === null ? null : <span class="mono quiet"> {short(process)}</span>}
        </dd>
        {last_run === null ? null : (
          <>
            <dt>Last run</dt>
            <dd>
              <Path path={last_run.path} /> on {last_run.host}, <Time at={last_run.at} />
            </dd>
          </>
        )}
      </dl>
    </Panel>
  )
}

const About = ({ inspection }: { readonly inspection: Inspection }) => {
  const { execution, queue, registered } = inspection
  const { changed_at, ended_at, flow, id, parent, tags, version } = execution
  const children = inspection.steps.flatMap(({ subject }) => awaited(subject) ?? [])
  const links = new Map(children.map((child) => [child.id, child]))
  return (
    <Panel title="About">
      <dl class="facts">
        <dt>Flow</dt>
        <dd>
          <a href={to(["flows"], { flow })}>{flow}</a>, version {version}
          {registered ? "" : ", which this program does not have"}
        </dd>
        <dt>Id</dt>
        <dd class="mono">{id}</dd>
        {tags.length === 0 ? null : (
          <>
            <dt>Tags</dt>
            <dd>{tags.join(", ")}</dd>
          </>
        )}
        {parent === null ? null : (
          <>
            <dt>Started by</dt>
            <dd>
              <Subject subject={`execution ${parent}`} />
            </dd>
          </>
        )}
        {links.size === 0 ? null : (
          <>
            <dt>Started</dt>
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
            <dt>Queue</dt>
            <dd>number {queue.place}</dd>
          </>
        )}
        <dt>{ended_at === null ? "Changed" : "Ended"}</dt>
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
  if (inspection === undefined) {
    return (
      <>
        <Head title="Execution" />
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
        started <Time at={started_at} />
      </Head>
      <Problem message={error} />
      {remedy === null ? (
        <p class="quiet">{withTimes(summary)}</p>
      ) : (
        <div class={`notice ${noticeOf(state)}`} role="note" aria-label="Why, and what to do">
          <b>{withTimes(summary)}</b>
          {halt === null || summary.endsWith(halt.message) ? null : (
            <>
              <br />
              {halt.message}
            </>
          )}
          <br />
          What to do: {remedy}
        </div>
      )}
      <div class="two">
        <div class="stack">
          {now.length === 0 ? null : <Now inspection={inspection} onDone={reload} />}
          <History inspection={inspection} onDone={reload} />
          {undos.length === 0 ? null : <Undos undos={undos} />}
        </div>
        <div class="stack">
          {halt === null ? null : <Cause halt={halt} />}
          <About inspection={inspection} />
          <Json title="Input" value={input} />
          {state === "completed" ? <Json title="Result" value={result} /> : null}
          {state === "failed" && execution.error !== null ? <Json title="Error" value={execution.error} /> : null}
        </div>
      </div>
    </>
  )
}
