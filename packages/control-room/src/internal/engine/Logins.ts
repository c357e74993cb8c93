/** What people sign in with. */

/** The one spelling of a text that looks the same: devices write some letters in several ways. */
export const normalise = (text: string) => text.normalize("NFKC")

/** The form by which an account is found: case does not count. */
export const loginKey = (login: string) => normalise(login).toLowerCase()

/** First and last name, which every account has: as given, else the login. */
export const namesOf = (login: string, first: string | undefined, last: string | undefined) => ({
  first_name: first ?? (last === undefined ? login : ""),
  last_name: last ?? ""
})

/** What a person is called. */
export const nameOf = (account: { readonly login: string; readonly first_name: string; readonly last_name: string }) =>
  `${account.first_name} ${account.last_name}`.trim() || account.login
