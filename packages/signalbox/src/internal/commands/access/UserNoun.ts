/** Users as commands name them. */
import * as Users from "@signalbox/api/Users"
import { find, type Noun } from "../../resources/Resource.ts"

const nameOf = ({ first_name, last_name }: Users.User) => `${first_name} ${last_name}`.trim()

export const userNoun: Noun<Users.User> = {
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

/** Finds a user by login or id. */
export const findUser = (given: string) => find(userNoun, given)
