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
      <Head title="Connect">programs and robots with this workspace</Head>
      {isOnlyHere(roomAddress) ? (
        <p class="notice late">
          You are at <code>{roomAddress}</code>, which only this machine reaches. From elsewhere, use the address that
          the room has in your network.
        </p>
      ) : null}
      <Panel title="What you need">
        <dl class="facts">
          <dt>Address</dt>
          <dd class="mono">{roomAddress}</dd>
          <dt>Workspace</dt>
          <dd class="mono">{workspace.id}</dd>
          <dt>Key</dt>
          <dd>
            {may("Workspace.manage_api_keys") ? (
              <>
                of its own for each program:{" "}
                <a class="name-link" href={to(["keys"])}>
                  make one
                </a>
              </>
            ) : (
              "of its own for each program, from the person who manages the keys"
            )}
          </dd>
        </dl>
        {processes.length === 0 ? null : (
          <SelectField
            label="Process in the examples"
            value={process}
            onValue={setChosen}
            options={processes.map(({ id, name }) => ({ value: String(id), label: name }))}
          />
        )}
      </Panel>
      <Panel title="The command">
        <p>
          <code>login</code> asks for the key, tries it, and keeps it for your user alone.
        </p>
        <Copyable label="Log in" text={loginCommand(place)} />
      </Panel>
      <Panel title="curl">
        <p>Lists the runs, and starts one with a work item.</p>
        <Copyable label="Requests with curl" text={curlCommand(place, process)} />
        <p class="quiet">
          All requests are described in <a href={`${roomAddress}/docs`}>the documentation of the interface</a>.
        </p>
      </Panel>
      <Panel title="TypeScript">
        <p>
          Save it as <code>start.mts</code>, and run it with <code>node start.mts</code> and the key in{" "}
          <code>SIGNALBOX_API_KEY</code>. It starts a run and prints its outputs. It needs Node 22.19 or later.
        </p>
        <Copyable label="Install the client" text="npm install @signalbox/api effect" />
        <Copyable label="A program with the client" text={clientProgram(place, process)} />
      </Panel>
      <Panel title="A robot in Python">
        <p>Three files in a folder are a robot. It needs no key: the worker that runs it gives it what it may reach.</p>
        {Object.entries(robotFiles).map(([name, text]) => (
          <div key={name}>
            <p>
              <code>{name}</code>
            </p>
            <Copyable label={name} text={text} />
          </div>
        ))}
        <p>In that folder, after the login above: upload it, make a process of it, and run it.</p>
        <Copyable label="Upload and run the robot" text={robotCommand(place)} />
      </Panel>
    </div>
  )
}
