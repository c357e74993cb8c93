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

const StateOf = ({ alert: { enabled, firing, muted } }: { readonly alert: AlertOf }) =>
  !enabled ? (
    <State state="offline">off</State>
  ) : muted !== null ? (
    <State state="muted" />
  ) : firing > 0 ? (
    <State state="failed">firing</State>
  ) : (
    <State state="done">watches</State>
  )

const Rules = ({ canWrite }: { readonly canWrite: boolean }) => (
  <Panel flush>
    <List<AlertOf>
      label="Alerts"
      path="alerts"
      empty={
        <Empty title="No alerts yet">
          {canWrite ? (
            <a href={to(["alerts", "new"])}>Have somebody told when a run needs a person, or when work stands still</a>
          ) : (
            "An alert tells somebody when a run needs a person, or when work stands still."
          )}
        </Empty>
      }
      columns={[
        {
          title: "Name",
          cell: ({ id, name }) => (
            <a class="name-link" href={to(["alerts", id])}>
              {name}
            </a>
          )
        },
        { title: "Tells when", cell: ({ rule }) => ruleInWords(rule) },
        { title: "Tells", cell: ({ channels }) => channels.map(({ name }) => name).join(", ") },
        { title: "State", isNumber: true, cell: (alert) => <StateOf alert={alert} /> }
      ]}
    />
  </Panel>
)

const parts = [
  { name: "", label: "Watched" },
  { name: "firings", label: "Found" },
  { name: "channels", label: "Channels" }
] as const

const Alerts = ({ part }: { readonly part: (typeof parts)[number]["name"] }) => {
  const canWrite = may("Alerts.write_alerts")
  return (
    <>
      <Head
        title="Alerts"
        actions={
          canWrite ? (
            <a class="button primary" href={to(["alerts", "new"])}>
              Make an alert
            </a>
          ) : undefined
        }
      />
      <Tabs
        label="Parts"
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
