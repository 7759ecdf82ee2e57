// Values that OpenAPI publishes as types of their own, though in JSON they are a text, a number or anything: times, quantities, raw objects.

import type { AnyNode, SchemaNode } from './node.js'
import type { JsonSchema, OpenApiVersion } from './openapi.js'

export interface NamedScalar {
  readonly home: string
  readonly name: string
  readonly schema: (version: OpenApiVersion) => JsonSchema
}

const meta = 'apimachinery.pkg.apis.meta.v1'
const runtime = 'apimachinery.pkg.runtime'
const extensions = 'apiextensions-apiserver.pkg.apis.apiextensions.v1'

const always =
  (schema: JsonSchema): NamedScalar['schema'] =>
  () =>
    schema

/** Version 2 cannot say "one of these types", so it names the one that holds for everything the server writes. */
const oneOf =
  (types: readonly string[], rest: JsonSchema = {}): NamedScalar['schema'] =>
  (version) =>
    version === 2 ? { type: 'string', ...rest } : { ...rest, oneOf: types.map((type) => ({ type })) }

const moment = always({ type: 'string', format: 'date-time' })
const time: NamedScalar = { home: meta, name: 'Time', schema: moment }
const microTime: NamedScalar = { home: meta, name: 'MicroTime', schema: moment }
const duration: NamedScalar = { home: meta, name: 'Duration', schema: always({ type: 'string' }) }
const quantity: NamedScalar = { home: 'apimachinery.pkg.api.resource', name: 'Quantity', schema: oneOf(['string', 'number']) }
const intOrString: NamedScalar = {
  home: 'apimachinery.pkg.util.intstr',
  name: 'IntOrString',
  schema: oneOf(['integer', 'string'], { format: 'int-or-string' }),
}

const anything = always({})
const anyObject = always({ type: 'object' })
const forms: { readonly [Form in AnyNode['form']]: NamedScalar } = {
  raw: { home: runtime, name: 'RawExtension', schema: anyObject },
  unknown: { home: runtime, name: 'Unknown', schema: anyObject },
  fields: { home: meta, name: 'FieldsV1', schema: anyObject },
  json: { home: extensions, name: 'JSON', schema: anything },
  schemaOrArray: { home: extensions, name: 'JSONSchemaPropsOrArray', schema: anything },
  schemaOrBool: { home: extensions, name: 'JSONSchemaPropsOrBool', schema: anything },
  schemaOrStrings: { home: extensions, name: 'JSONSchemaPropsOrStringArray', schema: anything },
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
      return forms[node.form]
  }
}
