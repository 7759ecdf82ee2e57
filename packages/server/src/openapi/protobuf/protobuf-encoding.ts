// The Protobuf encoding of OpenAPI documents: `openapi.v2.Document` and `openapi.v3.Document` of gnostic, with their field numbers.

import { collectBytes } from '@cluster-apiserver/api/base/protobuf/protobuf-writer.js'
import type { OpenApiVersion } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { type DocumentEncoding, security, tokenScheme } from '../documents/document-encoding.js'
import {
  anyValue,
  double,
  encoderOf,
  flag,
  integer,
  type Members,
  type MessageTable,
  message,
  messageHead,
  namedField,
  namedValues,
  oneOf,
  repeated,
  type Shape,
  text,
  texts,
  wrapped,
} from './protobuf-messages.js'

/** Field numbers in v2 and v3; 0: the version has no such field. */
type FieldNumbers = { readonly [name: string]: readonly [v2: number, v3: number, shape: Shape] }

const fieldsOf = (version: OpenApiVersion, fields: FieldNumbers): MessageTable['fields'] =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, [v2, v3, shape]]) => {
      const number = version === 2 ? v2 : v3
      return number === 0 ? [] : [[name, [number, shape] as const]]
    }),
  )

/** v3 cannot express defaults that are objects or lists: they are empty. */
function numberOfDefault(value: unknown): number | undefined {
  const number = ['', 'number', 'boolean', 'string'].indexOf(typeof value)
  return number > 0 ? number : undefined
}

const reference: Shape = message(() => ({ fields: { $ref: [1, text] } }))
const externalDocs: Shape = message(() => ({ fields: { description: [1, text], url: [2, text] } }))

function schemaShape(version: OpenApiVersion): Shape {
  const isV2 = version === 2
  const inline: Shape = message(() => ({
    fields: fieldsOf(version, {
      $ref: [1, 0, text],
      nullable: [0, 1, flag],
      format: [2, 35, text],
      title: [3, 9, text],
      description: [4, 34, text],
      default: [5, 33, isV2 ? anyValue : oneOf({ 1: double, 2: flag, 3: text }, numberOfDefault)],
      multipleOf: [6, 10, double],
      maximum: [7, 11, double],
      exclusiveMaximum: [8, 12, flag],
      minimum: [9, 13, double],
      exclusiveMinimum: [10, 14, flag],
      maxLength: [11, 15, integer],
      minLength: [12, 16, integer],
      pattern: [13, 17, text],
      maxItems: [14, 18, integer],
      minItems: [15, 19, integer],
      uniqueItems: [16, 20, flag],
      maxProperties: [17, 21, integer],
      minProperties: [18, 22, integer],
      required: [19, 23, texts],
      enum: [20, 24, repeated(anyValue)],
      additionalProperties: [21, 32, oneOf({ 1: schema, 2: flag }, (value) => (typeof value === 'boolean' ? 2 : 1))],
      type: [22, 25, isV2 ? wrapped(1, text) : text],
      items: [23, 30, wrapped(1, schema)],
      allOf: [24, 26, repeated(schema)],
      oneOf: [0, 27, repeated(schema)],
      anyOf: [0, 28, repeated(schema)],
      not: [0, 29, inline],
      properties: [25, 31, namedValues(schema)],
      externalDocs: [29, 6, externalDocs],
      example: [30, 7, anyValue],
    }),
    extensions: isV2 ? 31 : 36,
  }))
  const schema = isV2 ? inline : oneOf({ 1: inline, 2: reference }, (value) => ('$ref' in (value as Members) ? 2 : 1))
  return schema
}

/** A query parameter has one more field than a path parameter, which shifts the numbers. */
const nonBodyParameterV2 = (shift: 0 | 1): Shape =>
  message(() => ({
    fields: {
      required: [1, flag],
      in: [2, text],
      description: [3, text],
      name: [4, text],
      type: [5 + shift, text],
      uniqueItems: [19 + shift, flag],
    },
  }))

function parameterShape(version: OpenApiVersion, schema: Shape): Shape {
  const fields: FieldNumbers = {
    name: [2, 1, text],
    in: [3, 2, text],
    description: [1, 3, text],
    required: [4, 4, flag],
    schema: [5, 10, schema],
  }
  const withSchema = message(() => ({ fields: fieldsOf(version, fields) }))
  if (version === 3) return withSchema
  const locationOf = (parameter: unknown): unknown => (parameter as Members)['in']
  const nonBody = oneOf({ 3: nonBodyParameterV2(1), 4: nonBodyParameterV2(0) }, (value) => (locationOf(value) === 'path' ? 4 : 3))
  return oneOf({ 1: withSchema, 2: nonBody }, (value) => (locationOf(value) === 'body' ? 1 : 2))
}

const securityRequirement: Shape = namedValues(wrapped(1, texts))

function pathShape(version: OpenApiVersion, schema: Shape): Shape {
  const parameters = repeated(wrapped(1, parameterShape(version, schema)))
  const content: Shape = namedValues(message(() => ({ fields: { schema: [1, schema] } })))
  const response: Shape = message(() => ({
    fields: fieldsOf(version, { description: [1, 1, text], schema: [2, 0, wrapped(1, schema)], content: [0, 3, content] }),
  }))
  const requestBody: Shape = message(() => ({ fields: { description: [1, text], content: [2, content], required: [3, flag] } }))
  const operation: Shape = message(() => ({
    fields: fieldsOf(version, {
      tags: [1, 1, texts],
      description: [3, 3, text],
      operationId: [5, 5, text],
      produces: [6, 0, texts],
      consumes: [7, 0, texts],
      parameters: [8, 6, parameters],
      requestBody: [0, 7, wrapped(1, requestBody)],
      responses: [9, 8, namedValues(wrapped(1, response), version === 2 ? 1 : 2)],
      schemes: [10, 0, texts],
      deprecated: [11, 10, flag],
      security: [12, 0, repeated(securityRequirement)],
    }),
    extensions: 13,
  }))
  return message(() => ({
    fields: fieldsOf(version, {
      get: [2, 4, operation],
      put: [3, 5, operation],
      post: [4, 6, operation],
      delete: [5, 7, operation],
      options: [6, 8, operation],
      head: [7, 9, operation],
      patch: [8, 10, operation],
      parameters: [9, 13, parameters],
    }),
    extensions: version === 2 ? 10 : 14,
  }))
}

function protobufEncodingOf(version: OpenApiVersion, frame: DocumentEncoding['frame']): DocumentEncoding {
  const schema = schemaShape(version)
  const pathEntry = namedField(version === 2 ? 2 : 1, pathShape(version, schema))
  const definitionEntry = namedField(1, schema)
  return {
    separator: new Uint8Array(),
    path: (path, item) => collectBytes((writer) => pathEntry(writer, [path, item])),
    definition: (name, definition) => collectBytes((writer) => definitionEntry(writer, [name, definition])),
    frame,
  }
}

const headEncoder = (version: OpenApiVersion) =>
  encoderOf(() => ({
    fields: {
      [version === 2 ? 'swagger' : 'openapi']: [1, text],
      info: [2, message(() => ({ fields: fieldsOf(version, { title: [1, 1, text], version: [2, 6, text], description: [3, 2, text] }) }))],
    },
  }))
const [encodeHeadV2, encodeHeadV3] = [headEncoder(2), headEncoder(3)]

const schemeShape = (version: OpenApiVersion): Shape =>
  message(() => ({
    fields: fieldsOf(version, { type: [1, 1, text], name: [2, 3, text], in: [3, 4, text], description: [4, 2, text] }),
  }))

const encodeRestV2 = encoderOf(() => ({
  fields: { security: [12, repeated(securityRequirement)], securityDefinitions: [13, namedValues(wrapped(2, schemeShape(2)))] },
}))
const encodeSchemesV3 = encoderOf(() => ({ fields: { securitySchemes: [7, namedValues(wrapped(1, schemeShape(3)))] } }))
const encodeRestV3 = encoderOf(() => ({ fields: { security: [6, repeated(securityRequirement)] } }))

export const protobufV2 = protobufEncodingOf(2, (info, { paths, definitions }) => ({
  before: Buffer.concat([encodeHeadV2({ swagger: '2.0', info }), messageHead(8, paths)]),
  between: messageHead(9, definitions),
  after: encodeRestV2({ security, securityDefinitions: tokenScheme }),
}))

export const protobufV3 = protobufEncodingOf(3, (info, { paths, definitions }) => {
  const schemas = messageHead(1, definitions)
  const schemes = encodeSchemesV3({ securitySchemes: tokenScheme })
  return {
    before: Buffer.concat([encodeHeadV3({ openapi: '3.0.0', info }), messageHead(4, paths)]),
    between: Buffer.concat([messageHead(5, schemas.length + definitions + schemes.length), schemas]),
    after: Buffer.concat([schemes, encodeRestV3({ security })]),
  }
})
