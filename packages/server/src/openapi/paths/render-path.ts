// Renders a route as an OpenAPI path item, in version 2 or 3.

import { STATUS_CODES } from 'node:http'
import type { Definitions, JsonSchema, OpenApiVersion } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { type Operation, ownParameters, type Parameter, type Route, sharedParameters } from './route.js'

const reasonPhrase = (code: string): string => STATUS_CODES[code] ?? code
const unauthorized: JsonSchema = { 401: { description: reasonPhrase('401') } }

export function renderPath(version: OpenApiVersion, route: Route, definitions: Definitions): JsonSchema {
  const shared = sharedParameters(route)
  return {
    ...Object.fromEntries(
      route.operations.map((operation) => [operation.method, renderOperation(version, operation, shared, definitions)]),
    ),
    ...(shared.length > 0 && { parameters: shared.map((parameter) => renderParameter(version, parameter)) }),
  }
}

function renderParameter(version: OpenApiVersion, { name, in: location, type, description }: Parameter): JsonSchema {
  const common = { ...(description !== undefined && { description }), ...(location === 'path' && { required: true }) }
  return version === 2
    ? { name, in: location, type, uniqueItems: true, ...common }
    : { name, in: location, ...common, schema: { type, uniqueItems: true } }
}

function renderOperation(
  version: OpenApiVersion,
  operation: Operation,
  shared: readonly Parameter[],
  { schemaOf }: Definitions,
): JsonSchema {
  const isV2 = version === 2
  const { body, produces, action, kind } = operation
  const operationParameters = ownParameters(operation, shared).map((parameter) => renderParameter(version, parameter))
  const parameters = isV2 && body !== undefined ? [bodyParameter(body, schemaOf(body.node)), ...operationParameters] : operationParameters
  return {
    description: operation.description,
    ...(isV2 && { ...consumesOf(operation), ...(produces.length > 0 && { produces }), schemes: ['https'] }),
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length > 0 && { parameters }),
    ...(!isV2 && body && { requestBody: { content: content(body.mediaTypes, schemaOf(body.node)) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.responses).map(([code, node]) => [
          code,
          { description: reasonPhrase(code), ...(isV2 ? { schema: schemaOf(node) } : { content: content(produces, schemaOf(node)) }) },
        ]),
      ),
      ...unauthorized,
    },
    ...(action !== undefined && { 'x-kubernetes-action': action }),
    ...(kind !== undefined && { 'x-kubernetes-group-version-kind': kind }),
  }
}

const content = (mediaTypes: readonly string[], schema: JsonSchema): JsonSchema =>
  Object.fromEntries(mediaTypes.map((type) => [type, { schema }]))

/** `consumes` of v2; operations without a body list media types as well, as in kube-apiserver. */
function consumesOf({ body, kind, produces, consumes }: Operation): JsonSchema {
  if (body !== undefined) return { consumes: body.mediaTypes }
  if (kind !== undefined) return { consumes: consumes ?? ['*/*'] }
  return produces.length > 0 ? { consumes: produces } : {}
}

const bodyParameter = ({ required }: NonNullable<Operation['body']>, schema: JsonSchema): JsonSchema => ({
  name: 'body',
  in: 'body',
  ...(required && { required }),
  schema,
})
