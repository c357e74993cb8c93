/** The fields of a JSON Schema, to type into. */
import { AreaField, CheckField, SelectField, TextField } from "../../kit/Field.tsx"
import type { Drafts, FormField } from "./schema.ts"
import * as text from "../../text/text.ts"

const limits = ({ min, max }: { readonly min: number | undefined; readonly max: number | undefined }) =>
  min !== undefined && max !== undefined
    ? text.processes.between(min, max)
    : min !== undefined
      ? text.processes.atLeast(min)
      : max !== undefined
        ? text.processes.atMost(max)
        : ""

const One = ({
  drafts,
  errors,
  field,
  onDraft
}: {
  readonly field: FormField
  readonly drafts: Drafts
  readonly errors: Readonly<Record<string, string>>
  readonly onDraft: (path: string, draft: string | boolean) => void
}) => {
  if (field.kind === "group") {
    return (
      <fieldset>
        <legend>{field.label}</legend>
        {field.hint === "" ? null : <p class="quiet">{field.hint}</p>}
        {field.fields.map((one) => (
          <One key={one.path} field={one} drafts={drafts} errors={errors} onDraft={onDraft} />
        ))}
      </fieldset>
    )
  }
  const draft = drafts[field.path]
  const hints = [
    field.hint,
    field.kind === "number" ? limits(field) : "",
    field.kind === "lines" ? text.processes.onePerLine : ""
  ]
    .filter((hint) => hint !== "")
    .join("; ")
  if (field.kind === "check") {
    return (
      <CheckField
        label={field.label}
        hint={hints === "" ? undefined : hints}
        checked={draft === true}
        onChecked={(checked) => onDraft(field.path, checked)}
      />
    )
  }
  const props = {
    label: field.isRequired ? field.label : text.processes.optional(field.label),
    hint: hints === "" ? undefined : hints,
    error: errors[field.path] ?? null,
    value: typeof draft === "string" ? draft : "",
    onValue: (value: string) => onDraft(field.path, value)
  }
  switch (field.kind) {
    case "choice":
      return (
        <SelectField
          {...props}
          options={[
            { value: "", label: field.isRequired ? text.common.select : "—" },
            ...field.values.map((value, index) => ({
              value: String(index),
              label: typeof value === "string" ? value : JSON.stringify(value)
            }))
          ]}
        />
      )
    case "lines":
      return <AreaField {...props} rows={3} />
    case "json":
      return <AreaField {...props} rows={5} />
    case "number":
      return <TextField {...props} inputMode={field.isInteger ? "numeric" : "decimal"} autocomplete="off" />
    case "text":
      return <TextField {...props} type={field.type} autocomplete="off" />
  }
}

export const SchemaForm = ({
  fields,
  ...rest
}: {
  readonly fields: ReadonlyArray<FormField>
  readonly drafts: Drafts
  /** What is wrong, by path. */
  readonly errors: Readonly<Record<string, string>>
  readonly onDraft: (path: string, draft: string | boolean) => void
}) => (
  <>
    {fields.map((field) => (
      <One key={field.path} field={field} {...rest} />
    ))}
  </>
)
