/** Keys that somebody owns, who is disabled or removed: those used last come first, and each can be handed over. */
import type { ApiKey } from "@signalbox/api/contract/ApiKeys"
import type { Role } from "@signalbox/api/contract/Roles"
import type { User } from "@signalbox/api/contract/Users"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Time } from "../../kit/Basics.tsx"
import { SelectField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import { may } from "../../state.ts"
import * as text from "../../text/text.ts"

const workspace = "workspace"
const stays = ""

/** The keys of a user, and who gets which. */
export const useOwnedKeys = (user: User) => {
  const mayManage = may("Workspace.manage_api_keys")
  const keys = useResource<Page<ApiKey>>(mayManage ? "api-keys" : null, { limit: 500 }).data?.data ?? []
  const users = useResource<Page<User>>(mayManage ? "users" : null, { limit: 500 }).data?.data ?? []
  const roles = useResource<Page<Role>>(mayManage ? "roles" : null).data?.data ?? []
  const [owners, setOwners] = useState<Readonly<Record<string, string>>>({})
  const owned = keys
    .filter(({ owner }) => owner?.id === user.id)
    .toSorted((a, b) => (b.last_used_at ?? "").localeCompare(a.last_used_at ?? ""))
  /** Who has all permissions of a key. */
  const candidates = ({ permissions }: ApiKey) =>
    users.filter(({ id, role, state }) => {
      const held = new Set<string>(roles.find(({ name }) => name === role)?.permissions)
      return id !== user.id && state !== "disabled" && permissions.every((permission) => held.has(permission))
    })
  return {
    owned,
    candidates,
    ownerOf: (key: string) => owners[key] ?? stays,
    setOwner: (key: string, owner: string) => setOwners({ ...owners, [key]: owner }),
    /** Hands over what was chosen. */
    handOver: async () => {
      for (const { id } of owned) {
        const owner = owners[id] ?? stays
        if (owner === stays) continue
        await call("POST", `api-keys/${id}`, { body: { owner: owner === workspace ? null : { id: owner } } })
      }
    }
  }
}

export const OwnedKeys = ({
  hint,
  keys: { candidates, owned, ownerOf, setOwner }
}: {
  readonly hint: string
  readonly keys: ReturnType<typeof useOwnedKeys>
}) =>
  owned.length === 0 ? null : (
    <fieldset>
      <legend>{text.people.keysTitle}</legend>
      <p>{hint}</p>
      {owned.map((key) => (
        <div key={key.id}>
          <SelectField
            label={text.people.keyTo(key.name)}
            value={ownerOf(key.id)}
            onValue={(owner) => setOwner(key.id, owner)}
            options={[
              { value: stays, label: text.people.keyStays },
              { value: workspace, label: text.people.keyToWorkspace },
              ...candidates(key).map(({ id, login }) => ({ value: id, label: login }))
            ]}
          />
          <p class="hint">
            {key.last_used_at === null ? text.people.keyUnused : text.people.keyUsed(<Time at={key.last_used_at} />)}
          </p>
        </div>
      ))}
    </fieldset>
  )
