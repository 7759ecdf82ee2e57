// Worst-case JSON and Protobuf bodies, decoded with the schemas of Deployments and CRDs.

import type { Format } from '../../packages/api/src/codec/content-negotiation.js'
import { decodeBody, strictError } from '../../packages/api/src/codec/decode-object.js'
import { customResourceDefinition } from '../../packages/api/src/resources/apiextensions/custom-resource-definition.js'
import { deployment } from '../../packages/api/src/resources/apps/deployment.js'
import { readValue } from '../../packages/api/src/schema/json/read.js'
import type { StructNode } from '../../packages/api/src/schema/node.js'
import { attempt, fill, fillWith, maxBodyBytes, type Shape } from './shape.js'

export const deploymentSchema = deployment.versions[0]?.schema as StructNode
const expected = { kind: 'Deployment', apiVersion: 'apps/v1', schema: deploymentSchema }
const crdSchema = customResourceDefinition.versions[0]?.schema as StructNode
const expectedCrd = { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1', schema: crdSchema }

/** Decodes like a request with strict field validation. */
export function decode(format: Format, bytes: Uint8Array, type = expected): unknown {
  return attempt(() => {
    const decoded = decodeBody(format, bytes, type)
    const problems = decoded.strictProblems ?? decoded.problems
    return problems.length > 0 ? strictError(type, problems) : readValue(type.schema, decoded.object)
  })
}

const jsonShape = (name: string, make: (bytes: number) => string): Shape => ({
  subject: 'JSON',
  name,
  maxBytes: maxBodyBytes,
  prepare: (bytes) => {
    const body = new TextEncoder().encode(make(bytes))
    return () => decode('json', body)
  },
})

const inLabels = (members: string): string => `{"metadata":{"labels":{${members}}}}`
const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth)
const duplicateKind = '"kind":"Deployment","kind":"Deployment"'

export const jsonShapes: readonly Shape[] = [
  jsonShape('many members', (n) => inLabels(fillWith((i) => `"k${i}":"v"`, ',', n))),
  jsonShape('many members, one duplicate', (n) => `{${duplicateKind},"metadata":{"labels":{${fillWith((i) => `"k${i}":"v"`, ',', n)}}}}`),
  jsonShape('every member twice', (n) =>
    inLabels(`${fillWith((i) => `"k${i}":"v"`, ',', n / 2)},${fillWith((i) => `"k${i}":"v"`, ',', n / 2)}`),
  ),
  jsonShape('one member many times', (n) => inLabels(fill('"k":"v",', n).slice(0, -1))),
  jsonShape('a repeated object with new members', (n) => `{${fillWith((i) => `"metadata":{"labels":{"k${i}":"v"}}`, ',', n)}}`),
  jsonShape('a repeated unknown object with new members', (n) => `{${fillWith((i) => `"odd":{"k${i}":{"a":1}}`, ',', n)}}`),
  jsonShape('unknown members', (n) => `{${fillWith((i) => `"odd${i}":1`, ',', n)}}`),
  jsonShape('unknown members, one duplicate', (n) => `{${duplicateKind},${fillWith((i) => `"odd${i}":1`, ',', n)}}`),
  jsonShape(
    'a long name with members below',
    (n) => `{${duplicateKind},"${fill('x', n / 2)}":{${fillWith((i) => `"k${i}":{}`, ',', n / 2)}}}`,
  ),
  jsonShape(
    'a long name with duplicates below',
    (n) => `{"spec":{"${fill('x', n / 2)}":{${fillWith((i) => `"k${i % 20}":1`, ',', n / 2)}}}}`,
  ),
  jsonShape('long names', (n) => `{${duplicateKind},${fillWith((i) => `"${fill('x', Math.sqrt(n))}${i}":1`, ',', n)}}`),
  jsonShape('an integer of many digits', (n) => `{"spec":{"replicas":${fill('7', n)}}}`),
  jsonShape('a negative integer of many digits', (n) => `{"odd":[-${fill('7', n)}]}`),
  jsonShape('a fraction of many digits', (n) => `{"spec":{"replicas":0.${fill('7', n)}}}`),
  jsonShape('an exponent of many digits', (n) => `{"spec":{"replicas":1e${fill('7', n)}}}`),
  jsonShape('long integers', (n) => `{"odd":[${fill('12345678901234567890,', n)}1]}`),
  jsonShape('integers of hundreds of digits', (n) => `{"odd":[${fill(`${'9'.repeat(300)},`, n)}1]}`),
  jsonShape('a long string', (n) => inLabels(`"k":"${fill('x', n)}"`)),
  jsonShape('a long string and a duplicate', (n) => `{${duplicateKind},"metadata":{"name":"${fill('x', n)}"}}`),
  jsonShape('a long string of escapes and a duplicate', (n) => `{${duplicateKind},"metadata":{"name":"${fill('\\n', n)}"}}`),
  jsonShape('a long string of \\u escapes', (n) => `{${duplicateKind},"metadata":{"name":"${fill('\\u00e9', n)}"}}`),
  jsonShape('non-ASCII keys', (n) => inLabels(fillWith((i) => `"é${i}😀":"｡"`, ',', n / 2))),
  jsonShape(
    'non-ASCII keys and a duplicate',
    (n) => `{${duplicateKind},"metadata":{"labels":{${fillWith((i) => `"é${i}😀":"｡"`, ',', n / 2)}}}}`,
  ),
  jsonShape('lists nested to the maximum', (n) => `{"odd":[${fill(`${deep('[', ']', 900)},`, n)}1]}`),
  jsonShape('objects nested to the maximum', (n) => `{"odd":[${fill(`${'{"a":'.repeat(900)}1${'}'.repeat(900)},`, n)}1]}`),
  jsonShape('lists nested too deep', (n) => fill('[', n)),
  jsonShape('objects nested too deep', (n) => fill('{"a":', n)),
  jsonShape('nested objects with duplicates', (n) => `{"odd":[${fill(`${'{"a":1,"a":'.repeat(500)}1${'}'.repeat(500)},`, n)}1]}`),
  jsonShape('white space', (n) => `{${fill(' ', n)}${duplicateKind}}`),
  jsonShape('an error at the end', (n) => `{"metadata":{"labels":{${fillWith((i) => `"k${i}":"v"`, ',', n)}}`),
  jsonShape('an unterminated string', (n) => `{"a":"${fill('x', n)}`),
  jsonShape('an unterminated string of escapes', (n) => `{"a":"${fill('\\\\', n)}`),
  jsonShape('items', (n) => `{"spec":{"template":{"spec":{"containers":[${fillWith((i) => `{"name":"c${i}","odd":1}`, ',', n)}]}}}}`),
  jsonShape('empty items', (n) => `{"spec":{"template":{"spec":{"containers":[${fill('{},', n)}{}]}}}}`),
  jsonShape('wrong types', (n) => `{"metadata":{"labels":{${fillWith((i) => `"k${i}":"v"`, ',', n)},"z":1}}}`),
  jsonShape('quantities', (n) => {
    const limits = fillWith((i) => `"r${i}":"${i}.000000000000000001Gi"`, ',', n)
    return `{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{${limits}}}}]}}}}`
  }),
  jsonShape('a long quantity', (n) => `{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"${fill('1', n)}"}}}]}}}}`),
  jsonShape('a long time', (n) => `{"metadata":{"creationTimestamp":"2020-01-01T00:00:00.${fill('1', n)}Z"}}`),
]

const varint = (value: number): readonly number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))])
const message = (number: number, content: readonly Uint8Array[]): Uint8Array => {
  const length = content.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(length)]), ...content])
}
const text = (number: number, value: string): Uint8Array => message(number, [Buffer.from(value)])
const magic = Uint8Array.from([0x6b, 0x38, 0x73, 0])

/** A Protobuf object in its envelope; in `content`, field 1 is `metadata` and 2 is `spec`. */
const envelope = (apiVersion: string, kind: string, content: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([magic, message(1, [text(1, apiVersion), text(2, kind)]), message(2, content)])

function messagesOf(bytes: number, make: (index: number) => Uint8Array): readonly Uint8Array[] {
  const out: Uint8Array[] = []
  for (let length = 0, i = 0; length < bytes; i++) {
    const part = make(i)
    out.push(part)
    length += part.length
  }
  return out
}

const protobufShape = (name: string, make: (bytes: number) => readonly Uint8Array[]): Shape => ({
  subject: 'Protobuf',
  name,
  maxBytes: maxBodyBytes,
  prepare: (bytes) => {
    const body = envelope('apps/v1', 'Deployment', make(bytes))
    return () => decode('protobuf', body)
  },
})

const label = (i: number): Uint8Array => message(11, [text(1, `k${i}`), text(2, 'v')])
const container = (i: number): Uint8Array => message(2, [message(3, [message(2, [message(2, [text(1, `c${i}`)])])])])

export const protobufShapes: readonly Shape[] = [
  protobufShape('labels', (n) => [message(1, messagesOf(n, label))]),
  protobufShape('one label many times', (n) => [
    message(
      1,
      messagesOf(n, () => label(1)),
    ),
  ]),
  protobufShape('metadata many times', (n) => messagesOf(n, (i) => message(1, [label(i)]))),
  protobufShape('a template many times', (n) => messagesOf(n, container)),
  protobufShape('a long string', (n) => [message(1, [text(1, fill('x', n))])]),
  protobufShape('unicode', (n) => [
    message(
      1,
      messagesOf(n, (i) => message(11, [text(1, `é${i}😀`), text(2, '｡')])),
    ),
  ]),
  protobufShape('unknown fields', (n) => messagesOf(n, (i) => text(1000 + (i % 1000), 'x'))),
  protobufShape('unknown groups', (n) => [Buffer.alloc(n, 0xa3)]),
  protobufShape('long numbers', (n) => [Buffer.alloc(n, 0xff)]),
  protobufShape('a length beyond the end', (n) => [message(1, messagesOf(n, label)), Uint8Array.from([0x0a, 0xff, 0xff, 0xff, 0x7f])]),
  protobufShape('finalizers', (n) => [
    message(
      1,
      messagesOf(n, (i) => text(14, `e/${i}`)),
    ),
  ]),
  {
    subject: 'Protobuf',
    name: 'schemas in schemas',
    maxBytes: maxBodyBytes,
    prepare: (bytes) => {
      // Field numbers of a CRD: spec 2, versions 7, schema 4, openAPIV3Schema 1; items of a schema 24, schema of the items 1.
      let schema: Uint8Array = text(5, 'string')
      for (let depth = 0; depth < 80; depth++) schema = message(24, [message(1, [schema])])
      const version = message(7, [text(1, 'v1'), message(4, [message(1, [schema])])])
      const body = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', [
        message(
          2,
          messagesOf(bytes, () => version),
        ),
      ])
      return () => decode('protobuf', body, expectedCrd)
    },
  },
]
