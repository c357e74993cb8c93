/** Assets: named texts and files that robots read. */
import type { AssetSummary } from "@signalbox/api/contract/Assets"
import { useState } from "preact/hooks"
import { Button, Empty, Head, Panel } from "../kit/Basics.tsx"
import { FormDialog } from "../kit/Dialog.tsx"
import { NameField, SelectField } from "../kit/Field.tsx"
import { FileField } from "../kit/FileField.tsx"
import { List } from "../kit/List.tsx"
import { go, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { createFilled } from "../upload.ts"
import { Asset } from "./assets/Asset.tsx"
import { setContent } from "./assets/content.ts"
import * as text from "../text/text.ts"

const kinds = [
  { value: "application/json", label: text.assets.kindJson },
  { value: "text/plain", label: text.assets.kindText },
  { value: "file", label: text.assets.kindFile }
] as const

const NewAsset = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState("")
  const [kind, setKind] = useState<(typeof kinds)[number]["value"]>("application/json")
  const [file, setFile] = useState<File | null>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const submit = async () => {
    try {
      const id = await createFilled("assets", name, async (id) => {
        if (kind !== "file") await setContent(id, kind, new Blob([kind === "text/plain" ? "" : "{}"]))
        else if (file !== null) await setContent(id, file.type || "application/octet-stream", file, setProgress)
      })
      go(to(["assets", id]))
    } finally {
      setProgress(null)
    }
  }
  return (
    <FormDialog
      title={text.assets.new}
      submit={progress === null ? text.assets.create : text.common.uploading}
      done={text.assets.created(name)}
      canSubmit={kind !== "file" || file !== null}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameField hint={text.assets.nameHint} value={name} onValue={setName} />
      <SelectField
        label={text.common.type}
        value={kind}
        onValue={(kind) => {
          setKind(kind)
          setFile(null)
        }}
        options={kinds}
      />
      {kind === "file" ? <FileField label={text.common.file} progress={progress} onFile={setFile} /> : null}
    </FormDialog>
  )
}

const Assets = () => {
  const [isNew, setNew] = useState(false)
  const canWrite = may("Assets.write_asset_storage_assets")
  return (
    <>
      <Head
        title={text.screens.assets}
        actions={
          canWrite ? (
            <Button kind="primary" onClick={() => setNew(true)}>
              {text.assets.new}
            </Button>
          ) : undefined
        }
      />
      <Panel flush>
        <List<AssetSummary>
          label={text.screens.assets}
          path="assets"
          empty={
            <Empty title={text.assets.none}>
              {text.assets.noneHint} {canWrite ? <Button onClick={() => setNew(true)}>{text.assets.new}</Button> : null}
            </Empty>
          }
          columns={[
            {
              title: text.common.name,
              cell: ({ id, name }) => (
                <a class="name-link" href={to(["assets", id])}>
                  {name}
                </a>
              )
            }
          ]}
        />
      </Panel>
      {isNew ? <NewAsset onClose={() => setNew(false)} /> : null}
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Assets /> : <Asset key={id} id={id} />)
