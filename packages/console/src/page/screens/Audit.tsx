/** The audit: who changed what, newest first. */
import type { AuditEntry } from "@signalbox/api/contract/Audit"
import { addressOf } from "../api.ts"
import { Empty, Head, Panel, Time } from "../kit/Basics.tsx"
import { now } from "../kit/clock.ts"
import { List } from "../kit/List.tsx"
import { route, to, withQuery } from "../route.ts"
import { may, session } from "../state.ts"
import { nameOf } from "./work/ChangedBy.tsx"
import { Choice, Filters } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const types =
  "alert alert_channel api_key asset bulk_operation failure process process_run role schedule secret task_package trigger user webhook work_item worker worker_group"

const inWords = (name: string) => name.replaceAll("_", " ")

/** To the minute, so that the address of the list does not change all the time. */
const timeOf = (hours: string | undefined) =>
  hours === undefined
    ? undefined
    : new Date(Math.floor(now.value / 60_000) * 60_000 - Number(hours) * 3_600_000).toISOString()

const valueOf = (value: unknown): string =>
  typeof value === "object" && value !== null && "digest" in value && "bytes" in value
    ? text.audit.digest(Number(value.bytes))
    : typeof value === "string"
      ? value
      : JSON.stringify(value)

const Changes = ({ changes }: Pick<AuditEntry, "changes">) =>
  changes.length === 0 ? null : (
    <details>
      <summary>{text.audit.fields(changes.length)}</summary>
      <ul class="plain">
        {changes.map(({ after, before, field }) => (
          <li key={field} class="breaks">
            <b>{field}</b> {before === null ? null : <del>{valueOf(before)}</del>}{" "}
            {after === null ? null : valueOf(after)}
          </li>
        ))}
      </ul>
    </details>
  )

export default () => {
  const { actor, chain, resource, since, type } = route.value.query
  const query = { chain, actor_id: actor, resource_id: resource, resource_type: type, from: timeOf(since) }
  const current = session.value
  return (
    <>
      <Head
        title={text.screens.audit}
        actions={
          current == null ? undefined : (
            <a class="button" href={addressOf(current, "audit/export", query)} download="audit.ndjson">
              {text.audit.export}
            </a>
          )
        }
      >
        {text.audit.subtitle}
      </Head>
      <Filters>
        {may("Room.manage") ? (
          <Choice
            label={text.audit.chain}
            name="chain"
            all={text.audit.ofWorkspace}
            options={[{ value: "room", label: text.audit.ofRoom }]}
          />
        ) : null}
        <Choice
          label={text.audit.resource}
          name="type"
          all={text.audit.allTypes}
          options={types.split(" ").map((value) => ({ value, label: inWords(value) }))}
        />
        <Choice
          label={text.common.time}
          name="since"
          all={text.audit.anyTime}
          options={[
            { value: "24", label: text.audit.lastDay },
            { value: "720", label: text.audit.lastMonth }
          ]}
        />
      </Filters>
      <Panel flush>
        <List<AuditEntry>
          label={text.screens.audit}
          path="audit"
          query={query}
          empty={
            actor === undefined && resource === undefined && since === undefined && type === undefined ? (
              <Empty title={text.audit.none}>{text.audit.noneHint}</Empty>
            ) : (
              <Empty title={text.audit.none}>
                <a href={to(["audit"])}>{text.audit.viewAll}</a>
              </Empty>
            )
          }
          columns={[
            { title: text.common.time, cell: ({ created_at }) => <Time at={created_at} /> },
            {
              title: text.audit.by,
              cell: ({ actor, address }) => (
                <>
                  {actor.id === null ? nameOf(actor) : <a href={withQuery({ actor: actor.id })}>{nameOf(actor)}</a>}
                  {address === null ? null : <div class="quiet">{text.audit.from(address)}</div>}
                </>
              )
            },
            { title: text.audit.action, cell: ({ action }) => <span class="mono">{action}</span> },
            {
              title: text.audit.resource,
              cell: ({ resource: { id, name, type } }) => (
                <>
                  {inWords(type)} {id === null ? name : <a href={withQuery({ resource: id })}>{name ?? id}</a>}
                </>
              )
            },
            { title: text.audit.changes, cell: ({ changes }) => <Changes changes={changes} /> }
          ]}
        />
      </Panel>
    </>
  )
}
