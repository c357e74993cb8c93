/** The limits of a process or a step, to type into. */
import { SelectField, TextField } from "../../kit/Field.tsx"
import { type LimitsDraft, type Period, periods } from "./limits.ts"
import * as text from "../../text/text.ts"

export const LimitsEditor = ({
  draft,
  onChange
}: {
  readonly draft: LimitsDraft
  readonly onChange: (draft: LimitsDraft) => void
}) => {
  const set = (name: Exclude<keyof LimitsDraft, "per">) => (value: string) => onChange({ ...draft, [name]: value })
  const key = (name: "key" | "rateKey", label: string) => (
    <TextField
      label={label}
      hint={text.processes.limitKeyHint}
      value={draft[name]}
      onValue={set(name)}
      placeholder={text.processes.limitKeyExample}
      maxLength={1024}
      autocomplete="off"
    />
  )
  return (
    <fieldset>
      <legend>{text.processes.limits}</legend>
      <div class="inline">
        <TextField
          label={text.processes.limitAtOnce}
          hint={text.processes.limitHint}
          type="number"
          min={1}
          max={10_000}
          value={draft.limit}
          onValue={set("limit")}
        />
        {draft.limit === "" ? null : key("key", text.processes.limitKey)}
      </div>
      <div class="inline">
        <TextField
          label={text.processes.limitRate}
          hint={text.processes.limitHint}
          type="number"
          min={1}
          max={1_000_000}
          value={draft.rate}
          onValue={set("rate")}
        />
        {draft.rate === "" ? null : (
          <>
            <SelectField<Period>
              label={text.processes.limitPer}
              value={draft.per}
              onValue={(per) => onChange({ ...draft, per })}
              options={periods.map((value) => ({ value, label: text.processes.limitPeriods[value] }))}
            />
            {key("rateKey", text.processes.rateKey)}
          </>
        )}
      </div>
    </fieldset>
  )
}
