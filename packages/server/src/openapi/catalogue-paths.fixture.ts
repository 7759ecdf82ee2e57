// Fixture: describes operations of an OpenAPI document in the format of the catalogue (recorded facts about kube-apiserver).

import type { JsonSchema } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { catalogueFiles, readCatalogue } from './catalogue.fixture.js'

export interface OperationFacts {
  readonly action?: string
  readonly gvk?: JsonSchema
  readonly parameters?: readonly string[]
  readonly request?: { readonly type: string; readonly content: string; readonly required?: boolean }
  readonly produces?: string
  readonly responses: { readonly [code: string]: string | null }
}

export interface PathFacts {
  readonly [method: string]: unknown
  readonly document: string | null
  readonly parameters?: readonly string[]
}

interface OpenApiFacts {
  readonly parameters: { readonly [name: string]: { readonly in: string; readonly type: string; readonly required?: boolean } }
  readonly content: { readonly [name: string]: readonly string[] }
  readonly paths: { readonly [path: string]: PathFacts }
}

interface ParameterJson {
  readonly name: string
  readonly in: string
  readonly type?: string
  readonly required?: boolean
  readonly schema?: JsonSchema
}

type Content = { readonly [mediaType: string]: { readonly schema: JsonSchema } }

interface OperationJson {
  readonly 'x-kubernetes-action'?: string
  readonly 'x-kubernetes-group-version-kind'?: JsonSchema
  readonly parameters?: readonly ParameterJson[]
  readonly produces?: readonly string[]
  readonly consumes?: readonly string[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: { readonly [code: string]: { readonly content?: Content; readonly schema?: JsonSchema } }
}

export interface PathJson {
  readonly [method: string]: unknown
  readonly parameters?: readonly ParameterJson[]
}

export interface CataloguePaths {
  readonly facts: OpenApiFacts
  readonly describePath: (published: PathJson) => { readonly [key: string]: unknown }
  readonly differentParameters: (published: PathJson) => readonly string[]
}

const methodsOf = (path: PathJson): readonly (readonly [string, OperationJson])[] =>
  Object.entries(path).flatMap(([key, value]): [string, OperationJson][] => (key === 'parameters' ? [] : [[key, value as OperationJson]]))

const parameterName = ({ name, in: location }: ParameterJson): string => (name === 'path' && location === 'path' ? 'path@path' : name)

const parameterNames = (parameters: readonly ParameterJson[] = []): { readonly parameters?: readonly string[] } => {
  const names = parameters.filter((parameter) => parameter.in !== 'body').map(parameterName)
  return names.length === 0 ? {} : { parameters: names }
}

export function cataloguePaths(): CataloguePaths {
  const facts = readCatalogue<OpenApiFacts>('openapi/paths.json')
  const typeNames = namesOfTypes()
  const typeName = (schema: JsonSchema): string => {
    const ref = schema['$ref'] as string | undefined
    const name = ref?.slice(ref.lastIndexOf('/') + 1)
    return name === undefined ? String(schema['type']) : (typeNames.get(name) ?? name)
  }
  const contentName = (types: readonly string[]): string =>
    Object.entries(facts.content).find(([, set]) => set.toSorted().join() === types.toSorted().join())?.[0] ?? types.join()

  const describeRequest = ({ parameters, consumes = [], requestBody }: OperationJson): OperationFacts['request'] => {
    const body = parameters?.find((parameter) => parameter.in === 'body')
    if (body?.schema !== undefined)
      return { type: typeName(body.schema), content: contentName(consumes), ...(body.required && { required: true }) }
    if (requestBody === undefined) return undefined
    const types = new Set(Object.values(requestBody.content).map(({ schema }) => typeName(schema)))
    return { type: [...types].join(), content: contentName(Object.keys(requestBody.content)) }
  }

  const describeResponses = ({ responses }: OperationJson): OperationFacts['responses'] =>
    Object.fromEntries(
      Object.entries(responses).map(([code, { schema, content = {} }]) => {
        const types = new Set([schema ?? [], Object.values(content).map((one) => one.schema)].flat().map(typeName))
        return [code, types.size === 0 ? null : [...types].join()]
      }),
    )

  const describeOperation = (operation: OperationJson): OperationFacts => {
    const request = describeRequest(operation)
    const produces = operation.produces ?? Object.keys(Object.values(operation.responses).find(({ content }) => content)?.content ?? {})
    return {
      ...(operation['x-kubernetes-action'] && { action: operation['x-kubernetes-action'] }),
      ...(operation['x-kubernetes-group-version-kind'] && { gvk: operation['x-kubernetes-group-version-kind'] }),
      ...parameterNames(operation.parameters),
      ...(request && { request }),
      ...(produces.length > 0 && { produces: contentName(produces) }),
      responses: describeResponses(operation),
    }
  }

  const isDifferent = (parameter: ParameterJson): boolean => {
    const expected = facts.parameters[parameterName(parameter)]
    const type = parameter.type ?? parameter.schema?.['type']
    return expected?.in !== parameter.in || expected.type !== type || expected.required !== parameter.required
  }

  return {
    facts,
    describePath: (published) => ({
      ...parameterNames(published.parameters),
      ...Object.fromEntries(methodsOf(published).map(([method, operation]) => [method, describeOperation(operation)])),
    }),
    differentParameters: (published) =>
      [published.parameters ?? [], ...methodsOf(published).map(([, { parameters = [] }]) => parameters)]
        .flat()
        .filter((parameter) => parameter.in !== 'body' && isDifferent(parameter))
        .map(parameterName),
  }
}

function namesOfTypes(): ReadonlyMap<string, string> {
  return new Map(
    [...catalogueFiles()].flatMap(([file, { schemaPrefix, types }]) =>
      Object.entries(types).map(([name, { schema }]): [string, string] => [
        schema ?? `${schemaPrefix}.${name}`,
        `${file === 'meta_v1' ? 'meta' : file}.${name}`,
      ]),
    ),
  )
}
