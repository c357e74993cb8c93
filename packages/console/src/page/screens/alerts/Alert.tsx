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
import { count, duration, exactly, sentence, several } from "../../words.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { useProcesses } from "../work/Filter.tsx"
import { Firings } from "./Firings.tsx"
import { hoursInWords, ruleInWords, switched } from "./rules.ts"

const hour = 3_600_000
const periods = [
  { value: "1", label: "1 hour" },
  { value: "4", label: "4 hours" },
  { value: "24", label: "1 day" },
  { value: "168", label: "1 week" }
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
      title="Mute this alert"
      submit="Mute"
      done="The alert is muted."
      onSubmit={async () => {
        const until = new Date(Date.now() + Number(hours) * hour).toISOString()
        await call("POST", `alerts/${id}/mute`, {
          body: { until, note: note.trim() || undefined }
        })
        onDone()
      }}
      onClose={onClose}
    >
      <p>Nothing is sent until then. What is still the case then is told then.</p>
      <SelectField label="For" value={hours} onValue={setHours} options={periods} />
      <TextField label="Why" value={note} onValue={setNote} maxLength={2000} autocomplete="off" />
    </FormDialog>
  )
}

const ProcessOf = ({ id }: { readonly id: string }) => (
  <a href={to(["processes", id])}>{useProcesses().find((process) => process.id === id)?.name ?? "a process"}</a>
)

const About = ({ alert }: { readonly alert: AlertOf }) => (
  <Panel title="About">
    <dl class="facts">
      <dt>Tells when</dt>
      <dd>{ruleInWords(alert.rule)}</dd>
      {"process" in alert.rule && alert.rule.process !== undefined ? (
        <>
          <dt>Of</dt>
          <dd>
            <ProcessOf id={alert.rule.process.id} />
          </dd>
        </>
      ) : null}
      <dt>Tells</dt>
      <dd>{alert.channels.map(({ name }) => name).join(", ")}</dd>
      <dt>Repeats</dt>
      <dd>{alert.repeat_seconds === null ? "not" : `every ${duration(alert.repeat_seconds)}`}</dd>
      <dt>Gathered</dt>
      <dd>
        {alert.gather_seconds === undefined || alert.gather_seconds === 0
          ? "not"
          : `one message in ${duration(alert.gather_seconds)} for each channel`}
      </dd>
      <dt>Quiet</dt>
      <dd>{alert.quiet === null ? "never" : hoursInWords(alert.quiet)}</dd>
      <dt>Watches since</dt>
      <dd>
        <Time at={alert.since} />
      </dd>
    </dl>
  </Panel>
)

const lamps: Readonly<Record<string, string>> = { pending: "in_progress", delivered: "done", failed: "failed" }

const Messages = ({ id }: { readonly id: string }) => (
  <Panel title="What it told" flush>
    <List<AlertMessage>
      label="Messages"
      path={`alerts/${id}/messages`}
      empty={<Empty title="Nothing yet">Send a test to see whether it arrives.</Empty>}
      columns={[
        {
          title: "State",
          cell: ({ state }) => (
            <State state={lamps[state] ?? "waiting"}>{state === "pending" ? "on its way" : sentence(state)}</State>
          )
        },
        { title: "To", cell: ({ channel }) => channel.name },
        {
          title: "What",
          cell: ({ error, text }) => (
            <div class="says">
              {text}
              {error === null ? null : <div class="wrong">{error}</div>}
            </div>
          )
        },
        { title: "When", isNumber: true, cell: ({ created_at }) => <Time at={created_at} /> }
      ]}
    />
  </Panel>
)

export const Alert = ({ id }: { readonly id: string }) => {
  const { data: alert, error, reload } = useResource<AlertOf>(`alerts/${id}`)
  const [asked, setAsked] = useState<"mute" | "delete" | null>(null)
  const [tests, setTests] = useState(0)
  const action = useAction()
  if (alert === undefined) return <NotLoaded title="Alert" error={error} />
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
      say(`A test is sent to ${several(messages.length, "channel")}: see below whether it arrives.`)
    })
  return (
    <>
      <Head
        title={name}
        actions={
          may("Alerts.write_alerts") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                Delete…
              </Button>
              <a class="button" href={to(["alerts", id, "edit"])}>
                Edit
              </a>
              <Button
                disabled={action.isBusy}
                onClick={() =>
                  send(`alerts/${id}`, switched(alert), enabled ? "The alert is off." : "The alert is on.")
                }
              >
                {enabled ? "Switch off" : "Switch on"}
              </Button>
              {muted === null ? (
                <Button onClick={() => setAsked("mute")}>Mute…</Button>
              ) : (
                <Button onClick={() => send(`alerts/${id}/unmute`, undefined, "The alert is not muted any more.")}>
                  End the mute
                </Button>
              )}
              <Button kind="primary" disabled={action.isBusy} onClick={test}>
                Send a test
              </Button>
            </>
          ) : undefined
        }
      >
        {!enabled
          ? "off"
          : firing === 0
            ? "nothing is firing"
            : firing === 1
              ? "one is firing"
              : `${count(firing)} are firing`}
      </Head>
      <Problem message={action.error ?? error} />
      {muted === null ? null : (
        <p class="notice late">
          <b>Muted by {muted.by.name}</b> until {exactly(muted.until)}
          {muted.note === null ? null : (
            <>
              <br />
              {muted.note}
            </>
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
          title={`Delete ${name}`}
          submit="Delete the alert"
          done={`${name} is deleted.`}
          path={`alerts/${id}`}
          list={["alerts"]}
          onClose={close}
        >
          <p>Nobody is told any more, and what it found is deleted with it. This cannot be undone.</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
