// What the catalogue's types look like in OpenAPI, worked out from the catalogue alone and in another way than the server does it.

import type { JsonSchema, OpenApiVersion } from '../../schema/openapi.js'
import type { CatalogueField, CatalogueFile } from './catalogue.fixture.js'

type Files = ReadonlyMap<string, CatalogueFile>

const plain: { readonly [type: string]: JsonSchema } = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
}

/** Types that the catalogue calls by a word of its own. */
const named: { readonly [type: string]: string } = {
  time: 'meta.Time',
  microTime: 'meta.MicroTime',
  duration: 'meta.Duration',
  quantity: 'meta.Quantity',
  intOrString: 'meta.IntOrString',
  rawExtension: 'meta.RawExtension',
  fieldsV1: 'meta.FieldsV1',
  any: 'apiextensions.cluster.io_v1.JSON',
}

interface Place {
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

function locate(place: Place, ref: string): { readonly file: string; readonly name: string } {
  const dot = ref.lastIndexOf('.')
  return { file: dot < 0 ? place.file : ref.startsWith('meta.') ? 'meta_v1' : ref.slice(0, dot), name: ref.slice(dot + 1) }
}

function componentOf(place: Place, ref: string): string {
  const { file, name } = locate(place, ref)
  const { schemaPrefix, types } = place.files.get(file) as CatalogueFile
  return types[name]?.schema ?? `${schemaPrefix}.${name}`
}

const unions: { readonly [form: string]: readonly string[] } = {
  'string | number': ['string', 'number'],
  'integer | string': ['integer', 'string'],
}

function definitionOf(place: Place, name: string): JsonSchema {
  const { jsonForm, format, mapType, unions: discriminated } = place.files.get(place.file)?.types[name] ?? {}
  const formatted = format === undefined ? {} : { format }
  if (jsonForm !== undefined && jsonForm in unions)
    return place.version === 2 ? { type: 'string', ...formatted } : { ...formatted, oneOf: unions[jsonForm]?.map((type) => ({ type })) }
  if (jsonForm === 'string' || jsonForm === 'object') return { type: jsonForm, ...formatted }
  if (jsonForm !== undefined) return {}
  const fields = fieldsOf(place, name)
  const required = fields.flatMap((field) => (field.required ? [field.name] : []))
  const properties = Object.fromEntries(fields.map((field) => [field.name, propertyOf(field.place, field)]))
  return {
    type: 'object',
    ...(fields.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
    ...(discriminated && { 'x-kubernetes-unions': discriminated }),
  }
}

type PlacedField = CatalogueField & { readonly place: Place }

function fieldsOf(place: Place, name: string): readonly PlacedField[] {
  return (place.files.get(place.file)?.types[name]?.fields ?? []).flatMap((field): readonly PlacedField[] => {
    if (field.protoOnly) return []
    if (!field.inline) return [{ ...field, place }]
    const { file, name } = locate(place, field.type)
    return fieldsOf({ ...place, file }, name)
  })
}

const withMarks = (place: Place, schema: JsonSchema, marks: JsonSchema): JsonSchema =>
  place.version === 3 && '$ref' in schema && Object.keys(marks).length > 0 ? { ...marks, allOf: [schema] } : { ...schema, ...marks }

function propertyOf(place: Place, field: CatalogueField): JsonSchema {
  return withMarks(place, schemaOf(place, field.type), {
    ...(place.version === 3 && 'default' in field && { default: field.default }),
    ...(field.enum && !field.enumOpen && { enum: field.enum }),
    ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.mapType && { 'x-kubernetes-map-type': field.mapType }),
    ...(field.patchStrategy && { 'x-kubernetes-patch-strategy': field.patchStrategy }),
    ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
  })
}

function schemaOf(place: Place, type: string): JsonSchema {
  if (type.startsWith('[]')) return { type: 'array', items: elementOf(place, type.slice(2)) }
  if (type.startsWith('map[string]')) return { type: 'object', additionalProperties: elementOf(place, type.slice(11)) }
  const form = type.includes('.') ? undefined : place.files.get(place.file)?.types[type]?.jsonForm
  if (form === '[]string') return schemaOf(place, '[]string')
  const at = place.version === 2 ? '#/definitions/' : '#/components/schemas/'
  return plain[type] ?? { $ref: `${at}${componentOf(place, named[type] ?? type)}` }
}

function elementOf(place: Place, type: string): JsonSchema {
  const value = schemaOf(place, type)
  const zeros: { readonly [type: string]: unknown } = { string: '', integer: 0 }
  if (place.version === 2 || type === 'bytes' || value['type'] === 'array') return value
  return withMarks(place, value, { default: '$ref' in value ? {} : zeros[String(value['type'])] })
}
