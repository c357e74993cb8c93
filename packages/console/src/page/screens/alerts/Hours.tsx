/** Hours of days of the week, in a zone. */
import type { AlertHours, Weekday } from "@signalbox/api/contract/Alerts"
import { CheckField, SelectField, TextField } from "../../kit/Field.tsx"
import { browserZone, zones } from "../schedule/rules.ts"
import * as text from "../../text/text.ts"

const days: ReadonlyArray<{ readonly value: Weekday; readonly label: string }> = [
  { value: "mon", label: text.weekdays.mon },
  { value: "tue", label: text.weekdays.tue },
  { value: "wed", label: text.weekdays.wed },
  { value: "thu", label: text.weekdays.thu },
  { value: "fri", label: text.weekdays.fri },
  { value: "sat", label: text.weekdays.sat },
  { value: "sun", label: text.weekdays.sun }
]

const time = "([01][0-9]|2[0-3]):[0-5][0-9]"

export const HoursField = ({
  fresh,
  hours,
  label,
  onHours
}: {
  readonly label: string
  /** Null: none. */
  readonly hours: AlertHours | null
  readonly onHours: (hours: AlertHours | null) => void
  /** What it begins with. */
  readonly fresh: Pick<AlertHours, "from" | "to">
}) => {
  const set = (changes: Partial<AlertHours>) => (hours === null ? undefined : onHours({ ...hours, ...changes }))
  const chosen: ReadonlyArray<Weekday> = hours?.weekdays ?? days.map(({ value }) => value)
  const choose = (day: Weekday, isOn: boolean) => {
    const next = days.map(({ value }) => value).filter((value) => (value === day ? isOn : chosen.includes(value)))
    // Without a day there would be no hours at all.
    if (next.length > 0) set({ weekdays: next })
  }
  return (
    <>
      <CheckField
        label={label}
        checked={hours !== null}
        onChecked={(isOn) => onHours(isOn ? { ...fresh, zone: browserZone() } : null)}
      />
      {hours === null ? null : (
        <fieldset>
          <legend>{label}</legend>
          <div class="inline">
            <TextField
              label={text.alerts.from}
              hint={text.alerts.fromHint}
              pattern={time}
              value={hours.from}
              onValue={(from) => set({ from })}
              required
            />
            <TextField
              label={text.alerts.to}
              hint={text.alerts.toHoursHint}
              pattern={time}
              value={hours.to}
              onValue={(to) => set({ to })}
              required
            />
            <SelectField<string>
              label={text.common.timeZone}
              value={hours.zone}
              onValue={(zone) => set({ zone })}
              options={[...new Set([hours.zone, ...zones()])].map((zone) => ({ value: zone, label: zone }))}
            />
          </div>
          <div class="days">
            {days.map(({ label, value }) => (
              <CheckField
                key={value}
                label={label}
                checked={chosen.includes(value)}
                onChecked={(isOn) => choose(value, isOn)}
              />
            ))}
          </div>
        </fieldset>
      )}
    </>
  )
}
