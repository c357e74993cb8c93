/** Task packages: what the tasks of robots come from. */
import type { UploadForm } from "@signalbox/api/contract/Files"
import type { TaskPackage, TaskPackageSummary } from "@signalbox/api/contract/TaskPackages"
import { useState } from "preact/hooks"
import { call } from "../action.ts"
import { Button, Empty, Head, Panel, State, Time } from "../kit/Basics.tsx"
import { FormDialog } from "../kit/Dialog.tsx"
import { NameField } from "../kit/Field.tsx"
import { FileField } from "../kit/FileField.tsx"
import { List } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { go, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { createFilled, sendForm } from "../upload.ts"
import { Package, sources } from "./packages/Package.tsx"
import * as text from "../text/text.ts"

const GitCell = ({ id }: { readonly id: string }) => {
  const { data } = useResource<TaskPackage>(`task-packages/${id}`)
  if (data == null || data.git === null) return null
  const { commit, error, fetched_at, reference } = data.git
  return error === null ? (
    <State state="done">
      <span>
        {text.packages.at(reference, <span class="mono">{commit.slice(0, 7)}</span>, <Time at={fetched_at} />)}
      </span>
    </State>
  ) : (
    <State state="failed">{text.packages.fetchFailed}</State>
  )
}

const NewPackage = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState("")
  const [file, setFile] = useState<File | null>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const submit = async () => {
    if (file === null) return
    try {
      const id = await createFilled("task-packages", name, async (id) =>
        sendForm(await call<UploadForm>("GET", `task-packages/${id}/upload`), file, setProgress)
      )
      go(to(["packages", id]))
    } finally {
      setProgress(null)
    }
  }
  return (
    <FormDialog
      title={text.packages.uploadTitle}
      submit={progress === null ? text.packages.upload : text.common.uploading}
      done={text.packages.uploaded}
      canSubmit={file !== null}
      onSubmit={submit}
      onClose={onClose}
    >
      <FileField
        label={text.packages.zipFile}
        accept=".zip,application/zip"
        hint={text.packages.zipHint}
        progress={progress}
        onFile={(chosen) => {
          setFile(chosen)
          if (chosen !== null && name === "") setName(chosen.name.replace(/\.zip$/i, ""))
        }}
      />
      <NameField hint={text.packages.nameHint} value={name} onValue={setName} />
    </FormDialog>
  )
}

const Packages = () => {
  const [isNew, setNew] = useState(false)
  const canWrite = may("Tasks.write_task_packages")
  return (
    <>
      <Head
        title={text.screens.taskPackages}
        actions={
          canWrite ? (
            <Button kind="primary" onClick={() => setNew(true)}>
              {text.packages.upload}
            </Button>
          ) : undefined
        }
      />
      <Panel flush>
        <List<TaskPackageSummary>
          label={text.screens.taskPackages}
          path="task-packages"
          empty={
            <Empty title={text.packages.none}>
              {text.packages.noneHint(canWrite, <code>signalbox packages create NAME FOLDER</code>)}
            </Empty>
          }
          columns={[
            {
              title: text.common.name,
              cell: ({ id, name }) => (
                <a class="name-link" href={to(["packages", id])}>
                  {name}
                </a>
              )
            },
            { title: text.packages.source, cell: ({ type }) => sources[type] ?? type },
            { title: text.packages.git, cell: ({ id, type }) => (type === "zip" ? "" : <GitCell id={id} />) }
          ]}
        />
      </Panel>
      {isNew ? <NewPackage onClose={() => setNew(false)} /> : null}
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Packages /> : <Package key={id} id={id} />)
