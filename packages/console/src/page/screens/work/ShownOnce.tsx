/** Something that is shown once, to copy. */
import type { ComponentChildren } from "preact"
import { Button } from "../../kit/Basics.tsx"
import { Copyable } from "../../kit/Copy.tsx"
import { Dialog } from "../../kit/Dialog.tsx"
import * as text from "../../text/text.ts"

export const ShownOnceDialog = ({
  children,
  onClose,
  title,
  value
}: {
  readonly title: string
  readonly value: string
  readonly children: ComponentChildren
  readonly onClose: () => void
}) => (
  <Dialog title={title} onClose={onClose}>
    {children}
    <Copyable label={title} text={value} />
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        {text.common.done}
      </Button>
    </div>
  </Dialog>
)
