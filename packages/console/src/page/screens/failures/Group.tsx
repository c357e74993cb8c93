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
import { exactly, short } from "../../format.ts"
import { NotLoaded } from "../work/Resource.tsx"
import { Pattern } from "./Pattern.tsx"
import { Progress } from "./Jobs.tsx"
import { type Operation, BulkDialog } from "./BulkDialog.tsx"
import * as text from "../../text/text.ts"

type Fields = Partial<Pick<Failure, "state" | "muted_until" | "note" | "assignee">>

const hour = 3_600_000
const periods = [
  { value: "1", label: text.common.hour1 },
  { value: "4", label: text.common.hours4 },
  { value: "24", label: text.common.day1 },
  { value: "168", label: text.common.week1 },
  { value: "", label: text.failures.untilReopened }
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
      title={text.failures.muteTitle}
      submit={text.failures.muteTitle}
      done={text.failures.mutedDone}
      onSubmit={() =>
        update({
          state: "muted",
          muted_until: hours === "" ? null : new Date(Date.now() + Number(hours) * hour).toISOString()
        })
      }
      onClose={onClose}
    >
      <p>{text.failures.muteHint}</p>
      <SelectField label={text.common.duration} value={hours} onValue={setHours} options={periods} />
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
      title={text.failures.assignTitle}
      submit={text.common.save}
      onSubmit={() => update({ assignee: assignee.trim() || null, note: note.trim() || null })}
      onClose={onClose}
    >
      <TextField
        label={text.failures.assignee}
        value={assignee}
        onValue={setAssignee}
        maxLength={255}
        autocomplete="off"
      />
      <AreaField label={text.common.note} value={note} onValue={setNote} rows={5} maxLength={4000} />
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
            <a href={to(["runs", run.id])}>{text.common.run}</a>
            {item.step_run === null || !may("Processes.read_run_outputs") ? null : (
              <>
                {" · "}
                <a href={to(["runs", run.id], { tab: "log", step: item.step_run.id })}>{text.common.log}</a>
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
  <Panel title={failure.count > failure.work_items.length ? text.failures.newestItems : text.common.items} flush>
    {failure.work_items.length === 0 ? (
      <Empty title={text.failures.noItems}>{text.failures.noItemsHint}</Empty>
    ) : (
      <div class="scroll" tabIndex={0} role="region" aria-label={text.common.items}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text.common.item}</th>
              <th scope="col">{text.common.message}</th>
              <th scope="col">{text.failures.links}</th>
              <th scope="col" class="number">
                {text.failures.failedAt}
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
  <Panel title={text.common.details}>
    <dl class="facts">
      <dt>{text.common.process}</dt>
      <dd>
        <a href={to(["processes", failure.process.id])}>{failure.process.name}</a>
      </dd>
      <dt>{text.common.step}</dt>
      <dd>{failure.step?.name ?? "—"}</dd>
      <dt>{text.common.type}</dt>
      <dd>
        {failure.type} · {failure.code}
      </dd>
      <dt>{text.failures.first}</dt>
      <dd>
        <Time at={failure.first_failed_at} />
      </dd>
      <dt>{text.failures.last}</dt>
      <dd>
        <Time at={failure.last_failed_at} />
      </dd>
      {failure.state === "muted" ? (
        <>
          <dt>{text.failures.muted}</dt>
          <dd>
            {text.failures.mutedUntil(
              failure.muted_until === null ? text.failures.reopened : exactly(failure.muted_until)
            )}
          </dd>
        </>
      ) : null}
      <dt>{text.failures.assignee}</dt>
      <dd>{failure.assignee ?? <span class="quiet">{text.failures.unassigned}</span>}</dd>
      <dt>{text.common.note}</dt>
      <dd class="note">{failure.note ?? <span class="quiet">{text.common.none}</span>}</dd>
    </dl>
    {may("Failures.write_failures") ? <Button onClick={onEdit}>{text.failures.assign}</Button> : null}
  </Panel>
)

type Asked = Operation | "mute" | "note" | null

const canSettle = () => may("Processes.run_bulk_operations", "Processes.write_work_items")

export const Group = ({ id }: { readonly id: string }) => {
  const { data: failure, error, reload } = useResource<Failure>(`failures/${id}`)
  const [asked, setAsked] = useState<Asked>(null)
  const action = useAction()
  const { job } = route.value.query
  if (failure === undefined) return <NotLoaded title={text.failures.failure} error={error} />
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
        title={count === 0 ? text.failures.noFailedItems : text.failures.similar(count)}
        state={failure.state}
        actions={
          <>
            {mayWrite && failure.state === "open" ? (
              <Button onClick={() => setAsked("mute")}>{text.failures.muteMore}</Button>
            ) : null}
            {mayWrite && failure.state !== "open" ? (
              <Button onClick={change("open", text.failures.reopenedDone)}>{text.failures.reopen}</Button>
            ) : null}
            {mayWrite && failure.state !== "resolved" && count === 0 ? (
              <Button kind="primary" onClick={change("resolved", text.failures.resolvedDone)}>
                {text.failures.resolve}
              </Button>
            ) : null}
            {canSettle() && count > 0 ? (
              <>
                <Button kind="danger" onClick={() => setAsked("delete")}>
                  {text.failures.deleteItems}
                </Button>
                <Button onClick={() => setAsked("mark_as_done")}>{text.failures.markAsDoneMore}</Button>
                {may("Processes.trigger_processes") ? (
                  <Button kind="primary" onClick={() => setAsked("retry")}>
                    {text.failures.retryAll}
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
          <Panel title={text.failures.progress}>
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
        <BulkDialog
          operation={asked}
          filter={{ failure_id: failure.id }}
          name={failure.process.name}
          what={`${failure.process.name}, ${failure.step?.name ?? text.common.deletedStep}: ${failure.message || failure.code}`}
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
