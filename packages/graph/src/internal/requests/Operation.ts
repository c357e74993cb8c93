/** Which function of the client a request belongs to. Its span names it. */
import { operationIn } from "@signalbox/transport/Operation"

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

export const operationOf = operationIn(modules)
