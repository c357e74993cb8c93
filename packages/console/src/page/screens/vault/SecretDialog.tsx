/** Makes a secret, or changes values of one. What is typed is sent, and shown nowhere. */
import type { SecretWithItemNames } from "@signalbox/api/contract/Secrets"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { Button } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { NameField, TextField } from "../../kit/Field.tsx"
import { FileField } from "../../kit/FileField.tsx"
import { readText } from "../assets/content.ts"
import * as text from "../../text/text.ts"

interface Item {
  readonly id: number
  readonly key: string
  readonly value: string
  /** Values of several lines, such as private keys, come from a file. */
  readonly isFile: boolean
  readonly error: string | null
}

const emptyItem = (id: number, key = ""): Item => ({ id, key, value: "", isFile: false, error: null })

/** The keys that there are, each without its value; one to write where there is none. */
const itemsOf = (keys: ReadonlyArray<string>): ReadonlyArray<Item> =>
  (keys.length === 0 ? [""] : keys).map((key, id) => emptyItem(id, key))

const lineOf = async (file: File | null): Promise<Partial<Item>> => {
  const value = file === null ? "" : await readText(file)
  // The line break at the end of a file is not part of the value, as with the command.
  return value === null ? { value: "", error: text.vault.notText } : { value: value.replace(/\r?\n$/, ""), error: null }
}

const ItemFields = ({
  isKept,
  item,
  number,
  onItem,
  onRemove
}: {
  readonly item: Item
  /** Whether the secret has a value under this key, which stays unless another is given. */
  readonly isKept: boolean
  readonly number: number
  readonly onItem: (changes: Partial<Item>) => void
  /** Null: it is the only one. */
  readonly onRemove: (() => void) | null
}) => (
  <fieldset>
    <legend>{text.vault.valueTitle(number)}</legend>
    <div class="inline">
      <TextField
        label={text.common.key}
        value={item.key}
        onValue={(key) => onItem({ key })}
        placeholder={number === 1 ? text.vault.keyExample : ""}
        required
        maxLength={255}
        autocomplete="off"
      />
      {item.isFile ? null : (
        <TextField
          label={text.vault.value}
          type="password"
          autocomplete="new-password"
          value={item.value}
          onValue={(value) => onItem({ value })}
          placeholder={isKept ? text.vault.unchanged : ""}
          required={!isKept}
        />
      )}
    </div>
    {item.isFile ? (
      <FileField
        label={text.vault.valueFile}
        hint={text.vault.valueFileHint}
        onFile={(file) => void lineOf(file).then(onItem)}
      />
    ) : null}
    {item.error === null ? null : <p class="wrong">{item.error}</p>}
    <p class="buttons">
      <Button onClick={() => onItem({ isFile: !item.isFile, value: "", error: null })}>
        {item.isFile ? text.vault.enterValue : text.vault.loadFromFile}
      </Button>
      {onRemove === null ? null : (
        <Button aria-label={text.vault.removeValue(number)} onClick={onRemove}>
          {text.common.remove}
        </Button>
      )}
    </p>
  </fieldset>
)

export const SecretDialog = ({
  onClose,
  onDone,
  secret
}: {
  /** Undefined: a new one. */
  readonly secret?: SecretWithItemNames
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const [name, setName] = useState("")
  const [description, setDescription] = useState(secret?.description ?? "")
  const [items, setItems] = useState(() => itemsOf(secret?.item_names ?? []))
  const known = secret?.item_names ?? []
  const isKept = ({ key }: Item) => known.includes(key.trim())
  const submit = async () => {
    const keys = items.map(({ key }) => key.trim())
    const twice = keys.find((key, index) => keys.indexOf(key) !== index)
    if (twice !== undefined) throw new Error(text.vault.keyTwice(twice))
    const written = items.filter(({ value }) => value !== "")
    const body = {
      items: Object.fromEntries(written.map(({ key, value }) => [key.trim(), value])),
      description: description.trim() || null
    }
    await (secret === undefined
      ? call("POST", "secrets", { body: { ...body, name } })
      : call("POST", `secrets/${secret.name}/items`, {
          body: { ...body, remove: known.filter((key) => !keys.includes(key)) }
        }))
    onDone()
  }
  return (
    <FormDialog
      title={secret === undefined ? text.vault.new : text.vault.editTitle(secret.name)}
      submit={secret === undefined ? text.vault.create : text.common.save}
      done={secret === undefined ? text.vault.created : text.vault.updated(secret.name)}
      canSubmit={items.every((item) => item.error === null && (item.value !== "" || isKept(item)))}
      onSubmit={submit}
      onClose={onClose}
    >
      {secret === undefined ? (
        <NameField hint={text.vault.nameHint} value={name} onValue={setName} pattern="[A-Za-z0-9_]+" />
      ) : (
        <p>{text.vault.keptHint(<b>{text.vault.removedHint}</b>)}</p>
      )}
      <TextField
        label={text.vault.purpose}
        value={description}
        onValue={setDescription}
        maxLength={1000}
        autocomplete="off"
      />
      {items.map((item, index) => (
        <ItemFields
          key={item.id}
          number={index + 1}
          item={item}
          isKept={isKept(item)}
          onItem={(changes) =>
            setItems((before) => before.map((one, at) => (at === index ? { ...one, ...changes } : one)))
          }
          onRemove={items.length === 1 ? null : () => setItems((before) => before.filter((_, at) => at !== index))}
        />
      ))}
      <p>
        <Button onClick={() => setItems((before) => [...before, emptyItem((before.at(-1)?.id ?? 0) + 1)])}>
          {text.vault.addValue}
        </Button>
      </p>
    </FormDialog>
  )
}
