// Fixture: expected OpenAPI schemas, derived from the catalogue (recorded facts about kube-apiserver) independently of the server's code.

import type { JsonSchema, OpenApiVersion } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import type { CatalogueField, CatalogueFile } from './catalogue.fixture.js'

type Files = ReadonlyMap<string, CatalogueFile>

const primitiveSchemas: { readonly [type: string]: JsonSchema } = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
}

const namedTypes: { readonly [type: string]: string } = {
  time: 'meta.Time',
  microTime: 'meta.MicroTime',
  duration: 'meta.Duration',
  quantity: 'meta.Quantity',
  intOrString: 'meta.IntOrString',
  rawExtension: 'meta.RawExtension',
  fieldsV1: 'meta.FieldsV1',
  any: 'apiextensions.cluster.io_v1.JSON',
}

interface TypeScope {
  readonly files: Files
  readonly file: string
  readonly version: OpenApiVersion
}

export function expectedDefinitions(files: Files, version: OpenApiVersion): ReadonlyMap<string, JsonSchema> {
  return new Map(
    [...files].flatMap(([file, { types }]) =>
      Object.keys(types).map((name): [string, JsonSchema] => [
        componentOf({ files, file, version }, name),
        definitionOf({ files, file, version }, name),
      ]),
    ),
  )
}

function locate(scope: TypeScope, ref: string): { readonly file: string; readonly name: string } {
  const dot = ref.lastIndexOf('.')
  return { file: dot < 0 ? scope.file : ref.startsWith('meta.') ? 'meta_v1' : ref.slice(0, dot), name: ref.slice(dot + 1) }
}

function componentOf(scope: TypeScope, ref: string): string {
  const { file, name } = locate(scope, ref)
  const { schemaPrefix, types } = scope.files.get(file) as CatalogueFile
  return types[name]?.schema ?? `${schemaPrefix}.${name}`
}

const unions: { readonly [form: string]: readonly string[] } = {
  'string | number': ['string', 'number'],
  'integer | string': ['integer', 'string'],
}

function definitionOf(scope: TypeScope, name: string): JsonSchema {
  const { jsonForm, format, mapType, unions: discriminated } = scope.files.get(scope.file)?.types[name] ?? {}
  const formatted = format === undefined ? {} : { format }
  if (jsonForm !== undefined && jsonForm in unions)
    return scope.version === 2 ? { type: 'string', ...formatted } : { ...formatted, oneOf: unions[jsonForm]?.map((type) => ({ type })) }
  if (jsonForm === 'string' || jsonForm === 'object') return { type: jsonForm, ...formatted }
  if (jsonForm !== undefined) return {}
  const fields = fieldsOf(scope, name)
  const required = fields.flatMap((field) => (field.required ? [field.name] : []))
  const properties = Object.fromEntries(fields.map((field) => [field.name, propertyOf(field.scope, field)]))
  return {
    type: 'object',
    ...(fields.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
    ...(discriminated && { 'x-kubernetes-unions': discriminated }),
  }
}

type ScopedField = CatalogueField & { readonly scope: TypeScope }

function fieldsOf(scope: TypeScope, name: string): readonly ScopedField[] {
  return (scope.files.get(scope.file)?.types[name]?.fields ?? []).flatMap((field): readonly ScopedField[] => {
    if (field.protoOnly) return []
    if (!field.inline) return [{ ...field, scope }]
    const { file, name } = locate(scope, field.type)
    return fieldsOf({ ...scope, file }, name)
  })
}

const withSiblings = (scope: TypeScope, schema: JsonSchema, siblings: JsonSchema): JsonSchema =>
  scope.version === 3 && '$ref' in schema && Object.keys(siblings).length > 0
    ? { ...siblings, allOf: [schema] }
    : { ...schema, ...siblings }

function propertyOf(scope: TypeScope, field: CatalogueField): JsonSchema {
  return withSiblings(scope, schemaOf(scope, field.type), {
    ...(scope.version === 3 && 'default' in field && { default: field.default }),
    ...(field.enum && !field.enumOpen && { enum: field.enum }),
    ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.mapType && { 'x-kubernetes-map-type': field.mapType }),
    ...(field.patchStrategy && { 'x-kubernetes-patch-strategy': field.patchStrategy }),
    ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
  })
}

function schemaOf(scope: TypeScope, type: string): JsonSchema {
  if (type.startsWith('[]')) return { type: 'array', items: elementOf(scope, type.slice(2)) }
  if (type.startsWith('map[string]')) return { type: 'object', additionalProperties: elementOf(scope, type.slice(11)) }
  const jsonForm = type.includes('.') ? undefined : scope.files.get(scope.file)?.types[type]?.jsonForm
  if (jsonForm === '[]string') return schemaOf(scope, '[]string')
  const prefix = scope.version === 2 ? '#/definitions/' : '#/components/schemas/'
  return primitiveSchemas[type] ?? { $ref: `${prefix}${componentOf(scope, namedTypes[type] ?? type)}` }
}

function elementOf(scope: TypeScope, type: string): JsonSchema {
  const value = schemaOf(scope, type)
  const zeros: { readonly [type: string]: unknown } = { string: '', integer: 0 }
  if (scope.version === 2 || type === 'bytes' || value['type'] === 'array') return value
  return withSiblings(scope, value, { default: '$ref' in value ? {} : zeros[String(value['type'])] })
}
