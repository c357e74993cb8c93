/** Which function of the client a request belongs to. Its span names it. */
import { operationIn } from "@signalbox/transport/Operation"
import * as Context from "effect/Context"

/** The name by which a program with promises called; null: it called a function with a span. */
export const CalledAs = Context.Reference<string | null>("@signalbox/graph/internal/requests/CalledAs", {
  defaultValue: () => null
})

const modules: ReadonlySet<string> = new Set([
  "Arrivals",
  "Attachments",
  "Batch",
  "Compat",
  "Delta",
  "Documents",
  "Downloads",
  "Drafts",
  "Drives",
  "Files",
  "Lists",
  "Mail",
  "MailDelta",
  "MailFolders",
  "OAuth",
  "Raw",
  "Sharing",
  "Sites",
  "Subscriptions",
  "Uploads",
  "Users",
  "Workbooks"
])

export const operationOf = operationIn(modules, (fiber) => fiber.getRef(CalledAs))
