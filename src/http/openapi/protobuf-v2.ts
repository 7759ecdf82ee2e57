// The Protobuf form of documents of version 2: the message `openapi.v2.Document`, with the numbers that its public definition has.

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

const schemaTable = (): MessageTable => ({
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, anything],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, flag],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, texts],
    enum: [20, repeated(anything)],
    additionalProperties: [21, oneOf({ 1: schema, 2: flag }, (value) => (typeof value === 'boolean' ? 2 : 1))],
    type: [22, wrapped(1, text)],
    items: [23, wrapped(1, schema)],
    allOf: [24, repeated(schema)],
    properties: [25, named(schema)],
    externalDocs: [29, message(() => ({ fields: { description: [1, text], url: [2, text] } }))],
    example: [30, anything],
  },
  extensions: 31,
})

const schema: Shape = message(schemaTable)

const bodyParameter: Shape = message(() => ({
  fields: { description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] },
}))

/** A parameter of the path, or of the query, where one field more shifts the later numbers. */
const plainParameter = (shift: 0 | 1): Shape =>
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

const placeOf = (parameter: unknown): unknown => (parameter as Members)['in']
const nonBodyParameter = oneOf({ 3: plainParameter(1), 4: plainParameter(0) }, (value) => (placeOf(value) === 'path' ? 4 : 3))
const parameter = oneOf({ 1: bodyParameter, 2: nonBodyParameter }, (value) => (placeOf(value) === 'body' ? 1 : 2))
const parameters = repeated(wrapped(1, parameter))

const response: Shape = message(() => ({ fields: { description: [1, text], schema: [2, wrapped(1, schema)] } }))

const securityRequirement: Shape = named(wrapped(1, texts))

const operation: Shape = message(() => ({
  fields: {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, parameters],
    responses: [9, named(wrapped(1, response))],
    schemes: [10, texts],
    deprecated: [11, flag],
    security: [12, repeated(securityRequirement)],
  },
  extensions: 13,
}))

const pathItemTable = (): MessageTable => ({
  fields: {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, parameters],
  },
  extensions: 10,
})

const pathItem: Shape = message(pathItemTable)

const apiKey: Shape = message(() => ({ fields: { type: [1, text], name: [2, text], in: [3, text], description: [4, text] } }))

const encodeHead = encoderOf(() => ({
  fields: { swagger: [1, text], info: [2, message(() => ({ fields: { title: [1, text], version: [2, text], description: [3, text] } }))] },
}))

const encodeRest = encoderOf(() => ({
  fields: { security: [12, repeated(securityRequirement)], securityDefinitions: [13, named(wrapped(2, apiKey))] },
}))

const pathEntry = namedField(2, pathItem)
const definitionEntry = namedField(1, schema)
const encodeSchema = encoderOf(schemaTable)

export const protobufV2: DocumentForm = {
  separator: new Uint8Array(),
  // A path is short.
  path: function* (path, item) {
    return collectBytes((writer) => pathEntry(writer, [path, item]))
  },
  definition: function* (name, definition) {
    const prepared = yield* withEncodedParts(definition, encodeSchema)
    return collectBytes((writer) => definitionEntry(writer, [name, prepared]))
  },
  frame: (info, { paths, definitions }) => ({
    before: Buffer.concat([encodeHead({ swagger: '2.0', info }), messageHead(8, paths)]),
    between: messageHead(9, definitions),
    after: encodeRest({ security, securityDefinitions: tokenScheme }),
  }),
}
