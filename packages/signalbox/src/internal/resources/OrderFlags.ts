/** How urgent work items and runs are, and by what items are found, on the command line. */
import { Priority, whenReferenceExists } from "@signalbox/api/contract/Order"
import type * as WorkItems from "@signalbox/api/WorkItems"
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"

export const priorityFlag = Flag.Int("priority").pipe(
  Flag.withDescription("The priority, -100 to 100; default 0. Each point counts as ten minutes of waiting"),
  Flag.withSchema(Priority),
  Flag.optional
)

export const orderFlags = {
  priority: priorityFlag,
  due: Flag.String("due").pipe(Flag.withDescription("The due time, such as 2026-12-24T12:00:00+01:00"), Flag.optional),
  reference: Flag.String("reference").pipe(
    Flag.withDescription("The reference of the sender; unique among the open items of the process"),
    Flag.optional
  ),
  exists: Flag.Literals("when-reference-exists", whenReferenceExists).pipe(
    Flag.withDescription("When an open item has the reference: refuse (default), or join that item"),
    Flag.optional
  ),
  tag: Flag.String("tag").pipe(Flag.withDescription("A tag to find the item by; may be repeated"), Flag.atLeast(0))
}

interface Given {
  readonly priority: Option.Option<number>
  readonly due: Option.Option<string>
  readonly reference: Option.Option<string>
  readonly exists: Option.Option<(typeof whenReferenceExists)[number]>
  readonly tag: ReadonlyArray<string>
}

/** The order that the flags say, for the creation of an item. */
export const orderOf = ({
  due,
  exists,
  priority,
  reference,
  tag
}: Given): WorkItems.Order & { readonly reference?: string | undefined } => ({
  priority: Option.getOrUndefined(priority),
  dueAt: Option.getOrUndefined(due),
  reference: Option.getOrUndefined(reference),
  whenReferenceExists: Option.getOrUndefined(exists),
  tags: tag.length === 0 ? undefined : tag
})
