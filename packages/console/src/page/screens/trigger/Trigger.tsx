/** One trigger: what it does, its address, and whether something is wrong. */
import type { Trigger as TriggerOf, TriggerCreated } from "@signalbox/api/contract/Triggers"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Head, Panel, Problem, Time } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { count, short } from "../../words.ts"
import { DeleteDialog, NotLoaded } from "../work/Resource.tsx"
import { OnceDialog } from "../work/Once.tsx"
import { switched } from "./definition.ts"
import { startInWords } from "./inWords.ts"
import { newAddress } from "./newAddress.ts"

const signatureInWords = ({ webhook }: TriggerOf): string => {
  const signature = webhook?.signature ?? null
  if (signature === null) return "not checked: anybody with the address can send items"
  return signature.type === "hmac"
    ? `HMAC-SHA256 in the header ${signature.header ?? ""}${signature.prefix === null ? "" : `, after ${signature.prefix}`}`
    : "Standard Webhooks"
}

const Address = ({ onRotate, trigger }: { readonly trigger: TriggerOf; readonly onRotate: () => void }) => {
  const { webhook } = trigger
  if (webhook === null) return null
  const id = webhook.event_id
  return (
    <Panel title="Address for other systems">
      <p>Each request to its address becomes a work item in the queue of {trigger.process.name}.</p>
      <dl class="facts">
        <dt>Signature</dt>
        <dd>{signatureInWords(trigger)}</dd>
        {webhook.handshake === null ? null : (
          <>
            <dt>Handshake</dt>
            <dd>{webhook.handshake}</dd>
          </>
        )}
        <dt>Same event</dt>
        <dd>
          {id === null
            ? webhook.signature?.type === "standard_webhooks"
              ? "told by the header webhook-id"
              : "cannot be told: each request makes an item"
            : id.header !== null
              ? `told by the header ${id.header}`
              : `told by ${id.pointer ?? ""} in the body`}
        </dd>
        <dt>Takes</dt>
        <dd>up to {count(webhook.max_waiting)} waiting items</dd>
      </dl>
      <p class="quiet">The address is shown once, when it is made. If it is lost or known to others, make a new one.</p>
      {may("Triggers.write_triggers", "Processes.trigger_processes") ? (
        <Button onClick={onRotate}>New address…</Button>
      ) : null}
    </Panel>
  )
}

export const Trigger = ({ id }: { readonly id: string }) => {
  const { data: trigger, error, reload } = useResource<TriggerOf>(`triggers/${id}`)
  const [asked, setAsked] = useState<"rotate" | "delete" | null>(null)
  const action = useAction()
  if (trigger === undefined) return <NotLoaded title="Trigger" error={error} />
  const { enabled, name, problem, process, refused_requests: refused, running, start } = trigger
  const address = newAddress.value
  const toggle = () =>
    void action.run(
      async () => {
        await call("POST", `triggers/${id}`, { body: switched(trigger) })
        reload()
      },
      enabled ? "The trigger is off." : "The trigger is on."
    )
  return (
    <>
      <Head
        title={name}
        actions={
          may("Triggers.write_triggers") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                Delete…
              </Button>
              {may("Processes.trigger_processes") ? (
                <>
                  <a class="button" href={to(["triggers", id, "edit"])}>
                    Edit
                  </a>
                  <Button disabled={action.isBusy} onClick={toggle}>
                    {enabled ? "Switch off" : "Switch on"}
                  </Button>
                </>
              ) : null}
            </>
          ) : undefined
        }
      >
        {enabled ? "on" : "off"}: {startInWords(trigger)}
      </Head>
      <Problem message={action.error ?? error} />
      {refused === null ? null : (
        <p class="notice late">
          <b>
            {refused.count === 1
              ? "A request to its address was"
              : `${count(refused.count)} requests to its address were`}{" "}
            refused
          </b>
          , the last one <Time at={refused.last_at} />: {refused.message}.
        </p>
      )}
      {problem === null ? null : (
        <p class="notice failed">
          <b>{problem.message}</b>
          <br />
          <span class="quiet">
            since <Time at={problem.since} />
          </span>
        </p>
      )}
      <div class="two">
        <div class="stack">
          <Address trigger={trigger} onRotate={() => setAsked("rotate")} />
          {start === null ? null : (
            <Panel title="Starts runs">
              <p>
                {startInWords({ start, webhook: null }).replace(/^a run/, "A run")}, with all items that wait, while
                fewer than {count(start.max_runs)} of its runs {start.max_runs === 1 ? "goes" : "go"} on.
              </p>
            </Panel>
          )}
        </div>
        <div class="stack">
          <Panel title="About">
            <dl class="facts">
              <dt>Process</dt>
              <dd>
                <a href={to(["processes", process.id])}>{process.name}</a>
              </dd>
              <dt>Made</dt>
              <dd>
                <Time at={trigger.created_at} />
              </dd>
              <dt>Its runs now</dt>
              <dd>
                {running.length === 0
                  ? "none"
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
        <OnceDialog title="Its address" value={address.url} onClose={() => (newAddress.value = null)}>
          <p>
            Give this address to the system that sends items. <b>It is shown only now</b>: anybody with it can send.
          </p>
        </OnceDialog>
      ) : asked === "rotate" ? (
        <Confirm
          title="Make a new address"
          submit="Make a new one"
          onSubmit={async () => {
            const { url } = await call<TriggerCreated & { readonly url: string | null }>(
              "POST",
              `triggers/${id}/rotate-url`
            )
            if (url !== null) newAddress.value = { trigger: id, url }
          }}
          onClose={() => setAsked(null)}
        >
          <p>The old address is refused immediately: every sender needs the new one.</p>
        </Confirm>
      ) : asked === "delete" ? (
        <DeleteDialog
          title={`Delete ${name}`}
          submit="Delete"
          done={`Deleted: ${name}.`}
          path={`triggers/${id}`}
          list={["triggers"]}
          onClose={() => setAsked(null)}
        >
          <p>Its address is refused immediately. Its runs continue, and its items stay. This cannot be undone.</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
