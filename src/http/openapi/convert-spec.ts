// A document of version 3 out of what a server said in version 2, for servers that have no other.

import type { RemoteSpec, SpecPart, SpecParts } from '../../api/remote-openapi.js'
import type { JsonSchema } from '../../schema/openapi.js'
import { concatenated } from './document-form.js'
import { readPart } from './place-specs.js'

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** The document as JSON, part by part: all that one server may say is too much for one turn. */
export function* convertSpec({ group, version, paths, definitions }: RemoteSpec): Generator<undefined, Uint8Array, void> {
  const info = JSON.stringify({ title: group, version })
  const parts: Uint8Array[] = [Buffer.from(`{"openapi":"3.0.0","info":${info},"paths":{`)]
  yield* addMembers(parts, paths, convertItem)
  parts.push(Buffer.from('},"components":{"schemas":{'))
  yield* addMembers(parts, definitions, moved)
  parts.push(Buffer.from('}}}'))
  return yield* concatenated(parts)
}

function* addMembers(parts: Uint8Array[], members: SpecParts, convert: (part: SpecPart) => unknown): Generator<undefined, void, void> {
  let before = ''
  for (const [name, part] of members) {
    parts.push(Buffer.from(`${before}${JSON.stringify(name)}:${JSON.stringify(convert(readPart(part)))}`))
    before = ','
    yield
  }
}

/** References lead to where definitions are in version 3. */
function moved(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(moved)
  return Object.fromEntries(
    Object.entries(part).map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string' ? each.replace('#/definitions/', '#/components/schemas/') : moved(each),
    ]),
  )
}

function convertItem(item: SpecPart): JsonSchema {
  const { parameters } = item
  return Object.fromEntries([
    ...Object.entries(item).flatMap(([name, each]) =>
      methods.includes(name) ? [[name, convertOperation(each as SpecPart)]] : name.startsWith('x-') ? [[name, each]] : [],
    ),
    ...(parameters === undefined ? [] : [['parameters', plainParameters(parameters)]]),
  ])
}

function convertOperation({ parameters, responses, produces, consumes, schemes: _schemes, ...rest }: SpecPart): JsonSchema {
  const body = (parameters as readonly SpecPart[] | undefined)?.find((each) => each['in'] === 'body')
  return {
    ...rest,
    ...(parameters === undefined ? {} : { parameters: plainParameters(parameters) }),
    ...(body === undefined ? {} : { requestBody: { ...describe(body), content: contentOf(body['schema'], consumes) } }),
    responses: Object.fromEntries(
      Object.entries((responses ?? {}) as { readonly [code: string]: SpecPart }).map(([code, answer]) => [
        code,
        {
          description: answer['description'] ?? '',
          ...(answer['schema'] === undefined ? {} : { content: contentOf(answer['schema'], produces) }),
        },
      ]),
    ),
  }
}

const describe = ({ description, required }: SpecPart): JsonSchema => ({
  ...(description === undefined ? {} : { description }),
  ...(required === undefined ? {} : { required }),
})

const contentOf = (schema: unknown, types: unknown): JsonSchema => {
  const named = Array.isArray(types) && types.length > 0 ? (types as readonly string[]) : ['application/json']
  return Object.fromEntries(named.map((type) => [type, { schema: moved(schema) }]))
}

const plainParameters = (parameters: unknown): readonly JsonSchema[] =>
  (parameters as readonly SpecPart[])
    .filter((each) => each['in'] !== 'body')
    .map(({ name, in: place, description, required, type, uniqueItems }) => ({
      name,
      in: place,
      ...describe({ description, required }),
      schema: { ...(type === undefined ? {} : { type }), ...(uniqueItems === undefined ? {} : { uniqueItems }) },
    }))
