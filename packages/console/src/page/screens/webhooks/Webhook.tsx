/** One webhook: its events, its deliveries, and its secret. */
import type { Webhook as WebhookOf, WebhookDelivery, WebhookListed } from "@signalbox/api/contract/Webhooks"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Head, Panel, Problem, State } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may, say } from "../../state.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { useProcesses } from "../work/Filter.tsx"
import { ShownOnceDialog } from "../work/ShownOnce.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { newSecret } from "./newSecret.ts"
import { WebhookDialog } from "./WebhookDialog.tsx"
import { wordsOf } from "./events.ts"
import * as text from "../../text/text.ts"

const Dialogs = ({
  asked,
  onClose,
  onDone,
  webhook
}: {
  readonly asked: "edit" | "rotate" | "delete" | null
  readonly webhook: WebhookListed
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const { id } = webhook
  if (newSecret.value?.webhook === id) {
    return (
      <ShownOnceDialog
        title={text.webhooks.signingSecret}
        value={newSecret.value.secret}
        onClose={() => (newSecret.value = null)}
      >
        <p>{text.common.secretHint(<b>{text.common.copySecret}</b>)}</p>
      </ShownOnceDialog>
    )
  }
  if (asked === null) return null
  if (asked === "edit") return <WebhookDialog webhook={webhook} onDone={onDone} onClose={onClose} />
  if (asked === "rotate") {
    return (
      <Confirm
        title={text.common.rotateTitle}
        submit={text.common.rotate}
        onSubmit={async () => {
          const { secret } = await call<typeof WebhookOf.Encoded>("POST", `webhooks/${id}`, {
            body: { rotate_secret: true }
          })
          newSecret.value = { webhook: id, secret }
        }}
        onClose={onClose}
      >
        <p>{text.common.rotateHint(<code>webhook-signature</code>, <code>x-rc-signature</code>)}</p>
      </Confirm>
    )
  }
  return (
    <DeleteDialog
      title={text.webhooks.deleteWebhook}
      submit={text.webhooks.deleteWebhook}
      done={text.webhooks.deleted}
      path={`webhooks/${id}`}
      list={["webhooks"]}
      onClose={onClose}
    >
      <p>{text.webhooks.deleteHint(<b>{webhook.endpoint}</b>)}</p>
    </DeleteDialog>
  )
}

const About = ({ onRotate, webhook }: { readonly webhook: WebhookListed; readonly onRotate: () => void }) => {
  const { enabled, enabled_events, process } = webhook
  const name = useProcesses().find(({ id }) => id === process?.id)?.name
  return (
    <Panel title={text.common.details}>
      <dl class="facts">
        <dt>{text.common.state}</dt>
        <dd>
          {enabled ? (
            <State state="done">{text.common.enabled}</State>
          ) : (
            <State state="offline">{text.common.disabled}</State>
          )}
        </dd>
        <dt>{text.common.process}</dt>
        <dd>
          {process === null ? (
            text.webhooks.allProcesses
          ) : (
            <a href={to(["processes", process.id])}>{name ?? text.webhooks.unknownProcess}</a>
          )}
        </dd>
        <dt>{text.common.events}</dt>
        <dd>{enabled_events.map(wordsOf).join(", ")}</dd>
        <dt>{text.common.secret}</dt>
        <dd>
          {text.webhooks.shownOnce(
            may("Webhooks.write_webhooks") ? <Button onClick={onRotate}>{text.common.rotateMore}</Button> : null
          )}
        </dd>
      </dl>
    </Panel>
  )
}

export const Webhook = ({ id }: { readonly id: string }) => {
  const { data: webhook, error, reload } = useResource<WebhookListed>(`webhooks/${id}`)
  const [asked, setAsked] = useState<"edit" | "rotate" | "delete" | null>(null)
  const [tests, setTests] = useState(0)
  const action = useAction()
  if (webhook === undefined) return <NotLoaded title={text.webhooks.webhook} error={error} />
  const { enabled, endpoint } = webhook
  const toggle = () =>
    void action.run(
      async () => {
        await call("POST", `webhooks/${id}`, { body: { enabled: !enabled } })
        reload()
      },
      enabled ? text.webhooks.disabled : text.webhooks.enabled
    )
  const test = () =>
    void action.run(async () => {
      const { state } = await call<WebhookDelivery>("POST", `webhooks/${id}/test`)
      setTests(tests + 1)
      say(state === "delivered" ? text.webhooks.testDelivered : text.webhooks.testSent)
    })
  return (
    <>
      <Head
        title={endpoint}
        actions={
          may("Webhooks.write_webhooks") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                {text.common.delete}
              </Button>
              <Button onClick={() => setAsked("edit")}>{text.common.editMore}</Button>
              <Button disabled={action.isBusy} onClick={toggle}>
                {enabled ? text.common.disable : text.common.enable}
              </Button>
              <Button kind="primary" disabled={action.isBusy} onClick={test}>
                {text.webhooks.sendTest}
              </Button>
            </>
          ) : undefined
        }
      />
      <Problem message={action.error ?? error} />
      {enabled ? null : <p class="notice late">{text.webhooks.disabledHint(<b>{text.webhooks.disabled}</b>)}</p>}
      <div class="stack">
        <About webhook={webhook} onRotate={() => setAsked("rotate")} />
        <div>
          <Deliveries key={tests} webhook={id} />
        </div>
      </div>
      <Dialogs asked={asked} webhook={webhook} onDone={reload} onClose={() => setAsked(null)} />
    </>
  )
}
