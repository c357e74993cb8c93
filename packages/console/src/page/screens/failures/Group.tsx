/** A group of failures: what failed alike, samples of it, and what to do with it. */
import type { Failure } from "@signalbox/api/contract/Failures"
import type { WorkItem } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, Time } from "../../kit/Basics.tsx"
import { AreaField, SelectField, TextField } from "../../kit/Field.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { go, route, to, withQuery } from "../../route.ts"
import { may } from "../../state.ts"
import { exactly, several, short } from "../../words.ts"
import { NotLoaded } from "../work/Resource.tsx"
import { Pattern } from "./Pattern.tsx"
import { Progress } from "./Jobs.tsx"
import { type Operation, Settle } from "./Settle.tsx"

type Fields = Partial<Pick<Failure, "state" | "muted_until" | "note" | "assignee">>

const hour = 3_600_000
const periods = [
  { value: "1", label: "1 hour" },
  { value: "4", label: "4 hours" },
  { value: "24", label: "1 day" },
  { value: "168", label: "1 week" },
  { value: "", label: "until it is opened again" }
] as const

const MuteDialog = ({
  onClose,
  update
}: {
  readonly update: (fields: Fields) => Promise<unknown>
  readonly onClose: () => void
}) => {
  const [hours, setHours] = useState<(typeof periods)[number]["value"]>("24")
  return (
    <FormDialog
      title="Mute this group"
      submit="Mute"
      done="The group is muted."
      onSubmit={() =>
        update({
          state: "muted",
          muted_until: hours === "" ? null : new Date(Date.now() + Number(hours) * hour).toISOString()
        })
      }
      onClose={onClose}
    >
      <p>A muted group raises no alerts. Its items stay failed, and it stays in the list.</p>
      <SelectField label="For" value={hours} onValue={setHours} options={periods} />
    </FormDialog>
  )
}

const NoteDialog = ({
  failure,
  onClose,
  update
}: {
  readonly failure: Failure
  readonly update: (fields: Fields) => Promise<unknown>
  readonly onClose: () => void
}) => {
  const [assignee, setAssignee] = useState(failure.assignee ?? "")
  const [note, setNote] = useState(failure.note ?? "")
  return (
    <FormDialog
      title="Who looks after it, and what is known"
      submit="Save"
      onSubmit={() => update({ assignee: assignee.trim() || null, note: note.trim() || null })}
      onClose={onClose}
    >
      <TextField label="Who" value={assignee} onValue={setAssignee} maxLength={255} autocomplete="off" />
      <AreaField label="Note" value={note} onValue={setNote} rows={5} maxLength={4000} />
    </FormDialog>
  )
}

/** A failed item: where it failed, and where to read why. */
const Sample = ({ id }: { readonly id: string }) => {
  const { data: item } = useResource<WorkItem>(may("Processes.read_work_items") ? `work-items/${id}` : null)
  const run = item?.process_run ?? null
  return (
    <tr>
      <td>
        <a class="mono" href={to(["items", id])}>
          {short(id)}
        </a>
      </td>
      <td>{item?.exception?.message ?? ""}</td>
      <td>
        {item === undefined || run === null ? null : (
          <>
            <a href={to(["runs", run.id])}>Run</a>
            {item.step_run === null || !may("Processes.read_run_outputs") ? null : (
              <>
                {" · "}
                <a href={to(["runs", run.id], { tab: "log", step: item.step_run.id })}>Log</a>
              </>
            )}
          </>
        )}
      </td>
      <td class="number">
        <Time at={item?.state_updated_at ?? null} />
      </td>
    </tr>
  )
}

const Samples = ({ failure }: { readonly failure: Failure }) => (
  <Panel title={failure.count > failure.work_items.length ? "The newest of its items" : "Its items"} flush>
    {failure.work_items.length === 0 ? (
      <Empty title="No item is failed like this now">The group can be resolved.</Empty>
    ) : (
      <div class="scroll" tabIndex={0} role="region" aria-label="Items">
        <table>
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col">Message</th>
              <th scope="col">Look at</th>
              <th scope="col" class="number">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {failure.work_items.map(({ id }) => (
              <Sample key={id} id={id} />
            ))}
          </tbody>
        </table>
      </div>
    )}
  </Panel>
)

const About = ({ failure, onEdit }: { readonly failure: Failure; readonly onEdit: () => void }) => (
  <Panel title="About">
    <dl class="facts">
      <dt>Process</dt>
      <dd>
        <a href={to(["processes", failure.process.id])}>{failure.process.name}</a>
      </dd>
      <dt>Step</dt>
      <dd>{failure.step?.name ?? "—"}</dd>
      <dt>Kind</dt>
      <dd>
        {failure.type} · {failure.code}
      </dd>
      <dt>First</dt>
      <dd>
        <Time at={failure.first_failed_at} />
      </dd>
      <dt>Last</dt>
      <dd>
        <Time at={failure.last_failed_at} />
      </dd>
      {failure.state === "muted" ? (
        <>
          <dt>Muted</dt>
          <dd>until {failure.muted_until === null ? "it is opened again" : exactly(failure.muted_until)}</dd>
        </>
      ) : null}
      <dt>Who</dt>
      <dd>{failure.assignee ?? <span class="quiet">nobody yet</span>}</dd>
      <dt>Note</dt>
      <dd class="note">{failure.note ?? <span class="quiet">none</span>}</dd>
    </dl>
    {may("Failures.write_failures") ? <Button onClick={onEdit}>Write a note, say who</Button> : null}
  </Panel>
)

type Asked = Operation | "mute" | "note" | null

const canSettle = () => may("Processes.run_bulk_operations", "Processes.write_work_items")

export const Group = ({ id }: { readonly id: string }) => {
  const { data: failure, error, reload } = useResource<Failure>(`failures/${id}`)
  const [asked, setAsked] = useState<Asked>(null)
  const action = useAction()
  const { job } = route.value.query
  if (failure === undefined) return <NotLoaded title="Failure" error={error} />
  const update = async (fields: Fields) => {
    await call("POST", `failures/${id}`, { body: fields })
    reload()
  }
  const change = (state: Failure["state"], said: string) => () => void action.run(() => update({ state }), said)
  const close = () => setAsked(null)
  const { count } = failure
  const mayWrite = may("Failures.write_failures")
  return (
    <>
      <Head
        title={count === 0 ? "No items failed now" : `${several(count, "item")} failed alike`}
        state={failure.state}
        actions={
          <>
            {mayWrite && failure.state === "open" ? <Button onClick={() => setAsked("mute")}>Mute…</Button> : null}
            {mayWrite && failure.state !== "open" ? (
              <Button onClick={change("open", "The group is open again.")}>Open again</Button>
            ) : null}
            {mayWrite && failure.state !== "resolved" && count === 0 ? (
              <Button kind="primary" onClick={change("resolved", "The group is resolved.")}>
                Resolve
              </Button>
            ) : null}
            {canSettle() && count > 0 ? (
              <>
                <Button kind="danger" onClick={() => setAsked("delete")}>
                  Delete…
                </Button>
                <Button onClick={() => setAsked("mark_as_done")}>Mark as done…</Button>
                {may("Processes.trigger_processes") ? (
                  <Button kind="primary" onClick={() => setAsked("retry")}>
                    Retry all…
                  </Button>
                ) : null}
              </>
            ) : null}
          </>
        }
      />
      <Problem message={action.error ?? error} />
      <p class="said">
        <Pattern text={failure.message || failure.code} />
      </p>
      {job === undefined ? null : (
        <div class="jobpanel">
          <Panel title="What became of them">
            <Progress id={job} failedAt={failure.last_failed_at} />
          </Panel>
        </div>
      )}
      <div class="two">
        <Samples failure={failure} />
        <About failure={failure} onEdit={() => setAsked("note")} />
      </div>
      {asked === null ? null : asked === "mute" ? (
        <MuteDialog update={update} onClose={close} />
      ) : asked === "note" ? (
        <NoteDialog failure={failure} update={update} onClose={close} />
      ) : (
        <Settle
          operation={asked}
          filter={{ failure_id: failure.id }}
          name={failure.process.name}
          what={`${failure.process.name}, ${failure.step?.name ?? "a step that is gone"}: ${failure.message || failure.code}`}
          onStarted={({ id }) => {
            go(withQuery({ job: id }))
            reload()
          }}
          onClose={close}
        />
      )}
    </>
  )
}
