/** Something that is shown once, to copy. */
import type { ComponentChildren } from "preact"
import { useRef } from "preact/hooks"
import { Button } from "../../kit/Basics.tsx"
import { Dialog } from "../../kit/Dialog.tsx"
import { say } from "../../state.ts"

export const OnceDialog = ({
  children,
  onClose,
  title,
  value
}: {
  readonly title: string
  readonly value: string
  readonly children: ComponentChildren
  readonly onClose: () => void
}) => {
  const element = useRef<HTMLInputElement>(null)
  const copy = async () => {
    element.current?.select()
    // The clipboard exists on https and on this machine alone; elsewhere the older way does it.
    const isCopied =
      navigator.clipboard === undefined
        ? document.execCommand("copy")
        : await navigator.clipboard.writeText(value).then(
            () => true,
            () => document.execCommand("copy")
          )
    say(isCopied ? "Copied." : "The browser does not copy by itself: press Ctrl-C.", isCopied ? "done" : "failed")
  }
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <p>
        <input
          class="mono"
          ref={element}
          readOnly
          value={value}
          aria-label={title}
          onFocus={() => element.current?.select()}
        />
      </p>
      <div class="actions">
        <Button kind="primary" onClick={() => void copy()}>
          Copy
        </Button>
        <Button onClick={onClose}>I have it</Button>
      </div>
    </Dialog>
  )
}
