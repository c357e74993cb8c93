/** The git repository that a package is taken from. */
import type { GitConfiguration, GitSource } from "@signalbox/api/contract/TaskPackages"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../../kit/Field.tsx"
import { names } from "../../text/names.ts"
import * as text from "../../text/text.ts"

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
      title={text.packages.gitSource}
      submit={text.packages.fetch}
      done={text.packages.fetched}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label={text.packages.host}
        value={type}
        onValue={setType}
        options={[
          { value: "github", label: names.github },
          { value: "gitlab", label: names.gitlab }
        ]}
      />
      <TextField
        label={text.packages.repository}
        type="url"
        hint={text.packages.repositoryHint}
        placeholder={names.exampleRepository}
        value={repository}
        onValue={setRepository}
        required
      />
      <SelectField
        label={text.packages.revision}
        value={mode}
        onValue={setMode}
        options={[
          { value: "attached", label: text.packages.followBranch },
          { value: "detached", label: text.packages.pinCommit }
        ]}
      />
      <TextField
        label={mode === "attached" ? text.packages.branch : text.packages.commitOrTag}
        value={reference}
        onValue={setReference}
        required
      />
      {mode === "attached" ? (
        <CheckField
          label={text.packages.automatic}
          hint={text.packages.automaticHint}
          checked={isAutomatic}
          onChecked={setAutomatic}
        />
      ) : null}
      <TextField
        label={text.packages.folder}
        hint={text.packages.folderHint}
        value={directory}
        onValue={setDirectory}
      />
      <TextField
        label={text.packages.credentialsSecret}
        hint={text.packages.credentialsHint}
        value={secret}
        onValue={setSecret}
        autocomplete="off"
      />
    </FormDialog>
  )
}
