// Paths as OpenAPI version 2 describes them.

import type { Definitions, JsonSchema } from '../../schema/openapi.js'
import { answerText, marksOf, unauthorized } from './rendering.js'
import { type Operation, ownParameters, type Parameter, type Route, sharedParameters } from './route.js'

/** What the document of version 2 says of a path. */
export function renderPathV2(route: Route, definitions: Definitions): JsonSchema {
  const shared = sharedParameters(route)
  return {
    ...Object.fromEntries(route.operations.map((operation) => [operation.method, renderOperation(operation, shared, definitions)])),
    ...(shared.length > 0 && { parameters: shared.map(renderParameter) }),
  }
}

const renderParameter = ({ name, in: place, type, description }: Parameter): JsonSchema => ({
  name,
  in: place,
  type,
  uniqueItems: true,
  ...(description !== undefined && { description }),
  ...(place === 'path' && { required: true }),
})

function renderOperation(operation: Operation, shared: readonly Parameter[], definitions: Definitions): JsonSchema {
  const { body, produces } = operation
  const parameters = [
    ...(body === undefined ? [] : [renderBody(body, definitions)]),
    ...ownParameters(operation, shared).map(renderParameter),
  ]
  return {
    description: operation.description,
    ...consumed(operation),
    ...(produces.length > 0 && { produces }),
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length > 0 && { parameters }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([code, node]) => [
          code,
          { description: answerText(code), schema: definitions.schemaOf(node) },
        ]),
      ),
      ...unauthorized,
    },
    ...marksOf(operation),
  }
}

/** What is read: documents are asked for in the forms in which they come, and objects in any that nobody names. */
function consumed({ body, kind, produces, consumes }: Operation): JsonSchema {
  if (body !== undefined) return { consumes: body.mediaTypes }
  if (kind !== undefined) return { consumes: consumes ?? ['*/*'] }
  return produces.length > 0 ? { consumes: produces } : {}
}

const renderBody = ({ node, required }: NonNullable<Operation['body']>, definitions: Definitions): JsonSchema => ({
  name: 'body',
  in: 'body',
  ...(required && { required }),
  schema: definitions.schemaOf(node),
})
