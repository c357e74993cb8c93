/** What a trigger does, as a sentence. */
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import { duration, several } from "../../words.ts"

export const startInWords = ({ start, webhook }: Pick<TriggerListed, "start" | "webhook">): string => {
  const conditions =
    start === null
      ? []
      : [
          ...(start.at_least === null ? [] : [`${several(start.at_least, "item")} wait`]),
          ...(start.oldest_seconds === null ? [] : [`the oldest has waited for ${duration(start.oldest_seconds)}`])
        ]
  return [
    ...(webhook === null ? [] : ["requests to its address become items"]),
    ...(conditions.length === 0 ? [] : [`a run starts when ${conditions.join(" or ")}`])
  ].join("; ")
}
