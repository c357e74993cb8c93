/** The items of a day, by the hour in which they came and what has become of them. */
import type { ThroughputHour } from "@signalbox/api/contract/WorkItems"
import { Empty, Panel, Problem } from "../../kit/Basics.tsx"
import type { Loaded } from "../../load.ts"
import * as text from "../../text/text.ts"

const hourOf = new Intl.DateTimeFormat(text.common.locale, { hour: "2-digit", minute: "2-digit" })
const at = (time: string) => hourOf.format(new Date(time))

const totalOf = ({ done, failed, open }: ThroughputHour) => done + failed + open

const [width, height, gap] = [300, 74, 2]

const Bars = ({ hours }: { readonly hours: ReadonlyArray<ThroughputHour> }) => {
  const most = Math.max(1, ...hours.map(totalOf))
  const step = width / Math.max(1, hours.length)
  return (
    <svg class="bars" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {hours.map((hour, n) => {
        // From the bottom: done, open, failed.
        const parts = (["done", "open", "failed"] as const).map((name) => ({
          name,
          size: (hour[name] / most) * height
        }))
        let top = height
        return (
          <g key={hour.from}>
            <title>{text.overview.hour(at(hour.from), hour.done, hour.failed, hour.open)}</title>
            {parts.map(({ name, size }) => {
              top -= size
              return <rect key={name} class={name} x={n * step} y={top} width={step - gap} height={size} />
            })}
          </g>
        )
      })}
    </svg>
  )
}

export const Throughput = ({ error, data }: Loaded<{ readonly data: ReadonlyArray<ThroughputHour> }>) => {
  const hours = data?.data ?? []
  const sum = (name: "done" | "failed" | "open") => hours.reduce((all, hour) => all + hour[name], 0)
  const busiest = hours.toSorted((a, b) => totalOf(b) - totalOf(a))[0]
  return (
    <Panel title={text.overview.throughput}>
      <Problem message={error} />
      {data === undefined ? null : busiest === undefined || totalOf(busiest) === 0 ? (
        <Empty title={text.overview.noItems} />
      ) : (
        <>
          <Bars hours={hours} />
          <div class="axis quiet" aria-hidden="true">
            <span>{at(hours[0]?.from ?? busiest.from)}</span>
            <span>{text.overview.now}</span>
          </div>
          <p class="legend">
            <span class="state done">
              <span class="lamp" aria-hidden="true" />
              {text.overview.doneItems(sum("done"))}
            </span>
            <span class="state failed">
              <span class="lamp" aria-hidden="true" />
              {text.overview.failedLegend(sum("failed"))}
            </span>
            <span class="state busy">
              <span class="lamp" aria-hidden="true" />
              {text.overview.openItems(sum("open"))}
            </span>
            <span class="hidden">{text.overview.peak(at(busiest.from))}</span>
          </p>
        </>
      )}
    </Panel>
  )
}
