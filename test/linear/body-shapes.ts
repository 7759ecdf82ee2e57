// Bodies in JSON and Protobuf of every bad shape, decoded by the schema of a kind with much in it.

import { decodeBody } from '../../src/codec/decode-body.js'
import { strictError } from '../../src/codec/decode-object.js'
import type { Format } from '../../src/codec/negotiation.js'
import { customResourceDefinition } from '../../src/resources/apiextensions/custom-resource-definition.js'
import { deployment } from '../../src/resources/apps/deployment.js'
import type { StructNode } from '../../src/schema/node.js'
import { readValue } from '../../src/schema/read.js'
import { attempt, fill, fillWith, largestBody, type Shape } from './shape.js'

export const deploymentSchema = deployment.versions[0]?.schema as StructNode
const expected = { kind: 'Deployment', apiVersion: 'apps/v1', schema: deploymentSchema }
const crdSchema = customResourceDefinition.versions[0]?.schema as StructNode
const expectedCrd = { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1', schema: crdSchema }

/** Decodes as a strict request does, with the error that it would get. */
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
  maxBytes: largestBody,
  prepare: (bytes) => {
    const body = new TextEncoder().encode(make(bytes))
    return () => decode('json', body)
  },
})

const inLabels = (members: string): string => `{"metadata":{"labels":{${members}}}}`
const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth)
const twice = '"kind":"Deployment","kind":"Deployment"'

export const jsonShapes: readonly Shape[] = [
  jsonShape('wide', (n) => inLabels(fillWith((i) => `"k${i}":"v"`, ',', n))),
  jsonShape('wide with one duplicate', (n) => `{${twice},"metadata":{"labels":{${fillWith((i) => `"k${i}":"v"`, ',', n)}}}}`),
  jsonShape('all twice', (n) => inLabels(`${fillWith((i) => `"k${i}":"v"`, ',', n / 2)},${fillWith((i) => `"k${i}":"v"`, ',', n / 2)}`)),
  jsonShape('one member again and again', (n) => inLabels(fill('"k":"v",', n).slice(0, -1))),
  jsonShape('an object that repeats and grows', (n) => `{${fillWith((i) => `"metadata":{"labels":{"k${i}":"v"}}`, ',', n)}}`),
  jsonShape('an unknown object that repeats and grows', (n) => `{${fillWith((i) => `"odd":{"k${i}":{"a":1}}`, ',', n)}}`),
  jsonShape('unknown members', (n) => `{${fillWith((i) => `"odd${i}":1`, ',', n)}}`),
  jsonShape('unknown members and a duplicate', (n) => `{${twice},${fillWith((i) => `"odd${i}":1`, ',', n)}}`),
  jsonShape('a long name with members below', (n) => `{${twice},"${fill('x', n / 2)}":{${fillWith((i) => `"k${i}":{}`, ',', n / 2)}}}`),
  jsonShape(
    'a long name with duplicates below',
    (n) => `{"spec":{"${fill('x', n / 2)}":{${fillWith((i) => `"k${i % 20}":1`, ',', n / 2)}}}}`,
  ),
  jsonShape('long names', (n) => `{${twice},${fillWith((i) => `"${fill('x', Math.sqrt(n))}${i}":1`, ',', n)}}`),
  jsonShape('an integer of many digits', (n) => `{"spec":{"replicas":${fill('7', n)}}}`),
  jsonShape('a negative integer of many digits', (n) => `{"odd":[-${fill('7', n)}]}`),
  jsonShape('a fraction of many digits', (n) => `{"spec":{"replicas":0.${fill('7', n)}}}`),
  jsonShape('an exponent of many digits', (n) => `{"spec":{"replicas":1e${fill('7', n)}}}`),
  jsonShape('long integers', (n) => `{"odd":[${fill('12345678901234567890,', n)}1]}`),
  jsonShape('integers of hundreds of digits', (n) => `{"odd":[${fill(`${'9'.repeat(300)},`, n)}1]}`),
  jsonShape('a long text', (n) => inLabels(`"k":"${fill('x', n)}"`)),
  jsonShape('a long text beside a duplicate', (n) => `{${twice},"metadata":{"name":"${fill('x', n)}"}}`),
  jsonShape('a long text of escapes beside a duplicate', (n) => `{${twice},"metadata":{"name":"${fill('\\n', n)}"}}`),
  jsonShape('a long text of long escapes', (n) => `{${twice},"metadata":{"name":"${fill('\\u00e9', n)}"}}`),
  jsonShape('unicode', (n) => inLabels(fillWith((i) => `"é${i}😀":"｡"`, ',', n / 2))),
  jsonShape('unicode beside a duplicate', (n) => `{${twice},"metadata":{"labels":{${fillWith((i) => `"é${i}😀":"｡"`, ',', n / 2)}}}}`),
  jsonShape('lists as deep as may be', (n) => `{"odd":[${fill(`${deep('[', ']', 900)},`, n)}1]}`),
  jsonShape('objects as deep as may be', (n) => `{"odd":[${fill(`${'{"a":'.repeat(900)}1${'}'.repeat(900)},`, n)}1]}`),
  jsonShape('deeper than may be', (n) => fill('[', n)),
  jsonShape('objects deeper than may be', (n) => fill('{"a":', n)),
  jsonShape('deep with duplicates', (n) => `{"odd":[${fill(`${'{"a":1,"a":'.repeat(500)}1${'}'.repeat(500)},`, n)}1]}`),
  jsonShape('space', (n) => `{${fill(' ', n)}${twice}}`),
  jsonShape('an error at the end', (n) => `{"metadata":{"labels":{${fillWith((i) => `"k${i}":"v"`, ',', n)}}`),
  jsonShape('a text without an end', (n) => `{"a":"${fill('x', n)}`),
  jsonShape('a text without an end, escaped', (n) => `{"a":"${fill('\\\\', n)}`),
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

/** An object in its envelope: `metadata` is 1, `spec` is 2. */
const envelope = (apiVersion: string, kind: string, content: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([magic, message(1, [text(1, apiVersion), text(2, kind)]), message(2, content)])

function parts(bytes: number, make: (index: number) => Uint8Array): readonly Uint8Array[] {
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
  maxBytes: largestBody,
  prepare: (bytes) => {
    const body = envelope('apps/v1', 'Deployment', make(bytes))
    return () => decode('protobuf', body)
  },
})

const label = (i: number): Uint8Array => message(11, [text(1, `k${i}`), text(2, 'v')])
const container = (i: number): Uint8Array => message(2, [message(3, [message(2, [message(2, [text(1, `c${i}`)])])])])

export const protobufShapes: readonly Shape[] = [
  protobufShape('labels', (n) => [message(1, parts(n, label))]),
  protobufShape('one label again and again', (n) => [
    message(
      1,
      parts(n, () => label(1)),
    ),
  ]),
  protobufShape('metadata again and again', (n) => parts(n, (i) => message(1, [label(i)]))),
  protobufShape('a template again and again', (n) => parts(n, container)),
  protobufShape('a long text', (n) => [message(1, [text(1, fill('x', n))])]),
  protobufShape('unicode', (n) => [
    message(
      1,
      parts(n, (i) => message(11, [text(1, `é${i}😀`), text(2, '｡')])),
    ),
  ]),
  protobufShape('unknown fields', (n) => parts(n, (i) => text(1000 + (i % 1000), 'x'))),
  protobufShape('unknown groups', (n) => [Buffer.alloc(n, 0xa3)]),
  protobufShape('long numbers', (n) => [Buffer.alloc(n, 0xff)]),
  protobufShape('a length beyond the end', (n) => [message(1, parts(n, label)), Uint8Array.from([0x0a, 0xff, 0xff, 0xff, 0x7f])]),
  protobufShape('finalizers', (n) => [
    message(
      1,
      parts(n, (i) => text(14, `e/${i}`)),
    ),
  ]),
  {
    subject: 'Protobuf',
    name: 'schemas in schemas',
    maxBytes: largestBody,
    prepare: (bytes) => {
      // CustomResourceDefinition: spec is 2, its versions are 7, their schema 4 and in it 1; the items of a schema are 24 and in them 1.
      let schema: Uint8Array = text(5, 'string')
      for (let depth = 0; depth < 80; depth++) schema = message(24, [message(1, [schema])])
      const version = message(7, [text(1, 'v1'), message(4, [message(1, [schema])])])
      const body = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', [
        message(
          2,
          parts(bytes, () => version),
        ),
      ])
      return () => decode('protobuf', body, expectedCrd)
    },
  },
]
