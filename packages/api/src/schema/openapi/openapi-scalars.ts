// OpenAPI definitions of scalars that are published as named types: times, quantities, IntOrString, raw objects.

import type { AnyNode, SchemaNode } from '../node.js'

export type OpenApiVersion = 2 | 3
export type JsonSchema = { readonly [keyword: string]: unknown }

interface NamedScalar {
  /** Go package, the prefix of the definition's name. */
  readonly home: string
  readonly name: string
  readonly schema: (version: OpenApiVersion) => JsonSchema
}

const meta = 'apimachinery.pkg.apis.meta.v1'
const runtime = 'apimachinery.pkg.runtime'
const extensions = 'apiextensions-apiserver.pkg.apis.apiextensions.v1'

const constantSchema =
  (schema: JsonSchema): NamedScalar['schema'] =>
  () =>
    schema

/** OpenAPI v2 has no `oneOf`: its type is `string`. */
const oneOf =
  (types: readonly string[], rest: JsonSchema = {}): NamedScalar['schema'] =>
  (version) =>
    version === 2 ? { type: 'string', ...rest } : { ...rest, oneOf: types.map((type) => ({ type })) }

const dateTime = constantSchema({ type: 'string', format: 'date-time' })
const time: NamedScalar = { home: meta, name: 'Time', schema: dateTime }
const microTime: NamedScalar = { home: meta, name: 'MicroTime', schema: dateTime }
const duration: NamedScalar = { home: meta, name: 'Duration', schema: constantSchema({ type: 'string' }) }
const quantity: NamedScalar = { home: 'apimachinery.pkg.api.resource', name: 'Quantity', schema: oneOf(['string', 'number']) }
const intOrString: NamedScalar = {
  home: 'apimachinery.pkg.util.intstr',
  name: 'IntOrString',
  schema: oneOf(['integer', 'string'], { format: 'int-or-string' }),
}

const anyValue = constantSchema({})
const anyObject = constantSchema({ type: 'object' })
const anyTypes: { readonly [Form in AnyNode['form']]: NamedScalar } = {
  raw: { home: runtime, name: 'RawExtension', schema: anyObject },
  unknown: { home: runtime, name: 'Unknown', schema: anyObject },
  fields: { home: meta, name: 'FieldsV1', schema: anyObject },
  json: { home: extensions, name: 'JSON', schema: anyValue },
  schemaOrArray: { home: extensions, name: 'JSONSchemaPropsOrArray', schema: anyValue },
  schemaOrBool: { home: extensions, name: 'JSONSchemaPropsOrBool', schema: anyValue },
  schemaOrStrings: { home: extensions, name: 'JSONSchemaPropsOrStringArray', schema: anyValue },
}

export function namedScalar(node: Extract<SchemaNode, { type: 'time' | 'duration' | 'quantity' | 'intOrString' | 'any' }>): NamedScalar {
  switch (node.type) {
    case 'time':
      return node.micro ? microTime : time
    case 'duration':
      return duration
    case 'quantity':
      return quantity
    case 'intOrString':
      return intOrString
    case 'any':
      return anyTypes[node.form]
  }
}
