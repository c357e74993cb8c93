/** `signalbox users`: who may sign in to the console of the workspace, with which role. */
import * as Users from "@signalbox/api/Users"
import { defined } from "@signalbox/transport/Defined"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { beforeLeaving, leavingFlags } from "./OwnedKeys.ts"
import { find, listCommand, nameArgument, showCommand } from "../../resources/Resource.ts"
import { userNoun } from "./UserNoun.ts"

const roleFlag = Flag.String("role").pipe(
  Flag.withDescription("viewer, operator, builder, admin, or a role of the workspace; see `signalbox roles list`")
)

const printLink = Effect.fnUntraced(function* ({ expires_at, url }: Users.UserLink) {
  yield* Console.log(Redacted.value(url))
  yield* Console.error(`Send them this link: it lets them choose a password, once, until ${expires_at}`)
})

const create = Command.make(
  "create",
  {
    login: Argument.String("login").pipe(Argument.withDescription("What they sign in with, such as ada@example.com")),
    role: roleFlag,
    firstName: Flag.String("first-name").pipe(Flag.withDescription("Default: the login"), Flag.optional),
    lastName: Flag.String("last-name").pipe(Flag.withDescription("Default: none"), Flag.optional),
    email: Flag.String("email").pipe(Flag.withDescription("Where they can be reached; default: none"), Flag.optional),
    managesRoom: Flag.Boolean("manages-room").pipe(
      Flag.withDescription("Let them operate the room too: accounts, new workspaces, its pause"),
      Flag.withDefault(false)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, email, firstName, json, lastName, login, managesRoom, role }) {
    const { link, ...user } = yield* connected(data)(
      Users.invite({
        login,
        role,
        ...defined({
          first_name: Option.getOrUndefined(firstName),
          last_name: Option.getOrUndefined(lastName),
          email: Option.getOrUndefined(email),
          manages_room: managesRoom ? true : undefined
        })
      })
    )
    if (json) {
      const shown = link === null ? null : { ...link, url: Redacted.value(link.url) }
      return yield* Console.log(JSON.stringify({ ...user, link: shown }))
    }
    if (link === null) return yield* Console.log(`${user.login} is a user of this workspace now, as ${user.role}`)
    yield* printLink(link)
  })
).pipe(
  Command.withDescription("Creates an account for a person, and prints a link by which they choose a password"),
  Command.withExamples([
    {
      command: "signalbox users create ada --first-name Ada --last-name Lovelace --role admin --manages-room",
      description: "The first account of a room; from then on people sign in with their own login"
    },
    { command: "signalbox users create bob@example.com --role operator", description: "Somebody who keeps work going" }
  ])
)

const link = Command.make(
  "link",
  { user: nameArgument(userNoun), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, user }) {
    const made = yield* connected(data)(Effect.flatMap(find(userNoun, user), ({ id }) => Users.createLink(id)))
    if (json) return yield* Console.log(JSON.stringify({ ...made, url: Redacted.value(made.url) }))
    yield* printLink(made)
  })
).pipe(
  Command.withDescription("Prints a new link to choose a password, for who forgot theirs; earlier links are void"),
  Command.withExamples([{ command: "signalbox users link ada", description: "Works for an hour" }])
)

const disable = Command.make(
  "disable",
  { user: nameArgument(userNoun), ...leavingFlags, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, user, ...keys }) {
    const changed = Effect.gen(function* () {
      const found = yield* find(userNoun, user)
      yield* beforeLeaving(found, keys, { what: "disable", keys: "refused" })
      return yield* Users.update(found.id, { disabled: true })
    })
    yield* print(json, yield* connected(data)(changed), ({ login }) => `${login} is disabled`)
  })
).pipe(
  Command.withDescription(
    "Disables an account: it is signed out and cannot sign in, and the keys that it owns are refused. Names these keys and asks, unless they are handed over"
  ),
  Command.withExamples([
    { command: "signalbox users disable ada", description: "Until `signalbox users enable ada`" },
    { command: "signalbox users disable ada --keys-to bob", description: "Bob owns her keys from now on" }
  ])
)

const enable = Command.make(
  "enable",
  { user: nameArgument(userNoun), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, user }) {
    const changed = Effect.flatMap(find(userNoun, user), ({ id }) => Users.update(id, { disabled: false }))
    yield* print(json, yield* connected(data)(changed), ({ login }) => `${login} may sign in again`)
  })
).pipe(
  Command.withDescription("Lets a disabled account sign in again"),
  Command.withExamples([{ command: "signalbox users enable ada", description: "With the same password" }])
)

const role = Command.make(
  "role",
  {
    user: nameArgument(userNoun),
    role: Argument.String("role").pipe(Argument.withDescription("The new role")),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, role, user }) {
    const changed = Effect.flatMap(find(userNoun, user), ({ id }) => Users.update(id, { role }))
    yield* print(json, yield* connected(data)(changed), ({ login }) => `${login} has the role ${role} now`)
  })
).pipe(
  Command.withDescription("Gives a user another role; in effect within a second"),
  Command.withExamples([{ command: "signalbox users role ada builder", description: "Let Ada change processes" }])
)

const signOut = Command.make(
  "sign-out",
  { user: nameArgument(userNoun), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, user }) {
    const ended = Effect.flatMap(find(userNoun, user), ({ id }) => Users.endSessions(id))
    yield* print(json, yield* connected(data)(ended), () => `${user} is signed out in every browser`)
  })
).pipe(
  Command.withDescription("Signs a user out in every browser"),
  Command.withExamples([{ command: "signalbox users sign-out ada", description: "They can sign in again" }])
)

const remove = Command.make(
  "remove",
  { user: nameArgument(userNoun), ...leavingFlags, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, user, ...keys }) {
    const removed = Effect.gen(function* () {
      const found = yield* find(userNoun, user)
      yield* beforeLeaving(found, keys, { what: "remove", keys: "deleted" })
      return yield* Users.remove(found.id)
    })
    yield* print(json, yield* connected(data)(removed), () => `${user} is no user of this workspace any more`)
  })
).pipe(
  Command.withDescription(
    "Ends the membership of a user, and deletes the keys of this workspace that they own. Names these keys and asks, unless they are handed over"
  ),
  Command.withExamples([
    { command: "signalbox users remove ada", description: "What Ada started goes on" },
    {
      command: "signalbox users remove bob@example.com --keys-to-workspace",
      description: "Programs that use his keys go on"
    }
  ])
)

const removeSecondFactor = Command.make(
  "remove-second-factor",
  { user: nameArgument(userNoun), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, user }) {
    const removed = Effect.flatMap(find(userNoun, user), ({ id }) => Users.removeSecondFactor(id))
    yield* print(json, yield* connected(data)(removed), () => `${user} has no second factor now, and is signed out`)
  })
).pipe(
  Command.withDescription("Removes the second factor of a user who has lost the app and the recovery codes"),
  Command.withExamples([
    {
      command: "signalbox users remove-second-factor ada",
      description: "Her password alone lets her in, until she sets up another"
    }
  ])
)

const rules = Command.make(
  "rules",
  {
    secondFactor: Flag.Literals("second-factor", ["required", "optional"]).pipe(
      Flag.withDescription("Whether members with a password need one; who has none is signed out and sets one up"),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, secondFactor }) {
    const asked = Option.isNone(secondFactor)
      ? Users.signInRules()
      : Users.setSignInRules({ second_factor_required: secondFactor.value === "required" })
    yield* print(
      json,
      yield* connected(data)(asked),
      ({ second_factor_required }) => `second factor: ${second_factor_required ? "required" : "optional"}`
    )
  })
).pipe(
  Command.withDescription("Shows or changes what the workspace asks of people when they sign in"),
  Command.withExamples([
    { command: "signalbox users rules", description: "Show the rules" },
    { command: "signalbox users rules --second-factor required", description: "Ask everybody for a code" }
  ])
)

export const users = Command.make("users").pipe(
  Command.withDescription("Creates, lists, changes and removes the people who may sign in to the console"),
  Command.withSubcommands([
    create,
    listCommand(userNoun),
    showCommand(userNoun, ({ id }) => Users.get(id)),
    role,
    link,
    disable,
    enable,
    signOut,
    removeSecondFactor,
    remove,
    rules
  ])
)
