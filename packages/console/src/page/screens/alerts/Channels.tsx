/** Channels: where the messages of alerts go. */
import type { AlertChannel, AlertChannelCreated } from "@signalbox/api/contract/AlertChannels"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { Button, Empty, Panel, State, Time } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { List } from "../../kit/List.tsx"
import { may } from "../../state.ts"
import { ShownOnceDialog } from "../work/ShownOnce.tsx"
import { isKnownType, types } from "./channel.ts"
import { ChannelDialog } from "./ChannelDialog.tsx"
import * as text from "../../text/text.ts"

type Asked = { readonly what: "new" } | { readonly what: "edit" | "rotate" | "delete"; readonly channel: AlertChannel }

const Buttons = ({ channel, onAsk }: { readonly channel: AlertChannel; readonly onAsk: (asked: Asked) => void }) => (
  <span class="buttons">
    <Button aria-label={text.common.editOf(channel.name)} onClick={() => onAsk({ what: "edit", channel })}>
      {text.common.editMore}
    </Button>
    {channel.type === "webhook" ? (
      <Button aria-label={text.alerts.rotateOf(channel.name)} onClick={() => onAsk({ what: "rotate", channel })}>
        {text.common.rotateMore}
      </Button>
    ) : null}
    <Button
      kind="danger"
      aria-label={text.common.deleteOf(channel.name)}
      onClick={() => onAsk({ what: "delete", channel })}
    >
      {text.common.delete}
    </Button>
  </span>
)

const Health = ({ channel: { last_error, last_failed_at, last_sent_at } }: { readonly channel: AlertChannel }) =>
  last_error !== null ? (
    <>
      <State state="failed">{text.alerts.failedAt(<Time at={last_failed_at} />)}</State>
      <div class="wrong">{last_error}</div>
    </>
  ) : last_sent_at === null ? (
    <span class="quiet">{text.alerts.noneSent}</span>
  ) : (
    <State state="done">{text.alerts.deliveredAt(<Time at={last_sent_at} />)}</State>
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
      <ShownOnceDialog title={text.webhooks.signingSecret} value={secret} onClose={() => setSecret(null)}>
        <p>{text.common.secretHint(<b>{text.common.copySecret}</b>)}</p>
      </ShownOnceDialog>
    )
  }
  if (asked === null) return null
  if (asked.what === "new") return <ChannelDialog onDone={done} onClose={close} />
  const { channel, what } = asked
  if (what === "edit") return <ChannelDialog channel={channel} onDone={done} onClose={close} />
  return what === "rotate" ? (
    <Confirm
      title={text.common.rotateTitle}
      submit={text.common.rotate}
      onSubmit={async () => {
        const path = `alert-channels/${channel.id}/rotate-secret`
        done((await call<typeof AlertChannelCreated.Encoded>("POST", path)).secret)
      }}
      onClose={close}
    >
      <p>{text.common.rotateHint(<code>webhook-signature</code>, <code>x-rc-signature</code>)}</p>
    </Confirm>
  ) : (
    <Confirm
      title={text.common.deleteOf(channel.name)}
      submit={text.alerts.deleteChannel}
      done={text.alerts.channelDeleted(channel.name)}
      onSubmit={async () => {
        await call("DELETE", `alert-channels/${channel.id}`)
        onChange()
      }}
      onClose={close}
    >
      <p>{text.alerts.deleteChannelHint}</p>
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
            {text.alerts.newChannel}
          </Button>
        </p>
      ) : null}
      <Panel flush>
        <List<AlertChannel>
          key={changes}
          label={text.alerts.channels}
          path="alert-channels"
          empty={<Empty title={text.alerts.noChannels}>{text.alerts.noChannelsHint}</Empty>}
          columns={[
            { title: text.common.name, cell: ({ name }) => <b>{name}</b> },
            { title: text.common.type, cell: ({ type }) => (isKnownType(type) ? types[type].label : type) },
            {
              title: text.alerts.target,
              cell: ({ email, target }) => (email === null ? target : text.alerts.via(email.to.join(", "), target))
            },
            { title: text.alerts.lastMessage, cell: (channel) => <Health channel={channel} /> },
            ...(canWrite
              ? [
                  {
                    title: text.common.actions,
                    cell: (channel: AlertChannel) => <Buttons channel={channel} onAsk={setAsked} />
                  }
                ]
              : [])
          ]}
        />
      </Panel>
      <Dialogs asked={asked} onClose={() => setAsked(null)} onChange={() => setChanges((before) => before + 1)} />
    </>
  )
}
