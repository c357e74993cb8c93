/** What needs a person now: each a sentence with what to do. */
import type { Failure } from "@signalbox/api/contract/Failures"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Empty, Panel, Problem, Time } from "../../kit/Basics.tsx"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { Pattern } from "../failures/Pattern.tsx"
import { BulkDialog } from "../failures/BulkDialog.tsx"
import { type Need, useNeeds } from "./needs.ts"
import * as text from "../../text/text.ts"

/** The most sentences that are shown together. */
const most = 8

const mayResume = ({ resume }: Need) =>
  resume !== undefined && (resume === "room" || may("Processes.pause_processes", "Processes.trigger_processes"))

const One = ({
  need,
  onResume,
  onRetry
}: {
  readonly need: Need
  readonly onRetry: (failure: Failure) => void
  readonly onResume: (need: Need) => void
}) => {
  const { detail, failure, href, lamp, look, since, title } = need
  const canRetry = may("Processes.run_bulk_operations", "Processes.write_work_items", "Processes.trigger_processes")
  return (
    <li class={lamp}>
      <span class="lamp" aria-hidden="true" />
      <div>
        <b>{failure === undefined ? title : <Pattern text={title} />}</b>
        <br />
        <span class="quiet">
          {detail}
          {since === null ? null : (
            <>
              {" · "}
              <Time at={since} />
            </>
          )}
        </span>
      </div>
      <span class="do">
        <a class="button" href={href} aria-label={`${look}: ${title}`}>
          {look}
        </a>
        {failure !== undefined && canRetry ? (
          <Button aria-label={text.overview.retryOf(failure.count, title)} onClick={() => onRetry(failure)}>
            {text.overview.retry(failure.count)}
          </Button>
        ) : null}
        {mayResume(need) ? (
          <Button aria-label={text.overview.resumeOf(title)} onClick={() => onResume(need)}>
            {text.common.resume}
          </Button>
        ) : null}
      </span>
    </li>
  )
}

export const Needs = () => {
  const { error, isLoading, needs, reload } = useNeeds()
  const [retried, setRetried] = useState<Failure | null>(null)
  const [isAll, setAll] = useState(false)
  const action = useAction()
  const shown = isAll ? needs : needs.slice(0, most)
  return (
    <Panel title={text.overview.needs}>
      <Problem message={action.error ?? error} />
      {needs.length === 0 ? (
        isLoading ? null : (
          <Empty title={text.overview.noNeeds}>{text.overview.noNeedsHint}</Empty>
        )
      ) : (
        <ul class="needs" aria-live="polite">
          {shown.map((need) => (
            <One
              key={need.id}
              need={need}
              onRetry={setRetried}
              onResume={({ resume }) =>
                void action.run(async () => {
                  await call("POST", `${resume}/resume`)
                  reload()
                }, text.overview.resumed)
              }
            />
          ))}
        </ul>
      )}
      {needs.length > shown.length ? (
        <Button onClick={() => setAll(true)}>{text.overview.showMore(needs.length - shown.length)}</Button>
      ) : null}
      {retried === null ? null : (
        <BulkDialog
          operation="retry"
          filter={{ failure_id: retried.id }}
          name={retried.process.name}
          what={`${retried.process.name}: ${retried.message || retried.code}`}
          onStarted={({ id }) => go(to(["failures", retried.id], { job: id }))}
          onClose={() => setRetried(null)}
        />
      )}
    </Panel>
  )
}
