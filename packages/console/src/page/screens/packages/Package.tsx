/** One task package: its tasks, where it comes from, and its replacement. */
import type { UploadForm } from "@signalbox/api/contract/Files"
import type { GitSource, TaskPackage } from "@signalbox/api/contract/TaskPackages"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { FileField } from "../../kit/FileField.tsx"
import { useResource } from "../../load.ts"
import { may } from "../../state.ts"
import { hereOf, sendForm } from "../../upload.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { Versions } from "./Versions.tsx"
import { configurationOf, configure, GitForm } from "./GitForm.tsx"
import * as text from "../../text/text.ts"

const Replace = ({
  id,
  name,
  onClose,
  onDone
}: {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
  readonly onDone: () => void
}) => {
  const [file, setFile] = useState<File | null>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const submit = async () => {
    if (file === null) return
    try {
      await sendForm(await call<UploadForm>("GET", `task-packages/${id}/upload`), file, setProgress)
    } finally {
      setProgress(null)
    }
    onDone()
  }
  return (
    <FormDialog
      title={text.packages.replaceTitle(name)}
      submit={progress === null ? text.packages.replace : text.common.uploading}
      done={text.packages.replaced}
      canSubmit={file !== null}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{text.packages.replaceHint}</p>
      <FileField label={text.packages.zipFile} accept=".zip,application/zip" progress={progress} onFile={setFile} />
    </FormDialog>
  )
}

const Git = ({ git }: { readonly git: GitSource }) => (
  <Panel title={text.packages.git}>
    {git.error === null ? null : (
      <div class="notice failed" role="status">
        <b>{text.packages.lastFetchFailed}</b>, <Time at={git.error.failed_at} />: {git.error.message}
        <br />
        <span class="quiet">{text.packages.lastFetchHint}</span>
      </div>
    )}
    <dl class="facts">
      <dt>{text.packages.repository}</dt>
      <dd>{git.repository}</dd>
      <dt>{git.mode === "attached" ? text.packages.branch : text.packages.commitOrTag}</dt>
      <dd class="mono">{git.reference}</dd>
      <dt>{text.packages.commit}</dt>
      <dd class="mono">{git.commit.slice(0, 12)}</dd>
      <dt>{text.packages.fetchedAt}</dt>
      <dd>
        <Time at={git.fetched_at} />
      </dd>
      {git.directory === null ? null : (
        <>
          <dt>{text.packages.folder}</dt>
          <dd class="mono">{git.directory}</dd>
        </>
      )}
      {git.credentials_secret === null ? null : (
        <>
          <dt>{text.packages.credentials}</dt>
          <dd>{text.packages.secret(<span class="mono">{git.credentials_secret}</span>)}</dd>
        </>
      )}
      {git.mode === "attached" ? (
        <>
          <dt>{text.packages.newCommits}</dt>
          <dd>{git.automatic_deployment ? text.packages.usedAutomatically : text.packages.usedManually}</dd>
        </>
      ) : null}
    </dl>
  </Panel>
)

/** Where a package comes from, for people. */
export const sources: Readonly<Record<string, string>> = text.packages.sources

export const Package = ({ id }: { readonly id: string }) => {
  const loaded = useResource<TaskPackage>(`task-packages/${id}`)
  const [dialog, setDialog] = useState<"replace" | "git" | "delete" | null>(null)
  const fetching = useAction()
  const downloading = useAction()
  const close = () => setDialog(null)
  if (loaded.data === undefined) return <NotLoaded title={text.packages.taskPackage} error={loaded.error} />
  const { download, git, name, tasks, type } = loaded.data
  const fetchNow = () =>
    git === null
      ? undefined
      : void fetching.run(async () => {
          await configure(id, type, configurationOf(git))
          loaded.reload()
        }, text.packages.fetched)
  const save = () =>
    void downloading.run(async () => {
      // The address expires after an hour, so it is asked for again.
      const { download } = await call<TaskPackage>("GET", `task-packages/${id}`)
      if (download !== null) location.assign(hereOf(download.url))
    })
  return (
    <>
      <Head
        title={name}
        actions={
          <>
            {download === null ? null : <Button onClick={save}>{text.common.download}</Button>}
            {may("Tasks.write_task_packages") ? (
              <>
                {git === null ? null : (
                  <Button kind="primary" disabled={fetching.isBusy} onClick={fetchNow}>
                    {text.packages.fetchNow}
                  </Button>
                )}
                <Button onClick={() => setDialog("git")}>
                  {git === null ? text.packages.connectGit : text.packages.editSource}
                </Button>
                {git === null ? (
                  <Button kind="primary" onClick={() => setDialog("replace")}>
                    {text.packages.replaceMore}
                  </Button>
                ) : null}
                <Button kind="danger" onClick={() => setDialog("delete")}>
                  {text.common.delete}
                </Button>
              </>
            ) : null}
          </>
        }
      >
        {text.packages.tasksOf(sources[type] ?? type, tasks.length)}
      </Head>
      <Problem message={fetching.error ?? downloading.error ?? loaded.error} />
      <div class="two">
        <div class="stack">
          {download === null ? null : <Versions id={id} onDone={loaded.reload} />}
          <Panel title={text.packages.tasks}>
            {download === null ? (
              <Empty title={text.packages.noContent}>{text.packages.noContentHint}</Empty>
            ) : (
              <ul class="names">
                {tasks.map((task) => (
                  <li key={task.name}>{task.name}</li>
                ))}
              </ul>
            )}
          </Panel>
        </div>
        <div class="stack">
          {git === null ? null : <Git git={git} />}
          <Panel title={text.common.details}>
            <dl class="facts">
              <dt>{text.packages.content}</dt>
              <dd>
                {download === null ? (
                  <State state="none">{text.common.none}</State>
                ) : (
                  <State state="done">{text.packages.available}</State>
                )}
              </dd>
              <dt>{text.common.id}</dt>
              <dd class="mono">{id}</dd>
            </dl>
          </Panel>
        </div>
      </div>
      {dialog === "replace" ? <Replace id={id} name={name} onClose={close} onDone={loaded.reload} /> : null}
      {dialog === "git" ? <GitForm id={id} type={type} git={git} onClose={close} onDone={loaded.reload} /> : null}
      {dialog === "delete" ? (
        <DeleteDialog
          title={text.common.deleteOf(name)}
          submit={text.packages.deletePackage}
          done={text.packages.deleted(name)}
          path={`task-packages/${id}`}
          list={["packages"]}
          onClose={close}
        >
          <p>{text.packages.deleteHint}</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
