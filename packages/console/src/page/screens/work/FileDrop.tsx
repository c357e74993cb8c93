/** Files by drag or by button, with how much of each is sent. */
import { useId } from "preact/hooks"
import { Button } from "../../kit/Basics.tsx"
import { DropZone } from "../../kit/DropZone.tsx"
import * as text from "../../text/text.ts"

/** Such as `1.4 MB`. */
export const sizeOf = (bytes: number): string => {
  if (bytes < 1000) return text.kit.bytes(String(bytes))
  const kilobytes = bytes / 1000
  return kilobytes < 1000 ? `${kilobytes.toFixed(0)} KB` : `${(kilobytes / 1000).toFixed(1)} MB`
}

export const FileDrop = ({
  accept,
  files,
  isMultiple = true,
  label,
  onFiles,
  sent
}: {
  readonly label: string
  readonly files: ReadonlyArray<File>
  readonly onFiles: (files: ReadonlyArray<File>) => void
  readonly isMultiple?: boolean
  /** Endings, such as `.zip`. */
  readonly accept?: string | undefined
  /** The share of each that is sent, by its name. */
  readonly sent: Readonly<Record<string, number>>
}) => {
  const id = useId()
  const add = (list: FileList | null) => {
    const added = [...(list ?? [])]
    const names = new Set(added.map(({ name }) => name))
    // A file of the same name takes the place of the one before.
    onFiles(isMultiple ? [...files.filter(({ name }) => !names.has(name)), ...added] : added.slice(0, 1))
  }
  return (
    <div class="field">
      <DropZone kind="filedrop" onFiles={add}>
        <label for={id}>{label}</label>
        <input
          id={id}
          type="file"
          multiple={isMultiple}
          accept={accept}
          onChange={(event) => {
            add(event.currentTarget.files)
            event.currentTarget.value = ""
          }}
        />
        <span class="hint">{isMultiple ? text.kit.dropFiles : text.kit.dropFile}</span>
      </DropZone>
      {files.length === 0 ? null : (
        <ul class="files">
          {files.map((file) => (
            <li key={file.name}>
              <span>{file.name}</span> <span class="quiet">{sizeOf(file.size)}</span>
              {sent[file.name] === undefined ? (
                <Button
                  aria-label={text.common.removeOf(file.name)}
                  onClick={() => onFiles(files.filter((one) => one !== file))}
                >
                  {text.common.remove}
                </Button>
              ) : (
                <progress max={1} value={sent[file.name]} aria-label={text.kit.progressOf(file.name)} />
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
