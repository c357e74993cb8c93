/** Fields of forms: a label, the control of the browser, a hint. */
import { type ComponentChildren, h, type JSX, type TargetedInputEvent } from "preact"
import { useId } from "preact/hooks"
import * as text from "../text/text.ts"

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | null
}

const Field = ({
  label,
  hint,
  error,
  control
}: FieldProps & {
  readonly control: (props: { readonly id: string; readonly "aria-describedby"?: string | undefined }) => JSX.Element
}) => {
  const id = useId()
  const isDescribed = hint !== undefined || error != null
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({ id, "aria-describedby": isDescribed ? `${id}-hint` : undefined })}
      {isDescribed ? (
        <span class="hint" id={`${id}-hint`}>
          {error == null ? hint : <span class="wrong">{error}</span>}
        </span>
      ) : null}
    </div>
  )
}

/** What fields of text take besides. */
interface TextProps extends FieldProps {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly required?: boolean
  readonly disabled?: boolean
  readonly placeholder?: string
  readonly maxLength?: number
}

/** One line of text. */
export const TextField = ({
  label,
  hint,
  error,
  value,
  onValue,
  ...rest
}: TextProps & {
  readonly type?: "text" | "number" | "password" | "email" | "url" | "date" | "datetime-local"
  readonly autocomplete?: "off" | "new-password" | "current-password" | "one-time-code" | "username"
  readonly inputMode?: "numeric" | "decimal"
  readonly pattern?: string
  readonly min?: number | string
  readonly max?: number | string | undefined
  readonly step?: number | "any"
}) => (
  <Field
    label={label}
    hint={hint}
    error={error ?? null}
    control={(props) =>
      // The types of the elements tell apart each `type` of an input, which is chosen here by the caller.
      h("input", {
        ...rest,
        ...props,
        value,
        "aria-invalid": error != null,
        onInput: (event: TargetedInputEvent<HTMLInputElement>) => onValue(event.currentTarget.value)
      })
    }
  />
)

/** The name of a resource. */
export const NameField = (props: Pick<Parameters<typeof TextField>[0], "hint" | "value" | "onValue" | "pattern">) => (
  <TextField label={text.common.name} {...props} required maxLength={255} autocomplete="off" />
)

/** Several lines of text. */
export const AreaField = ({ label, hint, error, value, onValue, ...rest }: TextProps & { readonly rows?: number }) => (
  <Field
    label={label}
    hint={hint}
    error={error ?? null}
    control={(props) => (
      <textarea
        spellcheck={false}
        {...rest}
        {...props}
        value={value}
        aria-invalid={error != null}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    )}
  />
)

/** One of a few values. */
export const SelectField = <Value extends string>({
  label,
  hint,
  error,
  value,
  onValue,
  options,
  disabled = false
}: FieldProps & {
  readonly value: Value
  readonly onValue: (value: Value) => void
  readonly options: ReadonlyArray<{ readonly value: Value; readonly label: string }>
  readonly disabled?: boolean
}) => (
  <Field
    label={label}
    hint={hint}
    error={error ?? null}
    control={(props) => (
      <select
        {...props}
        disabled={disabled}
        value={value}
        onChange={(event) => {
          const chosen = options[event.currentTarget.selectedIndex]
          if (chosen !== undefined) onValue(chosen.value)
        }}
      >
        {options.map(({ label, value }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    )}
  />
)

/** Yes or no. */
export const CheckField = ({
  label,
  hint,
  checked,
  onChecked
}: {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly checked: boolean
  readonly onChecked: (checked: boolean) => void
}) => {
  const id = useId()
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint === undefined ? null : (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}
