/** A new name of a worker or a group. */
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { NameField } from "../../kit/Field.tsx"
import * as text from "../../text/text.ts"

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
      title={text.workers.renameTitle(before)}
      submit={text.workers.rename}
      done={text.workers.renamed(name.trim())}
      canSubmit={name.trim() !== ""}
      onSubmit={async () => {
        await call("POST", path, { body: { name: name.trim() } })
        onDone()
      }}
      onClose={onClose}
    >
      <NameField hint={hint} value={name} onValue={setName} />
    </FormDialog>
  )
}
