/** Adds the texts and examples of an operation to its entry in the OpenAPI document. */
import { defined } from "@signalbox/transport/Defined"
import type * as OpenApi from "effect/http-api/OpenApi"
import { describeFields } from "./DescribeFields.ts"
import { operationTexts } from "./Operations.ts"
import { parameterTexts } from "./Parameters.ts"

type Operation = OpenApi.OpenAPISpecOperation

/** What a missing credential is, by the scheme of its security. */
const credentials: Readonly<Record<string, string>> = {
  wskey: "The key is missing or malformed. Send it as `Authorization: RC-WSKEY <key>`.",
  token: "The key is missing. Send it as `token` in the query.",
  bearer: "The token is missing or malformed. Send it as `Authorization: Bearer <token>`."
}

/** Errors of all operations, which their tables do not repeat. */
const generalErrors = (operation: Operation, permission: string | undefined): Readonly<Record<string, string>> => {
  const schemes = new Set(operation.security.flatMap((one) => Object.keys(one)))
  const scheme = ["wskey", "token"].find((known) => schemes.has(known)) ?? "bearer"
  return {
    "400": "A parameter is invalid; the message names it.",
    "401": credentials[scheme] ?? "",
    "403":
      scheme === "bearer"
        ? "The token is unknown, or it is not one for this operation."
        : `The key is unknown or of another workspace${permission === undefined ? "" : `, or it lacks \`${permission}\``}.`,
    "409": "`LEASE_LOST`: the bearer token is that of a step run that has ended. Stop the task."
  }
}

/** Contents with their fields described, and the example of those that are JSON or text; forms have the same fields. */
const withExample = (contents: OpenApi.OpenApiSpecContent | undefined, owner: string, example: unknown) =>
  contents === undefined
    ? {}
    : {
        content: Object.fromEntries(
          Object.entries(contents).map(([type, media]) => [
            type,
            {
              ...media,
              schema: describeFields(media.schema, owner),
              ...defined({
                example: example === undefined || type === "application/x-www-form-urlencoded" ? undefined : example
              })
            }
          ])
        )
      }

/** The operation, whose `operationId` is that of the contract, with its texts and examples. */
export const describe = (operation: Operation, permission: string | undefined): Operation => {
  const { operationId: identifier } = operation
  const text = operationTexts[identifier]
  if (text === undefined) return operation
  const general = generalErrors(operation, permission)
  const { requestBody } = operation
  return Object.assign({}, operation, {
    description: text.description,
    parameters: operation.parameters.map((parameter) => {
      const known = parameterTexts[parameter.name]
      if (known === undefined) return parameter
      const example = text.parameters?.[parameter.name] ?? (parameter.required ? known.example : undefined)
      return { ...parameter, description: known.description, ...defined({ example }) }
    }),
    ...defined({
      requestBody: requestBody && {
        ...requestBody,
        ...withExample(requestBody.content, identifier, text.request)
      }
    }),
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, response]) => {
        if (status === "200") {
          return [status, { ...response, ...withExample(response.content, identifier, text.response) }]
        }
        const description = text.errors[Number(status)] ?? general[status]
        return [status, description === undefined ? response : { ...response, description }]
      })
    )
  })
}
