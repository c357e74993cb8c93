/** Alerts: what is watched, what is firing, and who is notified. */
import type { Alert as AlertOf } from "@signalbox/api/contract/Alerts"
import { Empty, Head, Panel, State, Tabs } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { Alert } from "./alerts/Alert.tsx"
import { Channels } from "./alerts/Channels.tsx"
import { EditAlert, NewAlert } from "./alerts/Edit.tsx"
import { Firings } from "./alerts/Firings.tsx"
import { ruleInWords } from "./alerts/rules.ts"
import { stateText } from "../kit/states.ts"
import * as text from "../text/text.ts"

const StateOf = ({ alert: { enabled, firing, muted } }: { readonly alert: AlertOf }) =>
  !enabled ? (
    <State state="offline">{text.common.disabled}</State>
  ) : muted !== null ? (
    <State state="muted" />
  ) : firing > 0 ? (
    <State state="failed">{stateText("firing")}</State>
  ) : (
    <State state="done">{text.alerts.normal}</State>
  )

const Rules = ({ canWrite }: { readonly canWrite: boolean }) => (
  <Panel flush>
    <List<AlertOf>
      label={text.screens.alerts}
      path="alerts"
      empty={
        <Empty title={text.alerts.none}>
          {canWrite ? <a href={to(["alerts", "new"])}>{text.alerts.new}</a> : text.alerts.noneReadOnly}
        </Empty>
      }
      columns={[
        {
          title: text.common.name,
          cell: ({ id, name }) => (
            <a class="name-link" href={to(["alerts", id])}>
              {name}
            </a>
          )
        },
        { title: text.alerts.condition, cell: ({ rule }) => ruleInWords(rule) },
        { title: text.alerts.notify, cell: ({ channels }) => channels.map(({ name }) => name).join(", ") },
        { title: text.common.state, isNumber: true, cell: (alert) => <StateOf alert={alert} /> }
      ]}
    />
  </Panel>
)

const parts = [
  { name: "", label: text.alerts.rules },
  { name: "firings", label: text.alerts.firings },
  { name: "channels", label: text.alerts.channels }
] as const

const Alerts = ({ part }: { readonly part: (typeof parts)[number]["name"] }) => {
  const canWrite = may("Alerts.write_alerts")
  return (
    <>
      <Head
        title={text.screens.alerts}
        actions={
          canWrite ? (
            <a class="button primary" href={to(["alerts", "new"])}>
              {text.alerts.new}
            </a>
          ) : undefined
        }
      />
      <Tabs
        label={text.alerts.sections}
        current={part}
        tabs={parts.map(({ label, name }) => ({
          name,
          label,
          href: to(name === "" ? ["alerts"] : ["alerts", name])
        }))}
      />
      {part === "channels" ? <Channels /> : part === "firings" ? <Firings /> : <Rules canWrite={canWrite} />}
    </>
  )
}

export default ({ path: [id = "", part] }: ScreenProps) => {
  if (id === "" || id === "firings" || id === "channels") return <Alerts key={id} part={id} />
  if (id === "new") return <NewAlert />
  return part === "edit" ? <EditAlert key={id} id={id} /> : <Alert key={id} id={id} />
}
