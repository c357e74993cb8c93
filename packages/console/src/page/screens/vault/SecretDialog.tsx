/** Makes a secret, or replaces its values. What is typed is sent, and shown nowhere. */
import type { SecretWithItemNames } from "@signalbox/api/contract/Secrets"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { Button } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { TextField } from "../../kit/Field.tsx"
import { FileField } from "../../kit/FileField.tsx"
import { readText } from "../assets/content.ts"

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
  return value === null
    ? { value: "", error: "The file is not text." }
    : { value: value.replace(/\r?\n$/, ""), error: null }
}

const ItemFields = ({
  item,
  number,
  onItem,
  onRemove
}: {
  readonly item: Item
  readonly number: number
  readonly onItem: (changes: Partial<Item>) => void
  /** Null: it is the only one. */
  readonly onRemove: (() => void) | null
}) => (
  <fieldset>
    <legend>Value {number}</legend>
    <div class="inline">
      <TextField
        label="Key"
        value={item.key}
        onValue={(key) => onItem({ key })}
        placeholder={number === 1 ? "such as password" : ""}
        required
        maxLength={255}
        autocomplete="off"
      />
      {item.isFile ? null : (
        <TextField
          label="Value"
          type="password"
          autocomplete="new-password"
          value={item.value}
          onValue={(value) => onItem({ value })}
          required
        />
      )}
    </div>
    {item.isFile ? (
      <FileField
        label="File with the value"
        hint="Its text becomes the value."
        onFile={(file) => void lineOf(file).then(onItem)}
      />
    ) : null}
    {item.error === null ? null : <p class="wrong">{item.error}</p>}
    <p class="buttons">
      <Button onClick={() => onItem({ isFile: !item.isFile, value: "", error: null })}>
        {item.isFile ? "Type it" : "Take it from a file"}
      </Button>
      {onRemove === null ? null : (
        <Button aria-label={`Remove value ${number}`} onClick={onRemove}>
          Remove
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
  const submit = async () => {
    const keys = items.map(({ key }) => key.trim())
    const twice = keys.find((key, index) => keys.indexOf(key) !== index)
    if (twice !== undefined) throw new Error(`The key ${twice} is there twice: give each value a key of its own.`)
    const body = {
      items: Object.fromEntries(items.map(({ key, value }) => [key.trim(), value])),
      description: description.trim() || null
    }
    await (secret === undefined
      ? call("POST", "secrets", { body: { ...body, name } })
      : call("POST", `secrets/${secret.name}`, { body }))
    onDone()
  }
  return (
    <FormDialog
      title={secret === undefined ? "Make a secret" : `Replace the values of ${secret.name}`}
      submit={secret === undefined ? "Make it" : "Replace all values"}
      done={secret === undefined ? "The secret is made." : `${secret.name} has the new values.`}
      canSubmit={items.every(({ value }) => value !== "")}
      onSubmit={submit}
      onClose={onClose}
    >
      {secret === undefined ? (
        <TextField
          label="Name"
          hint="Robots ask for it by this name: letters, digits and underscores."
          value={name}
          onValue={setName}
          required
          maxLength={255}
          pattern="[A-Za-z0-9_]+"
          autocomplete="off"
        />
      ) : (
        <p>
          <b>All its values are replaced</b>, so write every one that robots need: what is removed here is gone. The old
          values cannot be shown.
        </p>
      )}
      <TextField
        label="What it is for"
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
          onItem={(changes) =>
            setItems((before) => before.map((one, at) => (at === index ? { ...one, ...changes } : one)))
          }
          onRemove={items.length === 1 ? null : () => setItems((before) => before.filter((_, at) => at !== index))}
        />
      ))}
      <p>
        <Button onClick={() => setItems((before) => [...before, emptyItem((before.at(-1)?.id ?? 0) + 1)])}>
          Add a value
        </Button>
      </p>
    </FormDialog>
  )
}
