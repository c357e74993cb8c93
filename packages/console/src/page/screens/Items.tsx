/** Work items: the list, and one of them to look at, edit, retry or settle. */
import { type WorkItem, type WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import { addressOf, send } from "../api.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { go, route, to, withQuery } from "../route.ts"
import type { ScreenProps } from "../screens.tsx"
import { may, say, session } from "../state.ts"
import { sentence, short } from "../words.ts"

const states = ["failed", "new", "pending", "in_progress", "done"] as const

const Items = () => {
  const { state } = route.value.query
  return (
    <>
      <Head title="Work items" />
      <div class="filters">
        <label class="hidden" for="state">
          State
        </label>
        <select
          id="state"
          value={state ?? ""}
          onChange={(event) => go(withQuery({ state: event.currentTarget.value }))}
        >
          <option value="">All states</option>
          {states.map((state) => (
            <option key={state} value={state}>
              {sentence(state)}
            </option>
          ))}
        </select>
      </div>
      <Panel flush>
        <List<WorkItemListed>
          label="Work items"
          path="work-items"
          query={{ state }}
          empty={<Empty title={state === undefined ? "No work items yet" : `No items that are ${sentence(state)}`} />}
          columns={[
            {
              title: "Item",
              cell: ({ id }) => (
                <a class="mono" href={to(["items", id])}>
                  {short(id)}
                </a>
              )
            },
            { title: "State", cell: ({ state }) => <State state={state} /> },
            { title: "Why", cell: ({ exception }) => (exception === null ? "" : exception.message || exception.code) },
            {
              title: "Run",
              cell: ({ process_run }) =>
                process_run === null ? (
                  <span class="quiet">waits for a run</span>
                ) : (
                  <a class="mono" href={to(["runs", process_run.id])}>
                    {short(process_run.id)}
                  </a>
                )
            },
            {
              title: "Changed",
              isNumber: true,
              cell: ({ created_at, state_updated_at }) => <Time at={state_updated_at ?? created_at} />
            }
          ]}
        />
      </Panel>
    </>
  )
}

/** Parses what was typed; an error says where. */
const parsed = (text: string): { readonly value: unknown } | { readonly error: string } => {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { error: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

const Item = ({ id }: { readonly id: string }) => {
  const item = useResource<WorkItem>(`work-items/${id}`)
  const [text, setText] = useState<string | null>(null)
  const [error, setError] = useState<string | null>(null)
  if (item.data === undefined) {
    return (
      <>
        <Head title="Work item" />
        <Problem message={item.error} />
      </>
    )
  }
  const { created_at, exception, files, payload, process_run, state, state_updated_at } = item.data
  const call = async (path: string, body: unknown) => {
    if (session.value != null) await send("POST", addressOf(session.value, path), body)
  }
  const settle = async (operation: "retry" | "mark_as_done", said: string) => {
    setError(null)
    try {
      if (text !== null) {
        const json = parsed(text)
        if ("error" in json) return setError(json.error)
        await call(`work-items/${id}/payload`, { payload: json.value })
      }
      await call("work-items/batch", { batch_operation: operation, work_item_ids: [id] })
      setText(null)
      say(said)
      item.reload()
    } catch (error) {
      setError(error instanceof Error ? error.message : String(error))
    }
  }
  const canSettle = may("Processes.write_work_items") && state === "failed"
  return (
    <>
      <Head
        title={`Item ${short(id)}`}
        state={state}
        actions={
          canSettle ? (
            <>
              <Button onClick={() => void settle("mark_as_done", "The item is marked as done.")}>Mark as done</Button>
              <Button kind="primary" onClick={() => void settle("retry", "The item waits to be processed again.")}>
                {text === null ? "Retry" : "Save and retry"}
              </Button>
            </>
          ) : undefined
        }
      >
        <Time at={state_updated_at ?? created_at} />
      </Head>
      <Problem message={error ?? item.error} />
      {exception === null ? null : (
        <p class="notice failed">
          <b>{exception.message || exception.code}</b>
          <br />
          <span class="quiet">
            {exception.type} · {exception.code}
          </span>
        </p>
      )}
      <div class="two">
        <Panel title="Payload">
          {canSettle ? (
            <>
              <label class="hidden" for="payload">
                Payload
              </label>
              <textarea
                id="payload"
                rows={16}
                spellcheck={false}
                value={text ?? JSON.stringify(payload, null, 2)}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            </>
          ) : (
            <pre class="log" tabIndex={0} aria-label="Payload">
              {JSON.stringify(payload, null, 2)}
            </pre>
          )}
        </Panel>
        <div class="stack">
          <Panel title="About">
            <dl class="facts">
              <dt>Run</dt>
              <dd>
                {process_run === null ? (
                  "waits for one"
                ) : (
                  <a class="mono" href={to(["runs", process_run.id])}>
                    {short(process_run.id)}
                  </a>
                )}
              </dd>
              <dt>Made</dt>
              <dd>
                <Time at={created_at} />
              </dd>
              <dt>Id</dt>
              <dd class="mono">{id}</dd>
            </dl>
          </Panel>
          <Panel title="Files">
            {files.length === 0 ? (
              <Empty title="No files" />
            ) : (
              <ul>
                {files.map(({ id, name }) => (
                  <li key={id}>{name}</li>
                ))}
              </ul>
            )}
          </Panel>
        </div>
      </div>
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Items /> : <Item key={id} id={id} />)
