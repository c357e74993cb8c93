/** Work items: the list, and one of them to look at, edit, retry or settle. */
import { type WorkItem, type WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import { call, reasonOf, useAction } from "../action.ts"
import { Button, Empty, Head, Panel, Problem, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { go, route, to, withQuery } from "../route.ts"
import type { ScreenProps } from "../screens.tsx"
import { may } from "../state.ts"
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

/** Parses what was typed; the error says where it goes wrong. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${reasonOf(error)}`, { cause: error })
  }
}

const Item = ({ id }: { readonly id: string }) => {
  const item = useResource<WorkItem>(`work-items/${id}`)
  const [text, setText] = useState<string | null>(null)
  const action = useAction()
  if (item.data === undefined) {
    return (
      <>
        <Head title="Work item" />
        <Problem message={item.error} />
      </>
    )
  }
  const { created_at, exception, files, payload, process_run, state, state_updated_at } = item.data
  const settle = (operation: "retry" | "mark_as_done", said: string) =>
    action.run(async () => {
      if (text !== null) await call("POST", `work-items/${id}/payload`, { body: { payload: parsed(text) } })
      await call("POST", "work-items/batch", { body: { batch_operation: operation, work_item_ids: [id] } })
      setText(null)
      item.reload()
    }, said)
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
      <Problem message={action.error ?? item.error} />
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
