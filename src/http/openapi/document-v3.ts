// Paths as OpenAPI version 3 describes them.

import type { Definitions, JsonSchema } from '../../schema/openapi.js'
import { answerText, marksOf, unauthorized } from './rendering.js'
import { type Operation, ownParameters, type Parameter, type Route, sharedParameters } from './route.js'

/** What a document of version 3 says of a path. */
export function renderPathV3(route: Route, definitions: Definitions): JsonSchema {
  const shared = sharedParameters(route)
  return {
    ...Object.fromEntries(route.operations.map((operation) => [operation.method, renderOperation(operation, shared, definitions)])),
    ...(shared.length > 0 && { parameters: shared.map(renderParameter) }),
  }
}

const renderParameter = ({ name, in: place, type, description }: Parameter): JsonSchema => ({
  name,
  in: place,
  ...(description !== undefined && { description }),
  ...(place === 'path' && { required: true }),
  schema: { type, uniqueItems: true },
})

function renderOperation(operation: Operation, shared: readonly Parameter[], definitions: Definitions): JsonSchema {
  const { body, produces } = operation
  const parameters = ownParameters(operation, shared).map(renderParameter)
  const content = (mediaTypes: readonly string[], schema: JsonSchema): JsonSchema =>
    Object.fromEntries(mediaTypes.map((type) => [type, { schema }]))
  return {
    description: operation.description,
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: content(body.mediaTypes, definitions.schemaOf(body.node)) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([code, node]) => [
          code,
          { description: answerText(code), content: content(produces, definitions.schemaOf(node)) },
        ]),
      ),
      ...unauthorized,
    },
    ...marksOf(operation),
  }
}
