/** What was sent to a webhook, and what its receiver answered. */
import type { WebhookDelivery } from "@signalbox/api/contract/Webhooks"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { Copyable } from "../../kit/Copy.tsx"
import { Dialog } from "../../kit/Dialog.tsx"
import { List } from "../../kit/List.tsx"
import { route, to } from "../../route.ts"
import { may, say } from "../../state.ts"
import { count } from "../../words.ts"
import { Choice, Filters } from "../work/Filter.tsx"
import { wordsOf } from "./words.ts"

const stateWords: Readonly<Record<string, readonly [lamp: string, words: string]>> = {
  pending: ["in_progress", "on its way"],
  delivered: ["done", "delivered"],
  failed: ["failed", "given up"]
}

const StateOf = ({ delivery: { attempts, next_attempt_at, state } }: { readonly delivery: WebhookDelivery }) => {
  const [lamp, words] = stateWords[state] ?? ["waiting", state]
  return (
    <>
      <State state={state === "pending" && attempts > 0 ? "stopping" : lamp}>{words}</State>
      {next_attempt_at === null || attempts === 0 ? null : (
        <div class="quiet">
          next attempt <Time at={next_attempt_at} />
        </div>
      )}
    </>
  )
}

const answerOf = ({ error, response_status }: WebhookDelivery): string =>
  [response_status === null ? null : String(response_status), error].filter((part) => part !== null).join(": ")

const parsed = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

const Details = ({ delivery, onClose }: { readonly delivery: WebhookDelivery; readonly onClose: () => void }) => (
  <Dialog title={`It was told: ${wordsOf(delivery.event_type)}`} onClose={onClose}>
    <dl class="facts">
      <dt>Event</dt>
      <dd class="mono">{delivery.event_id}</dd>
      <dt>State</dt>
      <dd>
        <StateOf delivery={delivery} />
      </dd>
      <dt>Answer</dt>
      <dd>{answerOf(delivery) || "none yet"}</dd>
    </dl>
    <Copyable label="Body" text={parsed(delivery.body)} />
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        Close
      </Button>
    </div>
  </Dialog>
)

export const Deliveries = ({ webhook }: { readonly webhook: string }) => {
  const { state } = route.value.query
  const [shown, setShown] = useState<WebhookDelivery | null>(null)
  const [sent, setSent] = useState(0)
  const action = useAction()
  const canWrite = may("Webhooks.write_webhooks")
  const again = ({ id }: WebhookDelivery) =>
    void action.run(async () => {
      await call("POST", `webhooks/${webhook}/deliveries/${id}/redeliver`)
      setSent(sent + 1)
      say("The event is sent again, as a new delivery.")
    })
  return (
    <>
      <Filters>
        <Choice
          label="State"
          name="state"
          all="All deliveries"
          options={Object.entries(stateWords).map(([value, [, label]]) => ({ value, label }))}
        />
      </Filters>
      <Problem message={action.error} />
      <Panel title="Deliveries" flush>
        <List<WebhookDelivery>
          key={sent}
          label="Deliveries"
          path={`webhooks/${webhook}/deliveries`}
          query={{ state }}
          empty={
            state === undefined ? (
              <Empty title="Nothing was sent in the last 14 days">
                {canWrite ? "Send a test to see whether it arrives." : null}
              </Empty>
            ) : (
              <Empty title="No such deliveries">
                <a href={to(["webhooks", webhook])}>Show all</a>
              </Empty>
            )
          }
          columns={[
            {
              title: "Event",
              cell: (delivery) => <Button onClick={() => setShown(delivery)}>{wordsOf(delivery.event_type)}</Button>
            },
            { title: "State", cell: (delivery) => <StateOf delivery={delivery} /> },
            {
              title: "Answer",
              cell: (delivery) =>
                delivery.error === null ? answerOf(delivery) : <span class="wrong">{answerOf(delivery)}</span>
            },
            {
              title: "Run",
              cell: ({ process_run }) => (process_run === null ? "" : <a href={to(["runs", process_run.id])}>Run</a>)
            },
            { title: "Attempts", isNumber: true, cell: ({ attempts }) => count(attempts) },
            { title: "Last", isNumber: true, cell: ({ last_attempt_at }) => <Time at={last_attempt_at} /> },
            ...(canWrite
              ? [
                  {
                    title: "Again",
                    cell: (delivery: WebhookDelivery) =>
                      delivery.state === "pending" ? null : (
                        <Button disabled={action.isBusy} onClick={() => again(delivery)}>
                          Send again
                        </Button>
                      )
                  }
                ]
              : [])
          ]}
        />
      </Panel>
      {shown === null ? null : <Details delivery={shown} onClose={() => setShown(null)} />}
    </>
  )
}
