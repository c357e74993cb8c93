/** Pauses, says why, and takes it back. */
import type { Paused } from "@signalbox/api/contract/Pauses"
import { useState } from "preact/hooks"
import { call, reasonOf } from "../../action.ts"
import { Time } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { TextField } from "../../kit/Field.tsx"
import { say } from "../../state.ts"

export const PauseDialog = ({
  effect,
  onClose,
  onDone,
  path,
  what
}: {
  /** What is paused, such as `the step Post`. */
  readonly what: string
  /** The resource below which `pause` is. */
  readonly path: string
  /** What a pause does, as a sentence. */
  readonly effect: string
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const [note, setNote] = useState("")
  const undo = () =>
    call("POST", `${path}/resume`).then(
      () => {
        say(`Not paused any more: ${what}.`)
        onDone()
      },
      (error: unknown) => say(`Still paused, ${what}: ${reasonOf(error)}`, "failed")
    )
  return (
    <FormDialog
      title={`Pause ${what}`}
      submit="Pause"
      canSubmit={note.trim() !== ""}
      onSubmit={async () => {
        await call("POST", `${path}/pause`, { body: { note: note.trim() } })
        say(`Paused: ${what}.`, "done", () => void undo())
        onDone()
      }}
      onClose={onClose}
    >
      <p>{effect}</p>
      <TextField
        label="Why"
        hint="Who comes after you reads it here"
        value={note}
        onValue={setNote}
        required
        maxLength={1000}
        autocomplete="off"
      />
    </FormDialog>
  )
}

/** Since when, by whom and why. */
export const PausedNotice = ({ paused, what }: { readonly paused: Paused; readonly what: string }) => (
  <p class="notice late">
    <b>{paused.by.type === "failures" ? `${what} paused itself after failures in a row` : `${what} is paused`}</b>
    {paused.by.name === null ? "" : ` by ${paused.by.name}`}, <Time at={paused.since} />
    {paused.note === null ? null : (
      <>
        <br />
        {paused.note}
      </>
    )}
  </p>
)
