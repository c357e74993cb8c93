/** How other programs reach this workspace: what to paste, with its address filled in. */
import { useState } from "preact/hooks"
import { roomAddress } from "../api.ts"
import { Head, Panel } from "../kit/Basics.tsx"
import { Copyable } from "../kit/Copy.tsx"
import { SelectField } from "../kit/Field.tsx"
import { to } from "../route.ts"
import { may, session } from "../state.ts"
import {
  clientProgram,
  contextOf,
  curlCommand,
  isOnlyHere,
  loginCommand,
  robotCommand,
  robotFiles
} from "./connect/snippets.ts"
import { useProcesses } from "./work/Filter.tsx"
import { names } from "../text/names.ts"
import * as text from "../text/text.ts"

/** Stands where an id has to be filled in. */
const placeholder = "PROCESS_ID"

export default () => {
  const processes = useProcesses()
  const [chosen, setChosen] = useState<string | null>(null)
  const current = session.value
  if (current == null) return null
  const { workspace } = current
  const process = chosen ?? processes[0]?.id ?? placeholder
  const place = { address: roomAddress, workspace: workspace.id, context: contextOf(workspace.name) }
  return (
    <div class="readable">
      <Head title={text.screens.connect}>{text.connect.subtitle}</Head>
      {isOnlyHere(roomAddress) ? <p class="notice late">{text.connect.onlyHere(<code>{roomAddress}</code>)}</p> : null}
      <Panel title={text.connect.details}>
        <dl class="facts">
          <dt>{text.connect.url}</dt>
          <dd class="mono">{roomAddress}</dd>
          <dt>{text.connect.workspace}</dt>
          <dd class="mono">{workspace.id}</dd>
          <dt>{text.common.key}</dt>
          <dd>
            {may("Workspace.manage_api_keys") ? (
              <>
                {text.connect.ownKey(
                  <a class="name-link" href={to(["keys"])}>
                    {text.keys.new}
                  </a>
                )}
              </>
            ) : (
              text.connect.askForKey
            )}
          </dd>
        </dl>
        {processes.length === 0 ? null : (
          <SelectField
            label={text.connect.exampleProcess}
            value={process}
            onValue={setChosen}
            options={processes.map(({ id, name }) => ({ value: String(id), label: name }))}
          />
        )}
      </Panel>
      <Panel title={text.connect.commandLine}>
        <p>{text.connect.loginHint(<code>login</code>)}</p>
        <Copyable label={text.connect.logIn} text={loginCommand(place)} />
      </Panel>
      <Panel title={names.curl}>
        <p>{text.connect.curlHint}</p>
        <Copyable label={text.connect.curl} text={curlCommand(place, process)} />
        <p class="quiet">{text.connect.apiHint(<a href={`${roomAddress}/docs`}>{text.connect.apiDocs}</a>)}</p>
      </Panel>
      <Panel title={names.typescript}>
        <p>
          {text.connect.programHint(
            <code>start.mts</code>,
            <code>node start.mts</code>,
            <code>SIGNALBOX_API_KEY</code>
          )}
        </p>
        <Copyable label={text.connect.installClient} text={names.installClient} />
        <Copyable label={text.connect.program} text={clientProgram(place, process)} />
      </Panel>
      <Panel title={text.connect.robot}>
        <p>{text.connect.robotHint}</p>
        {Object.entries(robotFiles).map(([name, text]) => (
          <div key={name}>
            <p>
              <code>{name}</code>
            </p>
            <Copyable label={name} text={text} />
          </div>
        ))}
        <p>{text.connect.robotCommandHint}</p>
        <Copyable label={text.connect.uploadRobot} text={robotCommand(place)} />
      </Panel>
    </div>
  )
}
