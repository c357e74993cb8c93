/** `--context`, of every command that talks to a control room. Apart from the connection, which takes longer to load. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"

export const ContextFlag = GlobalFlag.Setting("context")({
  flag: Flag.String("context").pipe(
    Flag.withDescription("The name of a connection saved by `signalbox login`; default: SIGNALBOX_CONTEXT"),
    Flag.optional
  )
})

/** Gives a command, and those below it, `--context`. */
export const withContext = Command.withGlobalFlags([ContextFlag])
