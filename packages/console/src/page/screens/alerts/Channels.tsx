/** Channels: where the messages of alerts go. */
import type { AlertChannel, AlertChannelCreated } from "@signalbox/api/contract/AlertChannels"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { Button, Empty, Panel, State, Time } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { List } from "../../kit/List.tsx"
import { may } from "../../state.ts"
import { OnceDialog } from "../work/Once.tsx"
import { isKnownType, types } from "./channel.ts"
import { ChannelDialog } from "./ChannelDialog.tsx"

type Asked = { readonly what: "new" } | { readonly what: "edit" | "rotate" | "delete"; readonly channel: AlertChannel }

const Buttons = ({ channel, onAsk }: { readonly channel: AlertChannel; readonly onAsk: (asked: Asked) => void }) => (
  <span class="buttons">
    <Button aria-label={`Change ${channel.name}`} onClick={() => onAsk({ what: "edit", channel })}>
      Change…
    </Button>
    {channel.type === "webhook" ? (
      <Button aria-label={`New secret of ${channel.name}`} onClick={() => onAsk({ what: "rotate", channel })}>
        New secret…
      </Button>
    ) : null}
    <Button kind="danger" aria-label={`Delete ${channel.name}`} onClick={() => onAsk({ what: "delete", channel })}>
      Delete…
    </Button>
  </span>
)

const Health = ({ channel: { last_error, last_failed_at, last_sent_at } }: { readonly channel: AlertChannel }) =>
  last_error !== null ? (
    <>
      <State state="failed">
        failed <Time at={last_failed_at} />
      </State>
      <div class="wrong">{last_error}</div>
    </>
  ) : last_sent_at === null ? (
    <span class="quiet">nothing sent yet</span>
  ) : (
    <State state="done">
      arrived <Time at={last_sent_at} />
    </State>
  )

const Dialogs = ({
  asked,
  onChange,
  onClose: close
}: {
  readonly asked: Asked | null
  readonly onClose: () => void
  readonly onChange: () => void
}) => {
  const [secret, setSecret] = useState<string | null>(null)
  const done = (secret: string | null) => {
    setSecret(secret)
    onChange()
  }
  if (secret !== null) {
    return (
      <OnceDialog title="Its secret" value={secret} onClose={() => setSecret(null)}>
        <p>
          The receiver checks with it that messages come from here. <b>It is shown only now.</b>
        </p>
      </OnceDialog>
    )
  }
  if (asked === null) return null
  if (asked.what === "new") return <ChannelDialog onDone={done} onClose={close} />
  const { channel, what } = asked
  if (what === "edit") return <ChannelDialog channel={channel} onDone={done} onClose={close} />
  return what === "rotate" ? (
    <Confirm
      title="Make a new secret"
      submit="Make a new one"
      onSubmit={async () => {
        const path = `alert-channels/${channel.id}/rotate-secret`
        done((await call<typeof AlertChannelCreated.Encoded>("POST", path)).secret)
      }}
      onClose={close}
    >
      <p>
        For 24 hours <code>webhook-signature</code> is signed with the old one too. A receiver that checks{" "}
        <code>x-rc-signature</code> needs the new one immediately.
      </p>
    </Confirm>
  ) : (
    <Confirm
      title={`Delete ${channel.name}`}
      submit="Delete the channel"
      done={`${channel.name} is deleted.`}
      onSubmit={async () => {
        await call("DELETE", `alert-channels/${channel.id}`)
        onChange()
      }}
      onClose={close}
    >
      <p>Nothing is sent to it any more. A channel that an alert uses is kept: take it out of the alert first.</p>
    </Confirm>
  )
}

export const Channels = () => {
  const [asked, setAsked] = useState<Asked | null>(null)
  const [changes, setChanges] = useState(0)
  const canWrite = may("Alerts.write_alerts")
  return (
    <>
      {canWrite ? (
        <p>
          <Button kind="primary" onClick={() => setAsked({ what: "new" })}>
            Make a channel
          </Button>
        </p>
      ) : null}
      <Panel flush>
        <List<AlertChannel>
          key={changes}
          label="Channels"
          path="alert-channels"
          empty={
            <Empty title="No channels yet">
              A channel is where alerts send their messages: e-mail, Slack, Teams, ntfy or an address.
            </Empty>
          }
          columns={[
            { title: "Name", cell: ({ name }) => <b>{name}</b> },
            { title: "By", cell: ({ type }) => (isKnownType(type) ? types[type].label : type) },
            {
              title: "To",
              cell: ({ email, target }) => (email === null ? target : `${email.to.join(", ")} by ${target}`)
            },
            { title: "Last", cell: (channel) => <Health channel={channel} /> },
            ...(canWrite
              ? [{ title: "Do", cell: (channel: AlertChannel) => <Buttons channel={channel} onAsk={setAsked} /> }]
              : [])
          ]}
        />
      </Panel>
      <Dialogs asked={asked} onClose={() => setAsked(null)} onChange={() => setChanges((before) => before + 1)} />
    </>
  )
}
