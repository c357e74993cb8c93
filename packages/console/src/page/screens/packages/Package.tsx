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
import { several } from "../../words.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { Versions } from "./Versions.tsx"
import { configurationOf, configure, GitForm } from "./GitForm.tsx"

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
      title={`Replace ${name}`}
      submit={progress === null ? "Replace" : "Uploading…"}
      done="Step runs that begin from now on use the new package."
      canSubmit={file !== null}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>Step runs that are in progress end with the package that they began with.</p>
      <FileField label="Zip file" accept=".zip,application/zip" progress={progress} onFile={setFile} />
    </FormDialog>
  )
}

const Git = ({ git }: { readonly git: GitSource }) => (
  <Panel title="Git">
    {git.error === null ? null : (
      <div class="notice failed" role="status">
        <b>The last fetch failed</b>, <Time at={git.error.failed_at} />: {git.error.message}
        <br />
        <span class="quiet">Robots continue with the commit below.</span>
      </div>
    )}
    <dl class="facts">
      <dt>Repository</dt>
      <dd>{git.repository}</dd>
      <dt>{git.mode === "attached" ? "Branch" : "Commit or tag"}</dt>
      <dd class="mono">{git.reference}</dd>
      <dt>Commit</dt>
      <dd class="mono">{git.commit.slice(0, 12)}</dd>
      <dt>Fetched</dt>
      <dd>
        <Time at={git.fetched_at} />
      </dd>
      {git.directory === null ? null : (
        <>
          <dt>Folder</dt>
          <dd class="mono">{git.directory}</dd>
        </>
      )}
      {git.credentials_secret === null ? null : (
        <>
          <dt>Credentials</dt>
          <dd>
            secret <span class="mono">{git.credentials_secret}</span>
          </dd>
        </>
      )}
      {git.mode === "attached" ? (
        <>
          <dt>New commits</dt>
          <dd>{git.automatic_deployment ? "are used by themselves" : "are used when somebody fetches them"}</dd>
        </>
      ) : null}
    </dl>
  </Panel>
)

/** Where a package comes from, for people. */
export const sources: Readonly<Record<string, string>> = {
  zip: "uploaded",
  github: "from GitHub",
  gitlab: "from GitLab"
}

export const Package = ({ id }: { readonly id: string }) => {
  const loaded = useResource<TaskPackage>(`task-packages/${id}`)
  const [dialog, setDialog] = useState<"replace" | "git" | "delete" | null>(null)
  const fetching = useAction()
  const downloading = useAction()
  const close = () => setDialog(null)
  if (loaded.data === undefined) return <NotLoaded title="Task package" error={loaded.error} />
  const { download, git, name, tasks, type } = loaded.data
  const fetchNow = () =>
    git === null
      ? undefined
      : void fetching.run(async () => {
          await configure(id, type, configurationOf(git))
          loaded.reload()
        }, "The repository is fetched.")
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
            {download === null ? null : <Button onClick={save}>Download</Button>}
            {may("Tasks.write_task_packages") ? (
              <>
                {git === null ? null : (
                  <Button kind="primary" disabled={fetching.isBusy} onClick={fetchNow}>
                    Fetch now
                  </Button>
                )}
                <Button onClick={() => setDialog("git")}>{git === null ? "Take from git" : "Change"}</Button>
                {git === null ? (
                  <Button kind="primary" onClick={() => setDialog("replace")}>
                    Replace
                  </Button>
                ) : null}
                <Button kind="danger" onClick={() => setDialog("delete")}>
                  Delete
                </Button>
              </>
            ) : null}
          </>
        }
      >
        {sources[type] ?? type} · {several(tasks.length, "task")}
      </Head>
      <Problem message={fetching.error ?? downloading.error ?? loaded.error} />
      <div class="two">
        <div class="stack">
          {download === null ? null : <Versions id={id} onDone={loaded.reload} />}
          <Panel title="Tasks">
            {download === null ? (
              <Empty title="No content yet">Upload a zip of the robot, or take it from git.</Empty>
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
          <Panel title="About">
            <dl class="facts">
              <dt>Content</dt>
              <dd>{download === null ? <State state="none">none</State> : <State state="done">is there</State>}</dd>
              <dt>Id</dt>
              <dd class="mono">{id}</dd>
            </dl>
          </Panel>
        </div>
      </div>
      {dialog === "replace" ? <Replace id={id} name={name} onClose={close} onDone={loaded.reload} /> : null}
      {dialog === "git" ? <GitForm id={id} type={type} git={git} onClose={close} onDone={loaded.reload} /> : null}
      {dialog === "delete" ? (
        <DeleteDialog
          title={`Delete ${name}?`}
          submit="Delete the package"
          done={`${name} is deleted.`}
          path={`task-packages/${id}`}
          list={["packages"]}
          onClose={close}
        >
          <p>
            Its zip is deleted with it, and cannot be brought back. A package that a process or an assistant uses is
            kept, and the message says which.
          </p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
