/** Failures: failed items in groups of those that failed alike, and the jobs that settle them. */
import type { Failure } from "@signalbox/api/contract/Failures"
import { useState } from "preact/hooks"
import type { Page } from "../api.ts"
import { Button, Empty, Head, Panel, Problem, Tabs, Time } from "../kit/Basics.tsx"
import { Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { go, route, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { count } from "../format.ts"
import { Group } from "./failures/Group.tsx"
import { Job, Jobs } from "./failures/Jobs.tsx"
import { Pattern } from "./failures/Pattern.tsx"
import { BulkDialog } from "./failures/BulkDialog.tsx"
import { Filters, ProcessChoice } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const emptyOf: Readonly<Record<string, { readonly title: string; readonly text: string }>> = {
  open: { title: text.failures.noneOpen, text: text.failures.noneOpenHint },
  muted: {
    title: text.failures.noneMuted,
    text: text.failures.noneMutedHint
  },
  resolved: {
    title: text.failures.noneResolved,
    text: text.failures.noneResolvedHint
  }
}

const Groups = ({ state }: { readonly state: string }) => {
  const { process } = route.value.query
  const { data, error } = useResource<Page<Failure>>("failures", { state, process_id: process, limit: 500 })
  const [retried, setRetried] = useState<Failure | null>(null)
  // The list comes in the order of ids; what stops most work is first.
  const rows = (data?.data ?? []).toSorted((a, b) => b.count - a.count || b.created_at.localeCompare(a.created_at))
  const canRetry = may("Processes.run_bulk_operations", "Processes.write_work_items", "Processes.trigger_processes")
  return (
    <>
      <Filters>
        <ProcessChoice />
      </Filters>
      <Problem message={error} />
      {data === undefined ? null : (
        <Panel flush>
          {rows.length === 0 ? (
            <Empty title={emptyOf[state]?.title ?? text.failures.noneOpen}>{emptyOf[state]?.text}</Empty>
          ) : (
            <Table
              label={text.screens.failures}
              rows={rows}
              columns={[
                { title: text.common.items, isNumber: true, cell: (failure) => <b>{count(failure.count)}</b> },
                {
                  title: text.common.error,
                  cell: (failure) => (
                    <>
                      <a class="reason" href={to(["failures", failure.id])}>
                        <Pattern text={failure.message || failure.code} />
                      </a>
                      <br />
                      <span class="quiet">
                        {failure.process.name}, {failure.step?.name ?? text.common.deletedStep} · {failure.type} ·{" "}
                        {failure.code}
                        {failure.first_failed_at === null ? null : (
                          <>
                            {text.failures.firstAndLast(
                              <Time at={failure.first_failed_at} />,
                              <Time at={failure.last_failed_at} />
                            )}
                          </>
                        )}
                        {failure.assignee === null ? "" : text.failures.assignedTo(failure.assignee)}
                      </span>
                    </>
                  )
                },
                {
                  title: text.common.actions,
                  isNumber: true,
                  cell: (failure) =>
                    canRetry && failure.count > 0 ? (
                      <Button
                        aria-label={text.overview.retryOf(failure.count, failure.message || failure.code)}
                        onClick={() => setRetried(failure)}
                      >
                        {text.overview.retry(failure.count)}
                      </Button>
                    ) : null
                }
              ]}
            />
          )}
        </Panel>
      )}
      {data?.has_more === true ? <p class="notice">{text.failures.moreThan(rows.length)}</p> : null}
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
    </>
  )
}

const Failures = ({ isJobs }: { readonly isJobs: boolean }) => {
  const { process, state = "open" } = route.value.query
  const current = isJobs ? "jobs" : state
  const tab = (name: string, label: string) => ({
    name,
    label,
    href: to(["failures"], { process, state: name === "open" ? undefined : name })
  })
  return (
    <>
      <Head title={text.screens.failures} />
      <Tabs
        label={text.failures.states}
        current={current}
        tabs={[
          tab("open", text.failures.open),
          tab("muted", text.failures.muted),
          tab("resolved", text.failures.resolved),
          ...(may("Processes.run_bulk_operations")
            ? [{ name: "jobs", label: text.failures.jobs, href: to(["failures", "jobs"]) }]
            : [])
        ]}
      />
      {isJobs ? <Jobs /> : <Groups key={state} state={state} />}
    </>
  )
}

export default ({ path: [first, second] }: ScreenProps) =>
  first === undefined ? (
    <Failures isJobs={false} />
  ) : first !== "jobs" ? (
    <Group key={first} id={first} />
  ) : second === undefined ? (
    <Failures isJobs />
  ) : (
    <Job key={second} id={second} />
  )
