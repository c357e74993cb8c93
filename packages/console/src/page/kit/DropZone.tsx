/** Where files are dropped. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"

export const DropZone = ({
  children,
  kind,
  onFiles
}: {
  /** The class of its look. */
  readonly kind: "drop" | "filedrop"
  readonly onFiles: (files: FileList) => void
  readonly children: ComponentChildren
}) => {
  const [isOver, setOver] = useState(false)
  return (
    <div
      class={`${kind} ${isOver ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const files = event.dataTransfer?.files
        if (files !== undefined && files.length > 0) onFiles(files)
      }}
    >
      {children}
    </div>
  )
}
