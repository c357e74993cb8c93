/** Pauses, says why, and takes it back. */
import type { Paused } from "@signalbox/api/contract/Pauses"
import { useState } from "preact/hooks"
import { call, reasonOf } from "../../action.ts"
import { Time } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { TextField } from "../../kit/Field.tsx"
import { say } from "../../state.ts"
import * as text from "../../text/text.ts"

export const PauseDialog = ({
  effect,
  onClose,
  onDone,
  path,
  what
}: {
  /** What is paused, such as `step Post`. */
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
        say(text.common.resumed(what))
        onDone()
      },
      (error: unknown) => say(text.common.stillPaused(what, reasonOf(error)), "failed")
    )
  return (
    <FormDialog
      title={text.common.pauseOf(what)}
      submit={text.common.pauseNow}
      canSubmit={note.trim() !== ""}
      onSubmit={async () => {
        await call("POST", `${path}/pause`, { body: { note: note.trim() } })
        say(text.common.paused(what), "done", () => void undo())
        onDone()
      }}
      onClose={onClose}
    >
      <p>{effect}</p>
      <TextField
        label={text.common.reason}
        hint={text.common.reasonHint}
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
    <b>{paused.by.type === "failures" ? text.common.pausedByFailures(what) : text.common.isPaused(what)}</b>
    {paused.by.name === null ? "" : text.common.by(paused.by.name)}, <Time at={paused.since} />
    {paused.note === null ? null : (
      <>
        <br />
        {paused.note}
      </>
    )}
  </p>
)
