/** People of the workspace: who signs in, with which role. */
import type { User } from "@signalbox/api/contract/Users"
import { useState } from "preact/hooks"
import { call } from "../action.ts"
import type { Page } from "../api.ts"
import { Button, Empty, Head, Panel, State, Time } from "../kit/Basics.tsx"
import { Confirm, FormDialog } from "../kit/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../kit/Field.tsx"
import { List } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { may, say, session } from "../state.ts"
import { OwnedKeys, useOwnedKeys } from "./people/OwnedKeys.tsx"
import { SignInRules } from "./people/SignInRules.tsx"
import { ShownOnceDialog } from "./work/ShownOnce.tsx"
import * as text from "../text/text.ts"

interface Role {
  readonly name: string
}
interface Link {
  readonly url: string
}

const nameOf = ({ first_name, login, last_name }: User) => `${first_name} ${last_name}`.trim() || login
const hints: Readonly<Record<string, string>> = text.people.roleHint
const stateWords: Readonly<Record<string, string>> = text.people.states

const RoleField = ({ role, onRole }: { readonly role: string; readonly onRole: (role: string) => void }) => {
  const roles = useResource<Page<Role>>("roles").data?.data ?? [{ name: role }]
  return (
    <SelectField
      label={text.people.role}
      hint={hints[role] ?? text.people.ownRole}
      value={role}
      onValue={onRole}
      options={roles.map(({ name }) => ({ value: name, label: name }))}
    />
  )
}

const RoomField = ({ checked, onChecked }: { readonly checked: boolean; readonly onChecked: (it: boolean) => void }) =>
  may("Room.manage") ? (
    <CheckField
      label={text.people.managesRoom}
      hint={text.people.managesRoomHint}
      checked={checked}
      onChecked={onChecked}
    />
  ) : null

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

/** A link to choose a password, shown once. */
const LinkShown = ({
  login,
  url,
  onClose
}: {
  readonly login: string
  readonly url: string
  readonly onClose: () => void
}) => (
  <ShownOnceDialog title={text.people.linkTitle(login)} value={url} onClose={onClose}>
    <p>{text.people.linkHint(<b>{text.people.linkOnce}</b>)}</p>
  </ShownOnceDialog>
)

const Invite = ({ onClose, onDone }: DialogProps) => {
  const [login, setLogin] = useState("")
  const [firstName, setFirstName] = useState("")
  const [lastName, setLastName] = useState("")
  const [role, setRole] = useState("viewer")
  const [managesRoom, setManagesRoom] = useState(false)
  const [link, setLink] = useState<Link | null>(null)
  if (link !== null) return <LinkShown login={login.trim()} url={link.url} onClose={onClose} />
  const submit = async () => {
    const body = {
      login: login.trim(),
      role,
      first_name: firstName.trim() === "" ? undefined : firstName.trim(),
      last_name: lastName.trim() === "" ? undefined : lastName.trim(),
      manages_room: managesRoom ? true : undefined
    }
    const made = await call<{ readonly link: Link | null }>("POST", "users", { body })
    onDone()
    return made.link
  }
  return (
    <FormDialog
      title={text.people.inviteTitle}
      submit={text.people.create}
      canSubmit={login.trim() !== ""}
      onSubmit={submit}
      onDone={(made) => {
        if (made !== null) return setLink(made)
        say(text.people.added(login.trim()))
        onClose()
      }}
      onClose={onClose}
    >
      <TextField
        label={text.people.login}
        hint={text.people.loginHint}
        autocomplete="off"
        required
        maxLength={100}
        value={login}
        onValue={setLogin}
      />
      <TextField label={text.people.firstName} maxLength={100} value={firstName} onValue={setFirstName} />
      <TextField label={text.people.lastName} maxLength={100} value={lastName} onValue={setLastName} />
      <RoleField role={role} onRole={setRole} />
      <RoomField checked={managesRoom} onChecked={setManagesRoom} />
    </FormDialog>
  )
}

const Change = ({ user, onClose, onDone }: DialogProps & { readonly user: User }) => {
  const [role, setRole] = useState(user.role)
  const [isDisabled, setDisabled] = useState(user.state === "disabled")
  const [managesRoom, setManagesRoom] = useState(user.manages_room)
  const keys = useOwnedKeys(user)
  const isDisabling = isDisabled && user.state !== "disabled"
  const submit = async () => {
    if (isDisabling) await keys.handOver()
    const body = {
      role: role === user.role ? undefined : role,
      disabled: isDisabled === (user.state === "disabled") ? undefined : isDisabled,
      manages_room: managesRoom === user.manages_room ? undefined : managesRoom
    }
    await call("POST", `users/${user.id}`, { body })
    onDone()
  }
  return (
    <FormDialog
      title={text.people.changeTitle(user.login)}
      submit={text.common.save}
      done={text.people.changed(user.login)}
      onSubmit={submit}
      onClose={onClose}
    >
      <RoleField role={role} onRole={setRole} />
      <CheckField
        label={text.people.disabledField}
        hint={text.people.disabledHint}
        checked={isDisabled}
        onChecked={setDisabled}
      />
      {isDisabling ? <OwnedKeys keys={keys} hint={text.people.keysDisabled} /> : null}
      <RoomField checked={managesRoom} onChecked={setManagesRoom} />
    </FormDialog>
  )
}

const NewLink = ({ user, onClose }: { readonly user: User; readonly onClose: () => void }) => {
  const [link, setLink] = useState<Link | null>(null)
  if (link !== null) return <LinkShown login={user.login} url={link.url} onClose={onClose} />
  return (
    <FormDialog
      title={text.people.linkTitle(user.login)}
      submit={text.people.create}
      onSubmit={() => call<Link>("POST", `users/${user.id}/link`)}
      onDone={setLink}
      onClose={onClose}
    >
      <p>{text.people.linkConfirm(user.login)}</p>
    </FormDialog>
  )
}

const Remove = ({ user, onClose, onDone }: DialogProps & { readonly user: User }) => {
  const keys = useOwnedKeys(user)
  return (
    <Confirm
      title={text.people.removeTitle(user.login)}
      submit={text.common.remove}
      done={text.people.removed(user.login)}
      onSubmit={async () => {
        await keys.handOver()
        await call("DELETE", `users/${user.id}`)
        onDone()
      }}
      onClose={onClose}
    >
      <p>{text.people.removeHint}</p>
      <OwnedKeys keys={keys} hint={text.people.removeKeys} />
    </Confirm>
  )
}

/** For who has lost the second factor. */
const ResetFactor = ({ user, onClose, onDone }: DialogProps & { readonly user: User }) => (
  <Confirm
    title={text.people.resetFactorTitle(user.login)}
    submit={text.common.remove}
    done={text.people.resetFactorDone(user.login)}
    onSubmit={async () => {
      await call("DELETE", `users/${user.id}/second-factor`)
      onDone()
    }}
    onClose={onClose}
  >
    <p>{text.people.resetFactorHint}</p>
  </Confirm>
)

type Dialogs = "invite" | "change" | "link" | "factor" | "remove"

export default () => {
  const [dialog, setDialog] = useState<{ readonly kind: Dialogs; readonly user?: User } | null>(null)
  const [changes, setChanges] = useState(0)
  const onDone = () => setChanges(changes + 1)
  const onClose = () => setDialog(null)
  const mayManage = may("Workspace.manage_users")
  const isOwn = ({ id }: User) => session.value?.user?.id === id
  const user = dialog?.user
  return (
    <>
      <Head
        title={text.screens.people}
        actions={
          mayManage ? (
            <Button kind="primary" onClick={() => setDialog({ kind: "invite" })}>
              {text.people.invite}
            </Button>
          ) : null
        }
      >
        {text.people.subtitle}
      </Head>
      <Panel flush>
        <List<User>
          key={changes}
          label={text.screens.people}
          path="users"
          empty={<Empty title={text.people.none}>{text.people.noneHint}</Empty>}
          columns={[
            {
              title: text.common.name,
              cell: (one) => (
                <>
                  <b class="breaks">{nameOf(one)}</b>
                  <div class="quiet">{isOwn(one) ? `${one.login}, ${text.people.you}` : one.login}</div>
                </>
              )
            },
            {
              title: text.people.role,
              cell: ({ manages_room, role }) => (
                <>
                  {role}
                  {manages_room ? <div class="quiet">{text.people.managesRoom}</div> : null}
                </>
              )
            },
            {
              title: text.common.state,
              cell: ({ state }) => <State state={state}>{stateWords[state] ?? state}</State>
            },
            {
              title: text.people.lastSignIn,
              cell: ({ last_sign_in_at, sign_in_provider }) => (
                <>
                  <Time at={last_sign_in_at} />
                  {sign_in_provider === null ? null : <div class="quiet">{sign_in_provider}</div>}
                </>
              )
            },
            ...(mayManage
              ? [
                  {
                    title: text.common.actions,
                    isNumber: true,
                    cell: (one: User) => (
                      <div class="do">
                        {(
                          [
                            ["change", text.people.change],
                            ["link", text.people.link],
                            ...(one.second_factor ? [["factor", text.people.resetFactor] as const] : []),
                            ["remove", text.common.remove]
                          ] as const
                        ).map(([kind, label]) => (
                          <Button
                            key={kind}
                            kind={kind === "remove" ? "danger" : undefined}
                            onClick={() => setDialog({ kind, user: one })}
                          >
                            {label}
                            <span class="hidden">, {one.login}</span>
                          </Button>
                        ))}
                      </div>
                    )
                  }
                ]
              : [])
          ]}
        />
      </Panel>
      {mayManage ? <SignInRules /> : null}
      {dialog?.kind === "invite" ? <Invite onClose={onClose} onDone={onDone} /> : null}
      {user === undefined ? null : dialog?.kind === "change" ? (
        <Change user={user} onClose={onClose} onDone={onDone} />
      ) : dialog?.kind === "link" ? (
        <NewLink user={user} onClose={onClose} />
      ) : dialog?.kind === "factor" ? (
        <ResetFactor user={user} onClose={onClose} onDone={onDone} />
      ) : (
        <Remove user={user} onClose={onClose} onDone={onDone} />
      )}
    </>
  )
}
