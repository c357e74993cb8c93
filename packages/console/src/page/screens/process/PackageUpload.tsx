/** Uploads a zip of tasks as a new package. */
import type { UploadForm } from "@signalbox/api/contract/Files"
import type { TaskPackage } from "@signalbox/api/contract/TaskPackages"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Problem } from "../../kit/Basics.tsx"
import { TextField } from "../../kit/Field.tsx"
import { sendForm } from "../../upload.ts"
import { FileDrop } from "../work/FileDrop.tsx"
import * as text from "../../text/text.ts"

export const PackageUpload = ({ onUploaded }: { readonly onUploaded: (uploaded: TaskPackage) => void }) => {
  const [files, setFiles] = useState<ReadonlyArray<File>>([])
  const [name, setName] = useState("")
  const [sent, setSent] = useState<Readonly<Record<string, number>>>({})
  // A package whose zip was refused is used again: its name is taken.
  const [made, setMade] = useState<{ readonly id: string; readonly name: string } | null>(null)
  const action = useAction()
  const [file] = files
  const send = async () => {
    if (file === undefined) return
    const target =
      made !== null && made.name === name ? made : await call<TaskPackage>("POST", "task-packages", { body: { name } })
    setMade(target)
    const form = await call<UploadForm>("GET", `task-packages/${target.id}/upload`)
    await sendForm(form, file, (share) => setSent({ [file.name]: share }))
    const uploaded = await call<TaskPackage>("GET", `task-packages/${target.id}`)
    setFiles([])
    setName("")
    setMade(null)
    onUploaded(uploaded)
  }
  return (
    <>
      <Problem message={action.error} />
      <FileDrop
        label={text.processes.zip}
        accept=".zip"
        isMultiple={false}
        files={files}
        sent={sent}
        onFiles={([file]) => {
          setSent({})
          setFiles(file === undefined ? [] : [file])
          if (file !== undefined && name === "") setName(file.name.replace(/\.zip$/i, ""))
        }}
      />
      {file === undefined ? null : (
        <div class="inline">
          <TextField
            label={text.processes.packageName}
            value={name}
            onValue={setName}
            maxLength={255}
            autocomplete="off"
          />
          <Button
            disabled={action.isBusy || name.trim() === ""}
            onClick={() => void action.run(send, text.packages.uploaded).then((isDone) => !isDone && setSent({}))}
          >
            {text.packages.upload}
          </Button>
        </div>
      )}
    </>
  )
}
