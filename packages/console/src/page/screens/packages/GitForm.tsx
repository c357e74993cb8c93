/** The git repository that a package is taken from. */
import type { GitConfiguration, GitSource } from "@signalbox/api/contract/TaskPackages"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../../kit/Field.tsx"

/** What is sent to fetch a package again as it is. */
export const configurationOf = (git: GitSource): GitConfiguration =>
  git.mode === "attached"
    ? { mode: "attached", branch: git.reference, automatic_deployment: git.automatic_deployment }
    : { mode: "detached", reference: git.reference }

export const configure = (id: string, type: string, configuration: unknown) =>
  call("POST", `task-packages/${id}`, { body: { type, configuration } })

export const GitForm = ({
  id,
  type: before,
  git,
  onClose,
  onDone
}: {
  readonly id: string
  readonly type: string
  readonly git: GitSource | null
  readonly onClose: () => void
  readonly onDone: () => void
}) => {
  const [type, setType] = useState<"github" | "gitlab">(before === "gitlab" ? "gitlab" : "github")
  const [repository, setRepository] = useState(git?.repository ?? "")
  const [directory, setDirectory] = useState(git?.directory ?? "")
  const [secret, setSecret] = useState(git?.credentials_secret ?? "")
  const [mode, setMode] = useState<"attached" | "detached">(git?.mode === "detached" ? "detached" : "attached")
  const [reference, setReference] = useState(git?.reference ?? "main")
  const [isAutomatic, setAutomatic] = useState(git?.automatic_deployment ?? true)
  const submit = async () => {
    const common = {
      repository,
      directory: directory === "" ? null : directory,
      credentials_secret: secret === "" ? null : secret
    }
    await configure(
      id,
      type,
      mode === "attached"
        ? { mode, branch: reference, automatic_deployment: isAutomatic, ...common }
        : { mode, reference, ...common }
    )
    onDone()
  }
  return (
    <FormDialog
      title="Take this package from git"
      submit="Fetch"
      done="The repository is fetched."
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label="Host"
        value={type}
        onValue={setType}
        options={[
          { value: "github", label: "GitHub" },
          { value: "gitlab", label: "GitLab" }
        ]}
      />
      <TextField
        label="Repository"
        type="url"
        hint="Its https address, without a user or password."
        placeholder="https://github.com/owner/name.git"
        value={repository}
        onValue={setRepository}
        required
      />
      <SelectField
        label="What to use"
        value={mode}
        onValue={setMode}
        options={[
          { value: "attached", label: "Follow a branch" },
          { value: "detached", label: "Stay at a commit or tag" }
        ]}
      />
      <TextField
        label={mode === "attached" ? "Branch" : "Commit or tag"}
        value={reference}
        onValue={setReference}
        required
      />
      {mode === "attached" ? (
        <CheckField
          label="Use each new commit by itself"
          hint="Otherwise a new commit is used when somebody fetches it here."
          checked={isAutomatic}
          onChecked={setAutomatic}
        />
      ) : null}
      <TextField
        label="Folder"
        hint="The folder of the robot in the repository; empty: its root."
        value={directory}
        onValue={setDirectory}
      />
      <TextField
        label="Secret with the credentials"
        hint="Its name in the vault; its items are password (or a token) and username. Empty: none."
        value={secret}
        onValue={setSecret}
        autocomplete="off"
      />
    </FormDialog>
  )
}
