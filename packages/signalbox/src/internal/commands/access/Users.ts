/** `signalbox users` and `signalbox roles`: who may sign in to the console of the workspace, and what they may do there. */
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Roles from "@signalbox/api/Roles"
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
import { printTable } from "../../output/List.ts"
import { find, listCommand, nameArgument, type Noun, showCommand } from "../../resources/Resource.ts"

const nameOf = ({ first_name, last_name }: Users.User) => `${first_name} ${last_name}`.trim()

const userNoun: Noun<Users.User> = {
  one: "user",
  many: "users",
  command: "users",
  list: () => Users.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ login }) => login,
  columns: {
    login: ({ login }) => login,
    name: nameOf,
    role: ({ manages_room, role }) => (manages_room ? `${role}, operates the room` : role),
    state: ({ state }) => state,
    "last sign-in": ({ last_sign_in_at }) => last_sign_in_at ?? "-",
    id: ({ id }) => id
  },
  first: "create one with `signalbox users create`"
}

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

/** A command that changes one user. */
const changing = (
  name: string,
  change: Users.UserChange,
  { description, done, example }: { readonly description: string; readonly example: string; readonly done: string }
) =>
  Command.make(
    name,
    { user: nameArgument(userNoun), ...connectionFlags },
    Effect.fnUntraced(function* ({ data, json, user }) {
      const changed = Effect.flatMap(find(userNoun, user), ({ id }) => Users.update(id, change))
      yield* print(json, yield* connected(data)(changed), ({ login }) => `${login} ${done}`)
    })
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([{ command: `signalbox users ${name} ada`, description: example }])
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
  { user: nameArgument(userNoun), ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, user }) {
    const removed = Effect.flatMap(find(userNoun, user), ({ id }) => Users.remove(id))
    yield* print(json, yield* connected(data)(removed), () => `${user} is no user of this workspace any more`)
  })
).pipe(
  Command.withDescription(
    "Ends the membership of a user, and deletes the keys of this workspace that they own: first hand over those that programs need (`signalbox keys owner`)"
  ),
  Command.withExamples([{ command: "signalbox users remove ada", description: "What Ada started goes on" }])
)

export const users = Command.make("users").pipe(
  Command.withDescription("Creates, lists, changes and removes the people who may sign in to the console"),
  Command.withSubcommands([
    create,
    listCommand(userNoun),
    showCommand(userNoun, ({ id }) => Users.get(id)),
    role,
    link,
    changing(
      "disable",
      { disabled: true },
      {
        description: "Disables an account: it is signed out and cannot sign in, and the keys that it owns are refused",
        done: "is disabled",
        example: "Until `signalbox users enable ada`"
      }
    ),
    changing(
      "enable",
      { disabled: false },
      {
        description: "Lets a disabled account sign in again",
        done: "may sign in again",
        example: "With the same password"
      }
    ),
    signOut,
    remove
  ])
)

const listRoles = Command.make(
  "list",
  connectionFlags,
  Effect.fnUntraced(function* ({ data, json }) {
    const found = yield* connected(data)(Roles.all())
    if (json) return yield* Effect.forEach(found, (one) => Console.log(JSON.stringify(one)), { discard: true })
    yield* printTable(
      ["name", "permissions"],
      found.map(({ built_in, name, permissions }) => [built_in ? `${name} (built in)` : name, permissions.join(" ")]),
      "No roles"
    )
  })
).pipe(
  Command.withDescription("Lists the roles with their permissions, those that every workspace has first"),
  Command.withExamples([{ command: "signalbox roles list", description: "Print a table" }])
)

const roleName = Argument.String("name").pipe(Argument.withDescription("The name of the role"))

const putRole = Command.make(
  "put",
  {
    name: roleName,
    permission: Flag.Literals("permission", Permission.literals).pipe(
      Flag.withDescription("A permission of the role; may be repeated. You can give only permissions that you have"),
      Flag.withMetavar("PERMISSION"),
      Flag.atLeast(1)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, name, permission }) {
    const made = yield* connected(data)(Roles.put(name, permission))
    yield* print(json, made, ({ permissions }) => `${name}: ${permissions.join(" ")}`)
  })
).pipe(
  Command.withDescription("Creates a role, or replaces its permissions"),
  Command.withExamples([
    {
      command: "signalbox roles put clerk --permission Processes.read_runs --permission Processes.trigger_processes",
      description: "Sees runs and starts them, and nothing else"
    }
  ])
)

const removeRole = Command.make(
  "delete",
  { name: roleName, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, name }) {
    yield* print(json, yield* connected(data)(Roles.remove(name)), () => `deleted role ${name}`)
  })
).pipe(
  Command.withDescription("Deletes a role that no user has"),
  Command.withExamples([{ command: "signalbox roles delete clerk", description: "First give its users another one" }])
)

export const roles = Command.make("roles").pipe(
  Command.withDescription("Lists, creates, changes and deletes roles of the workspace"),
  Command.withSubcommands([listRoles, putRole, removeRole])
)

/** Finds a user by login or id. */
export const findUser = (given: string) => find(userNoun, given)
