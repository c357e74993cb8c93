/** Headers that are known before the response exists. The edge sets them on whatever the response becomes. */
import * as Context from "effect/Context"

export const ResponseHeaders = Context.Reference<Record<string, string>>(
  "@signalbox/control-room/edge/ResponseHeaders",
  {
    // Outside a request they are not read.
    defaultValue: () => ({})
  }
)
