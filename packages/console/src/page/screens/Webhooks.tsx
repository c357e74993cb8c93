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
import { wordsOf } from "./webhooks/events.ts"
import { useProcesses } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const Webhooks = () => {
  const [isNew, setNew] = useState(false)
  const canWrite = may("Webhooks.write_webhooks")
  const processes = useProcesses()
  return (
    <>
      <Head
        title={text.screens.webhooks}
        actions={
          canWrite ? (
            <Button kind="primary" onClick={() => setNew(true)}>
              {text.webhooks.new}
            </Button>
          ) : undefined
        }
      />
      <Panel flush>
        <List<WebhookListed>
          label={text.screens.webhooks}
          path="webhooks"
          empty={
            <Empty title={text.webhooks.none}>
              {text.webhooks.noneHint}{" "}
              {canWrite ? <Button onClick={() => setNew(true)}>{text.webhooks.new}</Button> : null}
            </Empty>
          }
          columns={[
            {
              title: text.webhooks.url,
              cell: ({ endpoint, id }) => (
                <a class="name-link" href={to(["webhooks", id])}>
                  {endpoint}
                </a>
              )
            },
            {
              title: text.common.process,
              cell: ({ process }) =>
                process === null ? (
                  text.webhooks.allProcesses
                ) : (
                  <a href={to(["processes", process.id])}>
                    {processes.find(({ id }) => id === process.id)?.name ?? text.webhooks.unknownProcess}
                  </a>
                )
            },
            { title: text.common.events, cell: ({ enabled_events }) => enabled_events.map(wordsOf).join(", ") },
            {
              title: text.common.state,
              isNumber: true,
              cell: ({ enabled }) =>
                enabled ? (
                  <State state="done">{text.common.enabled}</State>
                ) : (
                  <State state="offline">{text.common.disabled}</State>
                )
            }
          ]}
        />
      </Panel>
      {isNew ? <WebhookDialog onDone={() => {}} onClose={() => setNew(false)} /> : null}
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Webhooks /> : <Webhook key={id} id={id} />)
