/** What a trigger does, as a sentence. */
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import { duration } from "../../format.ts"
import * as text from "../../text/text.ts"

export const conditionsInWords = (start: NonNullable<TriggerListed["start"]>): string =>
  [
    ...(start.at_least === null ? [] : [text.triggers.itemsWait(start.at_least)]),
    ...(start.oldest_seconds === null ? [] : [text.triggers.oldestWaits(duration(start.oldest_seconds))])
  ].join(text.triggers.or)

export const startInWords = ({ start, webhook }: Pick<TriggerListed, "start" | "webhook">): string => {
  const conditions = start === null ? "" : conditionsInWords(start)
  return [
    ...(webhook === null ? [] : [text.triggers.requestsBecomeItems]),
    ...(conditions === "" ? [] : [text.triggers.runStartsWhen(conditions)])
  ].join("; ")
}
