/** Makes a key: what it is for, what it may do, and the key itself, which is shown once. */
import type { Permission } from "@signalbox/api/contract/Authorization"
import type { ApiKey } from "@signalbox/api/contract/ApiKeys"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { CheckField, NameField, SelectField } from "../../kit/Field.tsx"
import { to } from "../../route.ts"
import { session } from "../../state.ts"
import { ShownOnceDialog } from "../work/ShownOnce.tsx"
import { grouped, heldBy, inWords, mayGive, presetOf, presets, within } from "./permissions.ts"
import * as text from "../../text/text.ts"

const capital = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

const Boxes = ({
  chosen,
  held,
  onChosen
}: {
  readonly chosen: ReadonlyArray<Permission>
  readonly held: ReadonlyArray<string>
  readonly onChosen: (chosen: ReadonlyArray<Permission>) => void
}) => (
  <>
    {grouped.map(([area, all]) => {
      const given = all.filter((permission) => mayGive(permission, held))
      return given.length === 0 ? null : (
        <fieldset key={area} class="boxes">
          <legend>{area}</legend>
          {given.map((permission) => (
            <CheckField
              key={permission}
              label={capital(inWords(permission))}
              checked={chosen.includes(permission)}
              onChecked={(isChecked) =>
                onChosen(isChecked ? [...chosen, permission] : chosen.filter((one) => one !== permission))
              }
            />
          ))}
        </fieldset>
      )
    })}
  </>
)

export const NewKey = ({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) => {
  const held = heldBy(session.value ?? { permissions: [], user: null })
  const offered = presets.filter((preset) => within(preset, held).length > 0)
  const first = offered.find((preset) => within(preset, held).length === preset.permissions.length)
  const [name, setName] = useState("")
  const [set, setSet] = useState<string>(first?.value ?? "hand")
  const [chosen, setChosen] = useState<ReadonlyArray<Permission>>(first?.permissions ?? [])
  const [shown, setShown] = useState<string | null>(null)
  if (shown !== null) {
    return (
      <ShownOnceDialog title={text.keys.keyTitle(name.trim())} value={shown} onClose={onClose}>
        <p>
          {text.keys.storeHint(
            <b>{text.keys.copyKey}</b>,
            <a href={to(["connect"])} onClick={onClose}>
              {text.screens.connect}
            </a>
          )}
        </p>
      </ShownOnceDialog>
    )
  }
  const preset = offered.find(({ value }) => value === set)
  const missing = preset === undefined ? 0 : preset.permissions.length - within(preset, held).length
  const submit = async () => {
    // The page gets what is redacted in programs as text.
    const { key } = await call<ApiKey & { readonly key: string }>("POST", "api-keys", {
      body: { name: name.trim(), permissions: chosen }
    })
    onDone()
    return key
  }
  return (
    <FormDialog
      title={text.keys.new}
      submit={text.keys.create}
      canSubmit={name.trim() !== "" && chosen.length > 0}
      onSubmit={submit}
      onDone={setShown}
      onClose={onClose}
    >
      <NameField hint={text.keys.nameHint} value={name} onValue={setName} />
      <SelectField
        label={text.keys.permissions}
        hint={
          preset === undefined ? text.keys.exactly : `${preset.hint}${missing === 0 ? "" : text.keys.lacks(missing)}`
        }
        value={set}
        onValue={(value) => {
          setSet(value)
          const next = offered.find((one) => one.value === value)
          if (next !== undefined) setChosen(within(next, held))
        }}
        options={[
          ...offered.map(({ label, value }) => ({ label, value: String(value) })),
          { label: text.keys.custom, value: "hand" }
        ]}
      />
      <details open={set === "hand"}>
        <summary>{text.keys.permissionCount(chosen.length)}</summary>
        <Boxes
          chosen={chosen}
          held={held}
          onChosen={(next) => {
            setChosen(next)
            setSet(presetOf(next)?.value ?? "hand")
          }}
        />
      </details>
    </FormDialog>
  )
}
