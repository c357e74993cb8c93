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
import { OnceDialog } from "../work/Once.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { newSecret } from "./newSecret.ts"
import { WebhookDialog } from "./WebhookDialog.tsx"
import { wordsOf } from "./words.ts"

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
      <OnceDialog title="Its secret" value={newSecret.value.secret} onClose={() => (newSecret.value = null)}>
        <p>
          The receiver checks with it that events come from here. <b>It is shown only now.</b>
        </p>
      </OnceDialog>
    )
  }
  if (asked === null) return null
  if (asked === "edit") return <WebhookDialog webhook={webhook} onDone={onDone} onClose={onClose} />
  if (asked === "rotate") {
    return (
      <Confirm
        title="Make a new secret"
        submit="Make a new one"
        onSubmit={async () => {
          const { secret } = await call<typeof WebhookOf.Encoded>("POST", `webhooks/${id}`, {
            body: { rotate_secret: true }
          })
          newSecret.value = { webhook: id, secret }
        }}
        onClose={onClose}
      >
        <p>
          For 24 hours <code>webhook-signature</code> is signed with the old one too. A receiver that checks{" "}
          <code>x-rc-signature</code> needs the new one immediately.
        </p>
      </Confirm>
    )
  }
  return (
    <DeleteDialog
      title="Delete the webhook"
      submit="Delete"
      done="The webhook is deleted."
      path={`webhooks/${id}`}
      list={["webhooks"]}
      onClose={onClose}
    >
      <p>
        Nothing is sent to <b>{webhook.endpoint}</b> any more; events that are on their way are dropped.
      </p>
    </DeleteDialog>
  )
}

const About = ({ onRotate, webhook }: { readonly webhook: WebhookListed; readonly onRotate: () => void }) => {
  const { enabled, enabled_events, process } = webhook
  const name = useProcesses().find(({ id }) => id === process?.id)?.name
  return (
    <Panel title="About">
      <dl class="facts">
        <dt>State</dt>
        <dd>{enabled ? <State state="done">on</State> : <State state="offline">off</State>}</dd>
        <dt>Of</dt>
        <dd>
          {process === null ? "all processes" : <a href={to(["processes", process.id])}>{name ?? "a process"}</a>}
        </dd>
        <dt>Told when</dt>
        <dd>{enabled_events.map(wordsOf).join(", ")}</dd>
        <dt>Secret</dt>
        <dd>
          shown once, when it is made.{" "}
          {may("Webhooks.write_webhooks") ? <Button onClick={onRotate}>New secret…</Button> : null}
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
  if (webhook === undefined) return <NotLoaded title="Webhook" error={error} />
  const { enabled, endpoint } = webhook
  const toggle = () =>
    void action.run(
      async () => {
        await call("POST", `webhooks/${id}`, { body: { enabled: !enabled } })
        reload()
      },
      enabled ? "The webhook is off: nothing is sent." : "The webhook is on."
    )
  const test = () =>
    void action.run(async () => {
      const { state } = await call<WebhookDelivery>("POST", `webhooks/${id}/test`)
      setTests(tests + 1)
      say(state === "delivered" ? "The test arrived." : "The test is sent: its answer is in the deliveries.")
    })
  return (
    <>
      <Head
        title={endpoint}
        actions={
          may("Webhooks.write_webhooks") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                Delete…
              </Button>
              <Button onClick={() => setAsked("edit")}>Change…</Button>
              <Button disabled={action.isBusy} onClick={toggle}>
                {enabled ? "Switch off" : "Switch on"}
              </Button>
              <Button kind="primary" disabled={action.isBusy} onClick={test}>
                Send a test
              </Button>
            </>
          ) : undefined
        }
      />
      <Problem message={action.error ?? error} />
      {enabled ? null : (
        <p class="notice late">
          <b>Nothing is sent.</b> Somebody has switched it off, or its receiver answered 410: gone.
        </p>
      )}
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
