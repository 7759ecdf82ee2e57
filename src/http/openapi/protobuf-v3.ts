// The Protobuf form of documents of version 3: the message `openapi.v3.Document`, with the numbers that its public definition has.

import { collectBytes } from '../../base/protobuf-writer.js'
import type { DocumentForm } from './document-form.js'
import {
  anything,
  double,
  encoderOf,
  flag,
  integer,
  type Members,
  type MessageTable,
  message,
  messageHead,
  named,
  namedField,
  oneOf,
  repeated,
  type Shape,
  text,
  texts,
  withEncodedParts,
  wrapped,
} from './protobuf-shapes.js'
import { security, tokenScheme } from './rendering.js'

const reference: Shape = message(() => ({ fields: { $ref: [1, text] } }))

/** The form has no room for defaults that are objects or lists; they are there, and empty. */
function numberOfDefault(value: unknown): number | undefined {
  switch (typeof value) {
    case 'number':
      return 1
    case 'boolean':
      return 2
    case 'string':
      return 3
    default:
      return undefined
  }
}

const inlineTable = (): MessageTable => ({
  fields: {
    nullable: [1, flag],
    externalDocs: [6, message(() => ({ fields: { description: [1, text], url: [2, text] } }))],
    example: [7, anything],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, flag],
    minimum: [13, double],
    exclusiveMinimum: [14, flag],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, flag],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, texts],
    enum: [24, repeated(anything)],
    type: [25, text],
    allOf: [26, repeated(schema)],
    oneOf: [27, repeated(schema)],
    anyOf: [28, repeated(schema)],
    not: [29, inlineSchema],
    items: [30, wrapped(1, schema)],
    properties: [31, named(schema)],
    additionalProperties: [32, oneOf({ 1: schema, 2: flag }, (value) => (typeof value === 'boolean' ? 2 : 1))],
    default: [33, oneOf({ 1: double, 2: flag, 3: text }, numberOfDefault)],
    description: [34, text],
    format: [35, text],
  },
  extensions: 36,
})

const inlineSchema: Shape = message(inlineTable)

const schema: Shape = oneOf({ 1: inlineSchema, 2: reference }, (value) => ('$ref' in (value as Members) ? 2 : 1))

const content: Shape = named(message(() => ({ fields: { schema: [1, schema] } })))

const parameter: Shape = message(() => ({
  fields: { name: [1, text], in: [2, text], description: [3, text], required: [4, flag], schema: [10, schema] },
}))
const parameters = repeated(wrapped(1, parameter))

const response: Shape = message(() => ({ fields: { description: [1, text], content: [3, content] } }))
const requestBody: Shape = message(() => ({ fields: { description: [1, text], content: [2, content], required: [3, flag] } }))

const operation: Shape = message(() => ({
  fields: {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, parameters],
    requestBody: [7, wrapped(1, requestBody)],
    responses: [8, named(wrapped(1, response), 2)],
    deprecated: [10, flag],
  },
  extensions: 13,
}))

const pathItemTable = (): MessageTable => ({
  fields: {
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    parameters: [13, parameters],
  },
  extensions: 14,
})

const pathItem: Shape = message(pathItemTable)

const securityScheme: Shape = message(() => ({ fields: { type: [1, text], description: [2, text], name: [3, text], in: [4, text] } }))

const encodeHead = encoderOf(() => ({
  fields: { openapi: [1, text], info: [2, message(() => ({ fields: { title: [1, text], description: [2, text], version: [6, text] } }))] },
}))

const encodeSchemes = encoderOf(() => ({ fields: { securitySchemes: [7, named(wrapped(1, securityScheme))] } }))
const encodeRest = encoderOf(() => ({ fields: { security: [6, repeated(named(wrapped(1, texts)))] } }))

const pathEntry = namedField(1, pathItem)
const schemaEntry = namedField(1, schema)
const encodeInline = encoderOf(inlineTable)

export const protobufV3: DocumentForm = {
  separator: new Uint8Array(),
  // A path is short.
  path: function* (path, item) {
    return collectBytes((writer) => pathEntry(writer, [path, item]))
  },
  definition: function* (name, definition) {
    const prepared = yield* withEncodedParts(definition, encodeInline)
    return collectBytes((writer) => schemaEntry(writer, [name, prepared]))
  },
  frame: (info, { paths, definitions }) => {
    const schemas = messageHead(1, definitions)
    const schemes = encodeSchemes({ securitySchemes: tokenScheme })
    return {
      before: Buffer.concat([encodeHead({ openapi: '3.0.0', info }), messageHead(4, paths)]),
      between: Buffer.concat([messageHead(5, schemas.length + definitions + schemes.length), schemas]),
      after: Buffer.concat([schemes, encodeRest({ security })]),
    }
  },
}
