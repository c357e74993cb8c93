/** Times that have not come, in the zone of their schedule. */
import type { ScheduleTime } from "@signalbox/api/contract/Schedules"
import { Time } from "../../kit/Basics.tsx"
import * as text from "../../text/text.ts"

/** `2026-11-23T06:00:00.000+01:00[Europe/Vienna]` is read as Mon 23 Nov 2026, 06:00. */
const localOf = ({ local }: ScheduleTime): string => {
  const [, date = "", time = ""] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)/.exec(local) ?? []
  const day = new Date(`${date}T00:00:00Z`)
  return Number.isNaN(day.getTime())
    ? local
    : `${days.format(day)}, ${time.replace(/:00$/, (end) => (time.length > 5 ? "" : end))}`
}

const days = new Intl.DateTimeFormat(text.common.locale, {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC"
})

export const NextTimes = ({
  isPaused = false,
  times
}: {
  readonly times: ReadonlyArray<ScheduleTime>
  readonly isPaused?: boolean
}) =>
  times.length === 0 ? (
    <p class="quiet">{text.schedules.noTimes}</p>
  ) : (
    <ol class="times">
      {times.map((time) => (
        <li key={time.at} class={isPaused ? "quiet" : ""}>
          <span>{localOf(time)}</span>{" "}
          <span class="quiet">
            <Time at={time.starts_at} />
          </span>
        </li>
      ))}
    </ol>
  )
