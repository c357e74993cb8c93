/** Dialogs of the browser: they keep the focus, and Escape closes them. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { Button, Problem } from "./Basics.tsx"
import { TextField } from "./Field.tsx"
import * as text from "../text/text.ts"

export const Dialog = ({
  title,
  onClose,
  children
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const element = useRef<HTMLDialogElement>(null)
  // Before the next key is pressed: it is for the dialog.
  useLayoutEffect(() => element.current?.showModal(), [])
  return (
    <dialog ref={element} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  )
}

/** A dialog with fields. When `onSubmit` succeeds, it closes, or `onDone` shows the result; when it fails, its error is shown. */
export const FormDialog = <A,>({
  title,
  submit,
  kind = "primary",
  done,
  canSubmit = true,
  onSubmit,
  onDone,
  onClose,
  children
}: {
  readonly title: string
  /** What the button says, such as `Create`. */
  readonly submit: string
  readonly kind?: "primary" | "danger"
  /** What is said when it succeeded. */
  readonly done?: string | undefined
  readonly canSubmit?: boolean
  readonly onSubmit: () => Promise<A>
  /** Shows the result, in place of the dialog. */
  readonly onDone?: (result: A) => void
  readonly onClose: () => void
  readonly children?: ComponentChildren
}) => {
  const action = useAction()
  const submitted = async () => {
    let next = onClose
    const isDone = await action.run(async () => {
      const result = await onSubmit()
      if (onDone !== undefined) next = () => onDone(result)
    }, done)
    if (isDone) next()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submitted()
        }}
      >
        <Problem message={action.error} />
        {children}
        <div class="actions">
          <Button onClick={onClose}>{text.common.cancel}</Button>
          <Button type="submit" kind={kind} disabled={action.isBusy || !canSubmit}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Asks before something is done that cannot be undone. Where `name` is given, it has to be typed. */
export const Confirm = ({
  name,
  children,
  ...rest
}: {
  readonly title: string
  readonly submit: string
  readonly done?: string | undefined
  readonly name?: string | undefined
  readonly onSubmit: () => Promise<unknown>
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const [typed, setTyped] = useState("")
  return (
    <FormDialog {...rest} kind="danger" canSubmit={name === undefined || typed === name}>
      {children}
      {name === undefined ? null : (
        <TextField label={text.kit.confirmName(name)} value={typed} onValue={setTyped} autocomplete="off" />
      )}
    </FormDialog>
  )
}
