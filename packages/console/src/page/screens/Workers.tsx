/** Workers, the machines that run tasks, and their groups. */
import type { Worker as WorkerOf } from "@signalbox/api/contract/Workers"
import { useState } from "preact/hooks"
import { Button, Empty, Head, Panel, Tabs } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { Group } from "./workers/Group.tsx"
import { Groups, NewGroup } from "./workers/Groups.tsx"
import { LinkDialog } from "./workers/Link.tsx"
import { InHand, Labels, LastSeen, WorkerState } from "./workers/State.tsx"
import { Worker } from "./workers/Worker.tsx"

const Machines = () => (
  <Panel flush>
    <List<WorkerOf>
      label="Workers"
      path="workers"
      empty={
        <Empty title="No workers yet">
          A worker is the program that runs robots on a machine; nothing runs before one is linked.
          {may("Workers.write_workers") ? " “Link a worker” makes the command to paste there." : ""}
        </Empty>
      }
      columns={[
        {
          title: "Worker",
          cell: ({ id, labels, name }) => (
            <>
              <a class="name-link" href={to(["workers", id])}>
                {name}
              </a>{" "}
              <Labels labels={labels} />
            </>
          )
        },
        {
          title: "State",
          cell: (worker) => (
            <>
              <WorkerState worker={worker} />
              {worker.paused?.note == null ? null : <div class="quiet">{worker.paused.note}</div>}
            </>
          )
        },
        { title: "Working on", cell: (worker) => <InHand worker={worker} /> },
        {
          title: "Groups",
          cell: ({ worker_groups }) =>
            worker_groups.map(({ id, name }) => (
              <div key={id}>
                <a href={to(["workers", "groups", id])}>{name}</a>
              </div>
            ))
        },
        { title: "Last heard of", isNumber: true, cell: (worker) => <LastSeen worker={worker} /> }
      ]}
    />
  </Panel>
)

const Overview = ({ tab }: { readonly tab: "machines" | "groups" }) => {
  const [asked, setAsked] = useState<"link" | "group" | null>(null)
  const close = () => setAsked(null)
  return (
    <>
      <Head
        title={tab === "groups" ? "Groups of workers" : "Workers"}
        actions={
          may("Workers.write_workers") ? (
            tab === "groups" ? (
              <Button kind="primary" onClick={() => setAsked("group")}>
                Make a group
              </Button>
            ) : (
              <Button kind="primary" onClick={() => setAsked("link")}>
                Link a worker
              </Button>
            )
          ) : undefined
        }
      />
      <Tabs
        label="Workers and groups"
        current={tab}
        tabs={[
          { name: "machines", label: "Workers", href: to(["workers"]) },
          { name: "groups", label: "Groups", href: to(["workers", "groups"]) }
        ]}
      />
      {tab === "groups" ? <Groups /> : <Machines />}
      {asked === "link" ? <LinkDialog onClose={close} /> : asked === "group" ? <NewGroup onClose={close} /> : null}
    </>
  )
}

export default ({ path: [first, second] }: ScreenProps) =>
  first === undefined ? (
    <Overview tab="machines" />
  ) : first !== "groups" ? (
    <Worker key={first} id={first} />
  ) : second === undefined ? (
    <Overview tab="groups" />
  ) : (
    <Group key={second} id={second} />
  )
