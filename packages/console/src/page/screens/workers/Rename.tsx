/** A new name of a worker or a group. */
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { TextField } from "../../kit/Field.tsx"

export const RenameDialog = ({
  hint,
  name: before,
  onClose,
  onDone,
  path
}: {
  readonly name: string
  readonly path: string
  readonly hint: string
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const [name, setName] = useState(before)
  return (
    <FormDialog
      title={`Rename ${before}`}
      submit="Rename"
      done={`It is called ${name.trim()} now.`}
      canSubmit={name.trim() !== ""}
      onSubmit={async () => {
        await call("POST", path, { body: { name: name.trim() } })
        onDone()
      }}
      onClose={onClose}
    >
      <TextField label="Name" hint={hint} value={name} onValue={setName} required maxLength={255} autocomplete="off" />
    </FormDialog>
  )
}
