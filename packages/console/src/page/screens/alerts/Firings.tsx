/** Firings of alerts, current and resolved. */
import type { AlertFiring } from "@signalbox/api/contract/Alerts"
import { Empty, Panel, State, Time } from "../../kit/Basics.tsx"
import { List } from "../../kit/List.tsx"
import { route, to } from "../../route.ts"
import { Choice, Filters } from "../work/Filter.tsx"

const states: Readonly<Record<string, readonly [lamp: string, words: string]>> = {
  firing: ["failed", "firing"],
  held: ["stopping", "firing, not sent yet"],
  ending: ["stopping", "over, not told yet"],
  over: ["done", "over"]
}

export const Firings = ({ alert }: { readonly alert?: string }) => {
  const { state } = route.value.query
  return (
    <>
      <Filters>
        <Choice
          label="State"
          name="state"
          all="All"
          options={Object.entries(states).map(([value, [, label]]) => ({ value, label }))}
        />
      </Filters>
      <Panel flush title="What it found">
        <List<AlertFiring>
          label="Firings"
          path="alert-firings"
          query={{ alert_id: alert, state }}
          empty={
            <Empty title={state === undefined ? "Nothing was found in the last 90 days" : "Nothing like this"}>
              When it is the case, its channels are told, and again when it is over.
            </Empty>
          }
          columns={[
            {
              title: "State",
              cell: (firing) => {
                const [lamp, words] = states[firing.state] ?? ["waiting", firing.state]
                return <State state={lamp}>{words}</State>
              }
            },
            {
              title: "What",
              cell: ({ last_error, message }) => (
                <div class="says">
                  {message}
                  {last_error === null ? null : <div class="wrong">Could not be told: {last_error}</div>}
                </div>
              )
            },
            ...(alert === undefined
              ? [
                  {
                    title: "Alert",
                    cell: ({ alert }: AlertFiring) => <a href={to(["alerts", alert.id])}>{alert.name}</a>
                  }
                ]
              : []),
            { title: "Began", isNumber: true, cell: ({ began_at }) => <Time at={began_at} /> },
            {
              title: "Over",
              isNumber: true,
              cell: ({ ended_at }) => (ended_at === null ? "" : <Time at={ended_at} />)
            }
          ]}
        />
      </Panel>
    </>
  )
}
