// Converts the OpenAPI v2 spec of an extension server to v3, for servers without v3.

import type { RemoteSpec, SpecPart, SpecParts } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { JsonSchema } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { readPart } from './merge-remote-specs.js'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

export async function convertSpec({ group, version, paths, definitions }: RemoteSpec, budget: TurnBudget): Promise<Uint8Array> {
  const info = JSON.stringify({ title: group, version })
  const members = async (parts: SpecParts, convert: (part: SpecPart) => unknown): Promise<string> => {
    const texts: string[] = []
    for (const [name, part] of parts) {
      if (budget.isSpent) await budget.nextTurn()
      texts.push(`${JSON.stringify(name)}:${JSON.stringify(convert(readPart(part)))}`)
    }
    return texts.join(',')
  }
  const [pathMembers, schemas] = [await members(paths, convertItem), await members(definitions, withV3References)]
  return Buffer.from(`{"openapi":"3.0.0","info":${info},"paths":{${pathMembers}},"components":{"schemas":{${schemas}}}}`)
}

function withV3References(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(withV3References)
  return Object.fromEntries(
    Object.entries(part).map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string' ? each.replace('#/definitions/', '#/components/schemas/') : withV3References(each),
    ]),
  )
}

function convertItem(item: SpecPart): JsonSchema {
  const { parameters } = item
  return Object.fromEntries([
    ...Object.entries(item).flatMap(([name, each]) =>
      methods.includes(name) ? [[name, convertOperation(each as SpecPart)]] : name.startsWith('x-') ? [[name, each]] : [],
    ),
    ...(parameters === undefined ? [] : [['parameters', nonBodyParameters(parameters)]]),
  ])
}

function convertOperation({ parameters, responses, produces, consumes, schemes: _schemes, ...rest }: SpecPart): JsonSchema {
  const body = (parameters as readonly SpecPart[] | undefined)?.find((each) => each['in'] === 'body')
  return {
    ...rest,
    ...(parameters === undefined ? {} : { parameters: nonBodyParameters(parameters) }),
    ...(body === undefined ? {} : { requestBody: { ...descriptionOf(body), content: contentOf(body['schema'], consumes) } }),
    responses: Object.fromEntries(
      Object.entries((responses ?? {}) as { readonly [code: string]: SpecPart }).map(([code, response]) => [
        code,
        {
          description: response['description'] ?? '',
          ...(response['schema'] === undefined ? {} : { content: contentOf(response['schema'], produces) }),
        },
      ]),
    ),
  }
}

const descriptionOf = ({ description, required }: SpecPart): JsonSchema => ({
  ...(description === undefined ? {} : { description }),
  ...(required === undefined ? {} : { required }),
})

const contentOf = (schema: unknown, types: unknown): JsonSchema => {
  const mediaTypes = Array.isArray(types) && types.length > 0 ? (types as readonly string[]) : ['application/json']
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema: withV3References(schema) }]))
}

const nonBodyParameters = (parameters: unknown): readonly JsonSchema[] =>
  (parameters as readonly SpecPart[])
    .filter((each) => each['in'] !== 'body')
    .map(({ name, in: location, description, required, type, uniqueItems }) => ({
      name,
      in: location,
      ...descriptionOf({ description, required }),
      schema: { ...(type === undefined ? {} : { type }), ...(uniqueItems === undefined ? {} : { uniqueItems }) },
    }))
