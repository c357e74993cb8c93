/** Workers, the machines that run tasks, their groups, and the nodes of the control room. */
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
import { Nodes } from "./workers/Nodes.tsx"
import { CurrentWork, Labels, LastSeen, WorkerState } from "./workers/State.tsx"
import { Worker } from "./workers/Worker.tsx"
import * as text from "../text/text.ts"

const Machines = () => (
  <Panel flush>
    <List<WorkerOf>
      label={text.screens.workers}
      path="workers"
      empty={<Empty title={text.workers.none}>{text.workers.noneHint}</Empty>}
      columns={[
        {
          title: text.workers.worker,
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
          title: text.common.state,
          cell: (worker) => (
            <>
              <WorkerState worker={worker} />
              {worker.paused?.note == null ? null : <div class="quiet">{worker.paused.note}</div>}
            </>
          )
        },
        { title: text.workers.currentWork, cell: (worker) => <CurrentWork worker={worker} /> },
        {
          title: text.workers.groups,
          cell: ({ worker_groups }) =>
            worker_groups.map(({ id, name }) => (
              <div key={id}>
                <a href={to(["workers", "groups", id])}>{name}</a>
              </div>
            ))
        },
        { title: text.workers.lastSeen, isNumber: true, cell: (worker) => <LastSeen worker={worker} /> }
      ]}
    />
  </Panel>
)

const titles = { machines: text.screens.workers, groups: text.workers.workerGroups, nodes: text.workers.nodes }

const Overview = ({ tab }: { readonly tab: keyof typeof titles }) => {
  const [asked, setAsked] = useState<"link" | "group" | null>(null)
  const close = () => setAsked(null)
  return (
    <>
      <Head
        title={titles[tab]}
        actions={
          may("Workers.write_workers") && tab !== "nodes" ? (
            tab === "groups" ? (
              <Button kind="primary" onClick={() => setAsked("group")}>
                {text.workers.newGroup}
              </Button>
            ) : (
              <Button kind="primary" onClick={() => setAsked("link")}>
                {text.workers.link}
              </Button>
            )
          ) : undefined
        }
      />
      <Tabs
        label={text.workers.workersAndGroups}
        current={tab}
        tabs={[
          { name: "machines", label: text.screens.workers, href: to(["workers"]) },
          { name: "groups", label: text.workers.groups, href: to(["workers", "groups"]) },
          { name: "nodes", label: text.workers.nodes, href: to(["workers", "nodes"]) }
        ]}
      />
      {tab === "groups" ? <Groups /> : tab === "nodes" ? <Nodes /> : <Machines />}
      {asked === "link" ? <LinkDialog onClose={close} /> : asked === "group" ? <NewGroup onClose={close} /> : null}
    </>
  )
}

export default ({ path: [first, second] }: ScreenProps) =>
  first === undefined ? (
    <Overview tab="machines" />
  ) : first === "nodes" ? (
    <Overview tab="nodes" />
  ) : first !== "groups" ? (
    <Worker key={first} id={first} />
  ) : second === undefined ? (
    <Overview tab="groups" />
  ) : (
    <Group key={second} id={second} />
  )
