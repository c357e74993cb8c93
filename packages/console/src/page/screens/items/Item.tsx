/** One work item: its payload, its files, what became of it; to edit, retry or settle. */
import type { UploadForm } from "@signalbox/api/contract/Files"
import type { Process } from "@signalbox/api/contract/Processes"
import type { WorkItem } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import { call, reasonOf, useAction } from "../../action.ts"
import { ApiError, consoleFile } from "../../api.ts"
import { Button, Empty, Head, Panel, Problem, Time } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { parse } from "../../exact.ts"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { sendForm } from "../../upload.ts"
import { short } from "../../format.ts"
import { stateText } from "../../kit/states.ts"
import { NotLoaded } from "../work/Resource.tsx"
import { Shots } from "../Artifacts.tsx"
import { FileDrop, sizeOf } from "../work/FileDrop.tsx"
import { Due } from "./Due.tsx"
import { SecretFields } from "./SecretFields.tsx"
import * as text from "../../text/text.ts"

/** Parses what was typed; the error says where it goes wrong. */
const parsed = (json: string): unknown => {
  try {
    return parse(json)
  } catch (error) {
    throw new Error(text.common.invalidJson(reasonOf(error)), { cause: error })
  }
}

/** What is known of its way; the step run that had it last says more. */
const History = ({ item }: { readonly item: WorkItem }) => {
  const { created_at, exception, process_run, state, state_updated_at, step_run } = item
  const address = (tab: string) =>
    process_run === null || step_run === null ? "" : to(["runs", process_run.id], { tab, step: step_run.id })
  return (
    <Panel title={text.common.history}>
      <ol class="times">
        <li>
          <span>{text.items.created}</span> <Time at={created_at} />
        </li>
        <li>
          <span>
            <b>{stateText(state)}</b>
            {exception === null ? "" : `: ${exception.code || exception.type}`}
          </span>{" "}
          <Time at={state_updated_at ?? created_at} />
        </li>
      </ol>
      {step_run === null || !may("Processes.read_run_outputs") ? null : (
        <p class="after">
          {text.items.stepRun(
            <a href={address("log")}>{text.items.logLink}</a>,
            <a href={address("events")}>{text.items.eventsLink}</a>,
            <a href={address("artifacts")}>{text.items.artifactsLink}</a>
          )}
        </p>
      )}
    </Panel>
  )
}

/** The address of a file that says which permission it needs. */
const isHidden = (url: string) => new URL(url, document.baseURI).searchParams.has("needs")

const Files = ({
  canAdd,
  item,
  onAdded
}: {
  readonly item: WorkItem
  readonly canAdd: boolean
  readonly onAdded: () => void
}) => {
  const [files, setFiles] = useState<ReadonlyArray<File>>([])
  const [sent, setSent] = useState<Readonly<Record<string, number>>>({})
  const action = useAction()
  const send = async () => {
    for (const file of files) {
      const { upload: form } = await call<{ readonly upload: UploadForm }>("POST", `work-items/${item.id}/files`, {
        body: { file_name: file.name, file_size: file.size }
      })
      await sendForm(form, file, (share) => setSent((before) => ({ ...before, [file.name]: share })))
    }
    setFiles([])
    onAdded()
  }
  return (
    <Panel title={text.items.files}>
      <Problem message={action.error} />
      {item.files.length === 0 ? (
        canAdd ? null : (
          <Empty title={text.items.noFiles} />
        )
      ) : (
        <ul class="files">
          {item.files.map(({ download, id, name, size }) => (
            <li key={id}>
              {isHidden(download.url) ? (
                name
              ) : (
                <a href={consoleFile(id)} download={name}>
                  {name}
                </a>
              )}{" "}
              <span class="quiet">{sizeOf(size)}</span>
            </li>
          ))}
        </ul>
      )}
      {item.files.some(({ download }) => isHidden(download.url)) ? <p class="quiet">{text.items.filesHidden}</p> : null}
      {canAdd ? (
        <>
          <FileDrop label={text.items.addFiles} files={files} onFiles={setFiles} sent={sent} />
          {files.length === 0 ? null : (
            <Button
              disabled={action.isBusy}
              onClick={() => void action.run(send, text.items.filesAdded).then(() => setSent({}))}
            >
              {text.items.uploadFiles}
            </Button>
          )}
        </>
      ) : null}
    </Panel>
  )
}

const About = ({ item }: { readonly item: WorkItem }) => {
  const canRead = may("Processes.read_processes")
  const { data: process, error } = useResource<Process>(canRead ? `processes/${item.process.id}` : null)
  const step = process?.steps.find(({ id }) => id === item.step?.id)
  return (
    <Panel title={text.common.details}>
      <dl class="facts">
        <dt>{text.common.run}</dt>
        <dd>
          {item.process_run === null ? (
            text.items.waitsForRun
          ) : (
            <a class="mono" href={to(["runs", item.process_run.id])}>
              {short(item.process_run.id)}
            </a>
          )}
        </dd>
        <dt>{text.common.process}</dt>
        <dd aria-busy={canRead && process === undefined && error === null}>
          <a href={to(["processes", item.process.id])}>{process?.name ?? short(item.process.id)}</a>
        </dd>
        {step === undefined ? null : (
          <>
            <dt>{text.common.step}</dt>
            <dd>{step.name}</dd>
          </>
        )}
        {item.reference === null ? null : (
          <>
            <dt>{text.items.reference}</dt>
            <dd>{item.reference}</dd>
          </>
        )}
        {item.due_at === null ? null : (
          <>
            <dt>{text.items.due}</dt>
            <dd>
              <Due item={item} />
            </dd>
          </>
        )}
        {item.priority === 0 ? null : (
          <>
            <dt>{text.processes.priority}</dt>
            <dd>{item.priority}</dd>
          </>
        )}
        {item.tags.length === 0 ? null : (
          <>
            <dt>{text.common.tags}</dt>
            <dd>
              {item.tags.map((tag) => (
                <a key={tag} class="tag" href={to(["items"], { tag })}>
                  {tag}
                </a>
              ))}
            </dd>
          </>
        )}
        <dt>{text.common.id}</dt>
        <dd class="mono">{item.id}</dd>
      </dl>
    </Panel>
  )
}

/** Payload as it is edited, and the one that the edit began with. */
interface Edit {
  readonly text: string
  readonly previous: WorkItem["payload"]
}

/** Says what to do when the item has another payload by now. */
const explained = (error: unknown): never => {
  if (!(error instanceof ApiError) || error.status !== 409 || !error.message.startsWith("previous_payload")) throw error
  throw new Error(text.items.conflict, { cause: error })
}

export const Item = ({ id }: { readonly id: string }) => {
  const item = useResource<WorkItem>(`work-items/${id}`)
  const [edit, setEdit] = useState<Edit | null>(null)
  const [isDeleting, setDeleting] = useState(false)
  const action = useAction()
  if (item.data === undefined) return <NotLoaded title={text.items.workItem} error={item.error} />
  const { created_at, exception, masked, payload, reference, state, state_updated_at } = item.data
  const shown = edit?.text ?? JSON.stringify(payload, null, 2)
  const batch = (operation: "retry" | "mark_as_done" | "delete") =>
    call("POST", "work-items/batch", { body: { batch_operation: operation, work_item_ids: [id] } })
  const store = async () => {
    if (edit === null) return
    const body = { payload: parsed(edit.text), previous_payload: edit.previous }
    await call("POST", `work-items/${id}/payload`, { body }).catch(explained)
  }
  const settle = (operation: "retry" | "mark_as_done" | null, said: string) =>
    action.run(async () => {
      await store()
      if (operation !== null) await batch(operation)
      setEdit(null)
      item.reload()
    }, said)
  const discard = () =>
    action.run(async () => {
      setEdit(null)
      item.reload()
    })
  const mayWrite = may("Processes.write_work_items")
  const canSettle = mayWrite && state === "failed"
  const canEdit = canSettle || (mayWrite && state === "new")
  return (
    <>
      <Head
        title={reference === null ? text.items.title(short(id)) : text.items.title(reference)}
        state={state}
        actions={
          <>
            {canEdit || (mayWrite && state === "done") ? (
              <Button kind="danger" onClick={() => setDeleting(true)}>
                {text.common.delete}
              </Button>
            ) : null}
            {canEdit && edit !== null ? <Button onClick={() => void discard()}>{text.common.discard}</Button> : null}
            {canSettle ? (
              <>
                <Button onClick={() => void settle("mark_as_done", text.items.markedAsDone)}>
                  {text.items.markAsDone}
                </Button>
                <Button kind="primary" onClick={() => void settle("retry", text.items.queued)}>
                  {edit === null ? text.items.retry : text.items.saveAndRetry}
                </Button>
              </>
            ) : canEdit && edit !== null ? (
              <Button kind="primary" onClick={() => void settle(null, text.items.payloadSaved)}>
                {text.common.save}
              </Button>
            ) : null}
          </>
        }
      >
        <Time at={state_updated_at ?? created_at} />
      </Head>
      <Problem message={action.error ?? item.error} />
      {exception === null ? null : (
        <p class="notice failed">
          <b>{exception.message || exception.code}</b>
          <br />
          <span class="quiet">
            {exception.type} · {exception.code}
          </span>
        </p>
      )}
      <div class="two">
        <div class="stack">
          <Panel title={text.processes.payload}>
            {canEdit ? (
              <>
                <label class="hidden" for="payload">
                  {text.processes.payload}
                </label>
                <textarea
                  id="payload"
                  rows={Math.min(24, Math.max(8, shown.split("\n").length + 1))}
                  spellcheck={false}
                  value={shown}
                  onInput={({ currentTarget: { value: text } }) =>
                    setEdit((before) => ({ text, previous: before === null ? payload : before.previous }))
                  }
                />
              </>
            ) : (
              <pre class="log" tabIndex={0} aria-label={text.processes.payload}>
                {JSON.stringify(payload, null, 2)}
              </pre>
            )}
            <SecretFields key={state_updated_at} id={id} masked={masked} canEdit={canEdit} />
          </Panel>
        </div>
        <div class="stack">
          {state === "failed" && item.data.step_run !== null && may("Processes.read_run_outputs") ? (
            <Shots stepRun={item.data.step_run.id} />
          ) : null}
          <About item={item.data} />
          <History item={item.data} />
          <Files item={item.data} canAdd={canEdit} onAdded={item.reload} />
        </div>
      </div>
      {isDeleting ? (
        <Confirm
          title={text.items.deleteTitle}
          submit={text.items.deleteTitle}
          done={text.items.deleted}
          onSubmit={async () => {
            await batch("delete")
            go(to(["items"]))
          }}
          onClose={() => setDeleting(false)}
        >
          <p>{text.items.deleteHint}</p>
        </Confirm>
      ) : null}
    </>
  )
}
