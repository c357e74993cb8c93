/** Firings of alerts, current and resolved. */
import type { AlertFiring } from "@signalbox/api/contract/Alerts"
import { Empty, Panel, State, Time } from "../../kit/Basics.tsx"
import { List } from "../../kit/List.tsx"
import { route, to } from "../../route.ts"
import { Choice, Filters } from "../work/Filter.tsx"
import { stateText } from "../../kit/states.ts"
import * as text from "../../text/text.ts"

const states: Readonly<Record<string, readonly [lamp: string, words: string]>> = {
  firing: ["failed", stateText("firing")],
  held: ["stopping", text.alerts.firingNotSent],
  ending: ["stopping", text.alerts.resolvedNotSent],
  over: ["done", stateText("resolved")]
}

export const Firings = ({ alert }: { readonly alert?: string }) => {
  const { state } = route.value.query
  return (
    <>
      <Filters>
        <Choice
          label={text.common.state}
          name="state"
          all={text.alerts.allFirings}
          options={Object.entries(states).map(([value, [, label]]) => ({ value, label }))}
        />
      </Filters>
      <Panel flush title={text.alerts.firings}>
        <List<AlertFiring>
          label={text.alerts.firings}
          path="alert-firings"
          query={{ alert_id: alert, state }}
          empty={
            <Empty title={state === undefined ? text.alerts.noFirings : text.alerts.noMatchingFirings}>
              {text.alerts.firingsHint}
            </Empty>
          }
          columns={[
            {
              title: text.common.state,
              cell: (firing) => {
                const [lamp, words] = states[firing.state] ?? ["waiting", firing.state]
                return <State state={lamp}>{words}</State>
              }
            },
            {
              title: text.common.message,
              cell: ({ last_error, message }) => (
                <div class="says">
                  {message}
                  {last_error === null ? null : <div class="wrong">{text.alerts.notSent(last_error)}</div>}
                </div>
              )
            },
            ...(alert === undefined
              ? [
                  {
                    title: text.alerts.alert,
                    cell: ({ alert }: AlertFiring) => <a href={to(["alerts", alert.id])}>{alert.name}</a>
                  }
                ]
              : []),
            { title: text.common.started, isNumber: true, cell: ({ began_at }) => <Time at={began_at} /> },
            {
              title: text.alerts.ended,
              isNumber: true,
              cell: ({ ended_at }) => (ended_at === null ? "" : <Time at={ended_at} />)
            }
          ]}
        />
      </Panel>
    </>
  )
}
