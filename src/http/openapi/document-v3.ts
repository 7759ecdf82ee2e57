// A document of OpenAPI version 3: the paths of one group version, and the types that they need.

import type { Definitions, JsonSchema } from '../../schema/openapi.js'
import type { Blueprint, KindsOf } from './blueprint.js'
import { answerText, type DocumentParts, marksOf, security, sorted, tokenScheme, unauthorized, wholeDocument } from './rendering.js'
import { type Operation, ownParameters, type Parameter, type Route, sharedParameters } from './route.js'
import type { RouteSteps } from './routes.js'

export function partsOfV3(blueprint: Blueprint, routes: readonly Route[] | RouteSteps, kindsOf?: KindsOf): DocumentParts {
  const definitions = blueprint.definitions(3, kindsOf)
  return {
    head: { openapi: '3.0.0', info: blueprint.info },
    paths: function* () {
      const all = typeof routes === 'function' ? yield* routes() : routes
      for (const route of all) yield [route.path, renderPath(route, definitions)]
    },
    tail: () => ({ components: { schemas: sorted(definitions.byName), securitySchemes: tokenScheme }, security }),
  }
}

export const documentV3 = (blueprint: Blueprint, routes: readonly Route[]): JsonSchema => wholeDocument(partsOfV3(blueprint, routes))

function renderPath(route: Route, definitions: Definitions): JsonSchema {
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
