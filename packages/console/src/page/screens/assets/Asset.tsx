/** One asset: its text edited in place, or a file. */
import type { Asset as AssetOf } from "@signalbox/api/contract/Assets"
import { useEffect, useState } from "preact/hooks"
import { call, reasonOf, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, Skeleton } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { AreaField } from "../../kit/Field.tsx"
import { FileField } from "../../kit/FileField.tsx"
import { useResource } from "../../load.ts"
import { may } from "../../state.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { sizeOf } from "../work/FileDrop.tsx"
import { type Content, contentOf, isJson, linkOf, setContent } from "./content.ts"
import * as text from "../../text/text.ts"

const whatIsWrong = (json: string): string | null => {
  try {
    JSON.parse(json)
    return null
  } catch (error) {
    return text.common.invalidJson(reasonOf(error))
  }
}

const Editor = ({
  content,
  id,
  onSaved,
  text: initial
}: {
  readonly id: string
  readonly content: Content
  readonly text: string
  readonly onSaved: () => void
}) => {
  const [typed, setTyped] = useState(initial)
  const action = useAction()
  const canWrite = may("Assets.write_asset_storage_assets")
  const error = isJson(content.type) ? whatIsWrong(typed) : null
  const isChanged = typed !== initial
  const save = async () => {
    const now = await contentOf(id)
    if (now?.text !== initial) {
      throw new Error(text.assets.conflict)
    }
    await setContent(id, content.type, new Blob([typed]))
    onSaved()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(save, text.assets.saved)
      }}
    >
      <Problem message={action.error} />
      <AreaField
        label={text.assets.content}
        rows={Math.min(30, Math.max(8, initial.split("\n").length + 2))}
        value={typed}
        onValue={setTyped}
        disabled={!canWrite}
        error={error}
      />
      {canWrite ? (
        <div class="actions start">
          <Button disabled={!isChanged} onClick={() => setTyped(initial)}>
            {text.common.discard}
          </Button>
          <Button type="submit" kind="primary" disabled={!isChanged || error !== null || action.isBusy}>
            {text.common.save}
          </Button>
        </div>
      ) : null}
    </form>
  )
}

/** Its content, loaded once: what is being edited does not change by itself. */
const ContentPanel = ({ id }: { readonly id: string }) => {
  const [at, setAt] = useState(0)
  const [content, setLoaded] = useState<Content | null | undefined>(undefined)
  const [error, setError] = useState<string | null>(null)
  useEffect(() => {
    let isGone = false
    contentOf(id).then(
      (content) => (isGone ? undefined : setLoaded(content)),
      (error: unknown) => (isGone ? undefined : setError(reasonOf(error)))
    )
    return () => {
      isGone = true
    }
  }, [id, at])
  if (content === undefined) return error === null ? <Skeleton /> : <Problem message={error} />
  if (content === null) return <Empty title={text.assets.noContent}>{text.assets.noContentHint}</Empty>
  const { bytes, text: stored, type } = content
  return (
    <>
      <p class="quiet">
        <span class="mono">{type}</span>
        {Number.isFinite(bytes) ? ` · ${sizeOf(bytes)}` : ""}
      </p>
      {stored === null ? (
        <p>{text.assets.notEditable}</p>
      ) : (
        <Editor key={stored} id={id} content={content} text={stored} onSaved={() => setAt(at + 1)} />
      )}
    </>
  )
}

const UploadDialog = ({
  asset,
  onClose,
  onDone
}: {
  readonly asset: AssetOf
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const [file, setFile] = useState<File | null>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const submit = async () => {
    if (file === null) return
    try {
      await setContent(asset.id, file.type || "application/octet-stream", file, setProgress)
    } finally {
      setProgress(null)
    }
    onDone()
  }
  return (
    <FormDialog
      title={text.assets.uploadTitle(asset.name)}
      submit={progress === null ? text.assets.upload : text.common.uploading}
      done={text.assets.replaced}
      canSubmit={file !== null}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{text.assets.replaceHint}</p>
      <FileField label={text.common.file} progress={progress} onFile={setFile} />
    </FormDialog>
  )
}

export const Asset = ({ id }: { readonly id: string }) => {
  const { data: asset, error, reload } = useResource<AssetOf>(`assets/${id}`)
  const [asked, setAsked] = useState<"upload" | "delete" | null>(null)
  const [uploads, setUploads] = useState(0)
  const downloading = useAction()
  if (asset === undefined) return <NotLoaded title={text.assets.asset} error={error} />
  const close = () => setAsked(null)
  const download = async () => {
    // The address expires after an hour, so it is asked for again.
    const link = linkOf(await call<AssetOf>("GET", `assets/${id}`))
    if (link !== null) location.assign(link)
  }
  return (
    <div class="readable">
      <Head
        title={asset.name}
        actions={
          <>
            {linkOf(asset) === null ? null : (
              <Button onClick={() => void downloading.run(download)}>{text.common.download}</Button>
            )}
            {may("Assets.write_asset_storage_assets") ? (
              <>
                <Button onClick={() => setAsked("upload")}>{text.assets.uploadMore}</Button>
                <Button kind="danger" onClick={() => setAsked("delete")}>
                  {text.common.delete}
                </Button>
              </>
            ) : null}
          </>
        }
      />
      <Problem message={downloading.error ?? error} />
      <Panel>
        <ContentPanel key={uploads} id={id} />
      </Panel>
      {asked === "upload" ? (
        <UploadDialog
          asset={asset}
          onDone={() => {
            setUploads(uploads + 1)
            reload()
          }}
          onClose={close}
        />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={text.common.deleteOf(asset.name)}
          submit={text.assets.deleteAsset}
          done={text.assets.deleted(asset.name)}
          path={`assets/${id}`}
          list={["assets"]}
          onClose={close}
        >
          <p>{text.assets.deleteHint}</p>
        </DeleteDialog>
      ) : null}
    </div>
  )
}
