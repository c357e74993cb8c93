/** One trigger: what it does, its address, and whether something is wrong. */
import type { Trigger as TriggerOf, TriggerCreated } from "@signalbox/api/contract/Triggers"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Head, Panel, Problem, Time } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { short } from "../../format.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { ShownOnceDialog } from "../work/ShownOnce.tsx"
import { switched } from "./definition.ts"
import { conditionsInWords, startInWords } from "./inWords.ts"
import { newAddress } from "./newAddress.ts"
import { names } from "../../text/names.ts"
import * as text from "../../text/text.ts"

const signatureInWords = ({ webhook }: TriggerOf): string => {
  const signature = webhook?.signature ?? null
  if (signature === null) return text.triggers.unsigned
  return signature.type === "hmac"
    ? text.triggers.hmacIn(
        signature.header ?? "",
        signature.prefix === null ? "" : text.triggers.withPrefix(signature.prefix)
      )
    : names.standardWebhooks
}

const Address = ({ onRotate, trigger }: { readonly trigger: TriggerOf; readonly onRotate: () => void }) => {
  const { webhook } = trigger
  if (webhook === null) return null
  const id = webhook.event_id
  return (
    <Panel title={text.triggers.incoming}>
      <p>{text.triggers.incomingHint(trigger.process.name)}</p>
      <dl class="facts">
        <dt>{text.triggers.signature}</dt>
        <dd>{signatureInWords(trigger)}</dd>
        {webhook.handshake === null ? null : (
          <>
            <dt>{text.triggers.handshake}</dt>
            <dd>{webhook.handshake}</dd>
          </>
        )}
        <dt>{text.triggers.duplicates}</dt>
        <dd>
          {id === null
            ? webhook.signature?.type === "standard_webhooks"
              ? text.triggers.byHeader(names.webhookId)
              : text.triggers.byNothing
            : id.header !== null
              ? text.triggers.byHeader(id.header)
              : text.triggers.byPointer(id.pointer ?? "")}
        </dd>
        <dt>{text.triggers.limit}</dt>
        <dd>{text.triggers.upTo(webhook.max_waiting)}</dd>
      </dl>
      <p class="quiet">{text.triggers.urlOnce}</p>
      {may("Triggers.write_triggers", "Processes.trigger_processes") ? (
        <Button onClick={onRotate}>{text.triggers.rotateMore}</Button>
      ) : null}
    </Panel>
  )
}

export const Trigger = ({ id }: { readonly id: string }) => {
  const { data: trigger, error, reload } = useResource<TriggerOf>(`triggers/${id}`)
  const [asked, setAsked] = useState<"rotate" | "delete" | null>(null)
  const action = useAction()
  if (trigger === undefined) return <NotLoaded title={text.triggers.trigger} error={error} />
  const { enabled, name, problem, process, refused_requests: refused, running, start } = trigger
  const address = newAddress.value
  const toggle = () =>
    void action.run(
      async () => {
        await call("POST", `triggers/${id}`, { body: switched(trigger) })
        reload()
      },
      enabled ? text.triggers.disabled : text.triggers.enabled
    )
  return (
    <>
      <Head
        title={name}
        actions={
          may("Triggers.write_triggers") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                {text.common.delete}
              </Button>
              {may("Processes.trigger_processes") ? (
                <>
                  <a class="button" href={to(["triggers", id, "edit"])}>
                    {text.common.edit}
                  </a>
                  <Button disabled={action.isBusy} onClick={toggle}>
                    {enabled ? text.common.disable : text.common.enable}
                  </Button>
                </>
              ) : null}
            </>
          ) : undefined
        }
      >
        {enabled ? text.common.enabled : text.common.disabled}: {startInWords(trigger)}
      </Head>
      <Problem message={action.error ?? error} />
      {refused === null ? null : (
        <p class="notice late">
          {text.triggers.refused(
            <b>{text.triggers.refusedRequests(refused.count)}</b>,
            <Time at={refused.last_at} />,
            refused.message
          )}
        </p>
      )}
      {problem === null ? null : (
        <p class="notice failed">
          <b>{problem.message}</b>
          <br />
          <span class="quiet">{text.runs.since(<Time at={problem.since} />)}</span>
        </p>
      )}
      <div class="two">
        <div class="stack">
          <Address trigger={trigger} onRotate={() => setAsked("rotate")} />
          {start === null ? null : (
            <Panel title={text.triggers.startCondition}>
              <p>{text.triggers.startsWhen(conditionsInWords(start), start.max_runs)}</p>
            </Panel>
          )}
        </div>
        <div class="stack">
          <Panel title={text.common.details}>
            <dl class="facts">
              <dt>{text.common.process}</dt>
              <dd>
                <a href={to(["processes", process.id])}>{process.name}</a>
              </dd>
              <dt>{text.common.created}</dt>
              <dd>
                <Time at={trigger.created_at} />
              </dd>
              <dt>{text.overview.activeRuns}</dt>
              <dd>
                {running.length === 0
                  ? text.common.none
                  : running.map((run) => (
                      <a key={run.id} class="mono" href={to(["runs", run.id])}>
                        {short(run.id)}{" "}
                      </a>
                    ))}
              </dd>
            </dl>
          </Panel>
        </div>
      </div>
      {address !== null && address.trigger === id ? (
        <ShownOnceDialog title={text.triggers.url} value={address.url} onClose={() => (newAddress.value = null)}>
          <p>{text.triggers.urlHint(<b>{text.triggers.copyUrl}</b>)}</p>
        </ShownOnceDialog>
      ) : asked === "rotate" ? (
        <Confirm
          title={text.triggers.rotateTitle}
          submit={text.triggers.rotate}
          onSubmit={async () => {
            const { url } = await call<TriggerCreated & { readonly url: string | null }>(
              "POST",
              `triggers/${id}/rotate-url`
            )
            if (url !== null) newAddress.value = { trigger: id, url }
          }}
          onClose={() => setAsked(null)}
        >
          <p>{text.triggers.rotateHint}</p>
        </Confirm>
      ) : asked === "delete" ? (
        <DeleteDialog
          title={text.common.deleteOf(name)}
          submit={text.triggers.deleteTrigger}
          done={text.triggers.deleted(name)}
          path={`triggers/${id}`}
          list={["triggers"]}
          onClose={() => setAsked(null)}
        >
          <p>{text.triggers.deleteHint}</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
