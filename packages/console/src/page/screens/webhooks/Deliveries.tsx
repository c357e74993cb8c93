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
import { count } from "../../format.ts"
import { stateText } from "../../kit/states.ts"
import { Choice, Filters } from "../work/Filter.tsx"
import { wordsOf } from "./events.ts"
import * as text from "../../text/text.ts"

const stateWords: Readonly<Record<string, readonly [lamp: string, words: string]>> = {
  pending: ["in_progress", stateText("pending")],
  delivered: ["done", text.webhooks.delivered],
  failed: ["failed", stateText("failed")]
}

const StateOf = ({ delivery: { attempts, next_attempt_at, state } }: { readonly delivery: WebhookDelivery }) => {
  const [lamp, words] = stateWords[state] ?? ["waiting", state]
  return (
    <>
      <State state={state === "pending" && attempts > 0 ? "stopping" : lamp}>{words}</State>
      {next_attempt_at === null || attempts === 0 ? null : (
        <div class="quiet">{text.webhooks.nextAttempt(<Time at={next_attempt_at} />)}</div>
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
  <Dialog title={text.webhooks.delivery(wordsOf(delivery.event_type))} onClose={onClose}>
    <dl class="facts">
      <dt>{text.webhooks.eventId}</dt>
      <dd class="mono">{delivery.event_id}</dd>
      <dt>{text.common.state}</dt>
      <dd>
        <StateOf delivery={delivery} />
      </dd>
      <dt>{text.webhooks.response}</dt>
      <dd>{answerOf(delivery) || text.webhooks.noResponse}</dd>
    </dl>
    <Copyable label={text.webhooks.payload} text={parsed(delivery.body)} />
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        {text.common.close}
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
      say(text.webhooks.redelivered)
    })
  return (
    <>
      <Filters>
        <Choice
          label={text.common.state}
          name="state"
          all={text.webhooks.allDeliveries}
          options={Object.entries(stateWords).map(([value, [, label]]) => ({ value, label }))}
        />
      </Filters>
      <Problem message={action.error} />
      <Panel title={text.webhooks.deliveries} flush>
        <List<WebhookDelivery>
          key={sent}
          label={text.webhooks.deliveries}
          path={`webhooks/${webhook}/deliveries`}
          query={{ state }}
          empty={
            state === undefined ? (
              <Empty title={text.webhooks.noDeliveries}>{canWrite ? text.webhooks.noDeliveriesHint : null}</Empty>
            ) : (
              <Empty title={text.webhooks.noMatch}>
                <a href={to(["webhooks", webhook])}>{text.webhooks.viewAll}</a>
              </Empty>
            )
          }
          columns={[
            {
              title: text.common.event,
              cell: (delivery) => <Button onClick={() => setShown(delivery)}>{wordsOf(delivery.event_type)}</Button>
            },
            { title: text.common.state, cell: (delivery) => <StateOf delivery={delivery} /> },
            {
              title: text.webhooks.response,
              cell: (delivery) =>
                delivery.error === null ? answerOf(delivery) : <span class="wrong">{answerOf(delivery)}</span>
            },
            {
              title: text.common.run,
              cell: ({ process_run }) =>
                process_run === null ? "" : <a href={to(["runs", process_run.id])}>{text.common.run}</a>
            },
            { title: text.webhooks.attempts, isNumber: true, cell: ({ attempts }) => count(attempts) },
            {
              title: text.webhooks.lastAttempt,
              isNumber: true,
              cell: ({ last_attempt_at }) => <Time at={last_attempt_at} />
            },
            ...(canWrite
              ? [
                  {
                    title: text.common.actions,
                    cell: (delivery: WebhookDelivery) =>
                      delivery.state === "pending" ? null : (
                        <Button disabled={action.isBusy} onClick={() => again(delivery)}>
                          {text.webhooks.redeliver}
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
