/** Webhooks: the addresses of other systems that are told what happens. */
import type { WebhookListed } from "@signalbox/api/contract/Webhooks"
import { useState } from "preact/hooks"
import { Button, Empty, Head, Panel, State } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { Webhook } from "./webhooks/Webhook.tsx"
import { WebhookDialog } from "./webhooks/WebhookDialog.tsx"
import { wordsOf } from "./webhooks/words.ts"
import { useProcesses } from "./work/Filter.tsx"

const Webhooks = () => {
  const [isNew, setNew] = useState(false)
  const canWrite = may("Webhooks.write_webhooks")
  const processes = useProcesses()
  return (
    <>
      <Head
        title="Webhooks"
        actions={
          canWrite ? (
            <Button kind="primary" onClick={() => setNew(true)}>
              Make a webhook
            </Button>
          ) : undefined
        }
      />
      <Panel flush>
        <List<WebhookListed>
          label="Webhooks"
          path="webhooks"
          empty={
            <Empty title="No webhooks yet">
              A webhook tells another system when runs start, complete, or need a person.{" "}
              {canWrite ? "Make one here." : null}
            </Empty>
          }
          columns={[
            {
              title: "Address",
              cell: ({ endpoint, id }) => (
                <a class="name-link" href={to(["webhooks", id])}>
                  {endpoint}
                </a>
              )
            },
            {
              title: "Of",
              cell: ({ process }) =>
                process === null ? (
                  "all processes"
                ) : (
                  <a href={to(["processes", process.id])}>
                    {processes.find(({ id }) => id === process.id)?.name ?? "a process"}
                  </a>
                )
            },
            { title: "Told when", cell: ({ enabled_events }) => enabled_events.map(wordsOf).join(", ") },
            {
              title: "State",
              isNumber: true,
              cell: ({ enabled }) => (enabled ? <State state="done">on</State> : <State state="offline">off</State>)
            }
          ]}
        />
      </Panel>
      {isNew ? <WebhookDialog onDone={() => {}} onClose={() => setNew(false)} /> : null}
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Webhooks /> : <Webhook key={id} id={id} />)
