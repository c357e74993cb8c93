/** One alert: what it watches, what it found, and what it told. */
import type { Alert as AlertOf, AlertMessage, AlertTest } from "@signalbox/api/contract/Alerts"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { SelectField, TextField } from "../../kit/Field.tsx"
import { List } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may, say } from "../../state.ts"
import { duration, exactly } from "../../format.ts"
import { stateText } from "../../kit/states.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { useProcesses } from "../work/Filter.tsx"
import { Firings } from "./Firings.tsx"
import { hoursInWords, ruleInWords, switched } from "./rules.ts"
import * as text from "../../text/text.ts"

const hour = 3_600_000
const periods = [
  { value: "1", label: text.common.hour1 },
  { value: "4", label: text.common.hours4 },
  { value: "24", label: text.common.day1 },
  { value: "168", label: text.common.week1 }
] as const

const MuteDialog = ({
  id,
  onClose,
  onDone
}: {
  readonly id: string
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const [hours, setHours] = useState<(typeof periods)[number]["value"]>("4")
  const [note, setNote] = useState("")
  return (
    <FormDialog
      title={text.alerts.mute}
      submit={text.alerts.mute}
      done={text.alerts.muted}
      onSubmit={async () => {
        const until = new Date(Date.now() + Number(hours) * hour).toISOString()
        await call("POST", `alerts/${id}/mute`, {
          body: { until, note: note.trim() || undefined }
        })
        onDone()
      }}
      onClose={onClose}
    >
      <p>{text.alerts.muteHint}</p>
      <SelectField label={text.common.duration} value={hours} onValue={setHours} options={periods} />
      <TextField label={text.alerts.muteNote} value={note} onValue={setNote} maxLength={2000} autocomplete="off" />
    </FormDialog>
  )
}

const ProcessOf = ({ id }: { readonly id: string }) => (
  <a href={to(["processes", id])}>
    {useProcesses().find((process) => process.id === id)?.name ?? text.webhooks.unknownProcess}
  </a>
)

const About = ({ alert }: { readonly alert: AlertOf }) => (
  <Panel title={text.common.details}>
    <dl class="facts">
      <dt>{text.alerts.condition}</dt>
      <dd>{ruleInWords(alert.rule)}</dd>
      {"process" in alert.rule && alert.rule.process !== undefined ? (
        <>
          <dt>{text.common.process}</dt>
          <dd>
            <ProcessOf id={alert.rule.process.id} />
          </dd>
        </>
      ) : null}
      <dt>{text.alerts.notify}</dt>
      <dd>{alert.channels.map(({ name }) => name).join(", ")}</dd>
      <dt>{text.alerts.repeat}</dt>
      <dd>
        {alert.repeat_seconds === null ? text.alerts.noRepeat : text.alerts.every(duration(alert.repeat_seconds))}
      </dd>
      <dt>{text.alerts.grouping}</dt>
      <dd>
        {alert.gather_seconds === undefined || alert.gather_seconds === 0
          ? text.alerts.noGrouping
          : text.alerts.oneMessageIn(duration(alert.gather_seconds))}
      </dd>
      <dt>{text.alerts.quietHours}</dt>
      <dd>{alert.quiet === null ? text.common.none : hoursInWords(alert.quiet)}</dd>
      <dt>{text.common.created}</dt>
      <dd>
        <Time at={alert.since} />
      </dd>
    </dl>
  </Panel>
)

const lamps: Readonly<Record<string, string>> = { pending: "in_progress", delivered: "done", failed: "failed" }

const Messages = ({ id }: { readonly id: string }) => (
  <Panel title={text.alerts.messages} flush>
    <List<AlertMessage>
      label={text.alerts.messages}
      path={`alerts/${id}/messages`}
      empty={<Empty title={text.alerts.noMessages}>{text.alerts.noMessagesHint}</Empty>}
      columns={[
        {
          title: text.common.state,
          cell: ({ state }) => (
            <State state={lamps[state] ?? "waiting"}>
              {state === "pending" ? stateText("pending") : stateText(state)}
            </State>
          )
        },
        { title: text.alerts.channel, cell: ({ channel }) => channel.name },
        {
          title: text.common.message,
          cell: ({ error, text }) => (
            <div class="says">
              {text}
              {error === null ? null : <div class="wrong">{error}</div>}
            </div>
          )
        },
        { title: text.common.created, isNumber: true, cell: ({ created_at }) => <Time at={created_at} /> }
      ]}
    />
  </Panel>
)

export const Alert = ({ id }: { readonly id: string }) => {
  const { data: alert, error, reload } = useResource<AlertOf>(`alerts/${id}`)
  const [asked, setAsked] = useState<"mute" | "delete" | null>(null)
  const [tests, setTests] = useState(0)
  const action = useAction()
  if (alert === undefined) return <NotLoaded title={text.alerts.alert} error={error} />
  const { enabled, firing, muted, name } = alert
  const close = () => setAsked(null)
  const send = (path: string, body: object | undefined, done: string) =>
    void action.run(async () => {
      await call("POST", path, body === undefined ? {} : { body })
      reload()
    }, done)
  const test = () =>
    void action.run(async () => {
      const { messages } = await call<typeof AlertTest.Encoded>("POST", `alerts/${id}/test`)
      setTests(tests + 1)
      say(text.alerts.testSent(messages.length))
    })
  return (
    <>
      <Head
        title={name}
        actions={
          may("Alerts.write_alerts") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                {text.common.delete}
              </Button>
              <a class="button" href={to(["alerts", id, "edit"])}>
                {text.common.edit}
              </a>
              <Button
                disabled={action.isBusy}
                onClick={() =>
                  send(`alerts/${id}`, switched(alert), enabled ? text.alerts.disabled : text.alerts.enabled)
                }
              >
                {enabled ? text.common.disable : text.common.enable}
              </Button>
              {muted === null ? (
                <Button onClick={() => setAsked("mute")}>{text.alerts.muteMore}</Button>
              ) : (
                <Button onClick={() => send(`alerts/${id}/unmute`, undefined, "The alert is not muted any more.")}>
                  {text.alerts.unmute}
                </Button>
              )}
              <Button kind="primary" disabled={action.isBusy} onClick={test}>
                {text.alerts.sendTest}
              </Button>
            </>
          ) : undefined
        }
      >
        {!enabled
          ? text.common.disabled
          : firing === 0
            ? text.alerts.notFiring
            : firing === 1
              ? text.alerts.firingCount(firing)
              : text.alerts.firingCount(firing)}
      </Head>
      <Problem message={action.error ?? error} />
      {muted === null ? null : (
        <p class="notice late">
          {text.alerts.mutedUntil(
            <b>{text.alerts.mutedBy(muted.by.name)}</b>,
            exactly(muted.until),
            muted.note === null ? null : (
              <>
                <br />
                {muted.note}
              </>
            )
          )}
        </p>
      )}
      <div class="two">
        <div class="stack">
          <div>
            <Firings alert={id} />
          </div>
          <Messages key={tests} id={id} />
        </div>
        <div class="stack">
          <About alert={alert} />
        </div>
      </div>
      {asked === "mute" ? (
        <MuteDialog id={id} onDone={reload} onClose={close} />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={text.common.deleteOf(name)}
          submit={text.alerts.deleteAlert}
          done={text.alerts.deleted(name)}
          path={`alerts/${id}`}
          list={["alerts"]}
          onClose={close}
        >
          <p>{text.alerts.deleteHint}</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
