/** A file to upload: chosen, or dropped. */
import type { ComponentChildren } from "preact"
import { useId, useRef } from "preact/hooks"
import { DropZone } from "./DropZone.tsx"
import * as text from "../text/text.ts"

export const FileField = ({
  label,
  hint,
  accept,
  onFile,
  progress
}: {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly accept?: string | undefined
  readonly onFile: (file: File | null) => void
  /** From 0 to 1 while it is sent. */
  readonly progress?: number | null
}) => {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <DropZone
        kind="drop"
        onFiles={(files) => {
          if (input.current === null) return
          input.current.files = files
          onFile(files[0] ?? null)
        }}
      >
        <input
          ref={input}
          id={id}
          type="file"
          required
          accept={accept}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)}
        />
        <span class="hint" id={`${id}-hint`}>
          {text.kit.fileHint(hint === undefined ? null : <>{hint} </>)}
        </span>
        {progress == null ? null : <progress aria-label={text.kit.progress} max={1} value={progress} />}
      </DropZone>
    </div>
  )
}
