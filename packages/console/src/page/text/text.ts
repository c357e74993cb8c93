/**
 * All text that people see in the console, by screen or area. Another language is a folder beside `en` whose object has the type
 * `Text`. A sentence with values is a function; one with links, code or times inside takes these as nodes.
 */
import { alerts } from "./en/alerts.ts"
import { assets } from "./en/assets.ts"
import { common } from "./en/common.ts"
import { connect } from "./en/connect.ts"
import { failures } from "./en/failures.ts"
import { flows } from "./en/flows.ts"
import { frame } from "./en/frame.ts"
import { items } from "./en/items.ts"
import { keys } from "./en/keys.ts"
import { kit } from "./en/kit.ts"
import { overview } from "./en/overview.ts"
import { packages } from "./en/packages.ts"
import { processes } from "./en/processes.ts"
import { runs } from "./en/runs.ts"
import { schedules } from "./en/schedules.ts"
import { screens } from "./en/screens.ts"
import { states } from "./en/states.ts"
import { triggers } from "./en/triggers.ts"
import { vault } from "./en/vault.ts"
import { webhooks } from "./en/webhooks.ts"
import { weekdays } from "./en/weekdays.ts"
import { workers } from "./en/workers.ts"

const en = {
  alerts,
  assets,
  common,
  connect,
  failures,
  flows,
  frame,
  items,
  keys,
  kit,
  overview,
  packages,
  processes,
  runs,
  schedules,
  screens,
  states,
  triggers,
  vault,
  webhooks,
  weekdays,
  workers
}

export type Text = typeof en

export const text: Text = en
