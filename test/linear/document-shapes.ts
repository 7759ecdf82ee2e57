// Documents of servers that extend the API, of every bad shape: OpenAPI and lists of resources.

import { atOnce } from '../../src/base/pieces.js'
import { readResourceList } from '../../src/controllers/aggregation/read-discovery.js'
import { readSpec } from '../../src/controllers/aggregation/read-spec.js'
import { attempt, fill, fillWith, largestBody, type Shape } from './shape.js'

const version = { name: 'v1.g.example', group: 'g.example', version: 'v1' }

const specShape = (name: string, make: (bytes: number) => string): Shape => ({
  subject: 'OpenAPI of others',
  name,
  maxBytes: largestBody,
  prepare: (bytes) => {
    const document = Buffer.from(make(bytes))
    return () => attempt(() => atOnce(readSpec(version, document)))
  },
})

const listShape = (name: string, make: (bytes: number) => string): Shape => ({
  subject: 'resources of others',
  name,
  maxBytes: 512 << 10,
  prepare: (bytes) => {
    const text = make(bytes)
    return () => attempt(() => readResourceList(version, text))
  },
})

const path = '/apis/g.example/v1/'
const answer = (name: string): string => `{"get":{"responses":{"200":{"schema":{"$ref":"#/definitions/${name}"}}}}}`
const lists = (lines: string): string => `{"kind":"APIResourceList","resources":[${lines}]}`

export const documentShapes: readonly Shape[] = [
  specShape('paths of others', (n) => `{"paths":{${fillWith((i) => `"/p${i}":{}`, ',', n)}}}`),
  specShape('own paths', (n) => `{"paths":{${fillWith((i) => `"${path}p${i}":${answer('A')}`, ',', n)}},"definitions":{"A":{}}}`),
  specShape('one path again and again', (n) => `{"paths":{${fill(`"${path}p":{},`, n)}"x":1}}`),
  specShape('the paths again and again', (n) => `{${fillWith((i) => `"paths":{"${path}p${i}":{}}`, ',', n)}}`),
  specShape(
    'definitions in a chain',
    (n) =>
      `{"paths":{"${path}p":${answer('D0')}},"definitions":{${fillWith((i) => `"D${i}":{"items":{"$ref":"#/definitions/D${i + 1}"}}`, ',', n)}}}`,
  ),
  specShape('references to one', (n) => {
    const many = fillWith((i) => `"p${i % 1000}":{"$ref":"#/definitions/A"}`, ',', n)
    return `{"paths":{"${path}p":${answer('A')}},"definitions":{"A":{"properties":{${many}}}}}`
  }),
  specShape('one parameter of all, again and again', (n) => {
    const many = fill('{"$ref":"#/parameters/p"},', n)
    return `{"paths":{"${path}p":{"parameters":[${many}{}]}},"parameters":{"p":{"name":"a","in":"query"}}}`
  }),
  specShape('escapes', (n) => `{"paths":{"${path}p":"${fill('\\\\', n)}"}}`),
  specShape('escaped quotes', (n) => `{"paths":{"${path}p":"${fill('\\"', n)}"}}`),
  specShape('a text without an end', (n) => `{"paths":{"${fill('\\"', n)}`),
  specShape('brackets', (n) => `{"paths":${fill('[', n)}`),
  specShape('spaces', (n) => `{"paths":{${fill(' ', n)}}}`),
  specShape('colons', (n) => `{"paths":{${fill(':', n)}}}`),
  specShape('commas', (n) => `{"paths":{${fill(',', n)}}}`),
  listShape('resources', (n) => lists(fillWith((i) => `{"name":"r${i}"}`, ',', n))),
  listShape('subresources of one', (n) => lists(fillWith((i) => `{"name":"r/s${i}"}`, ',', n))),
  listShape('slashes', (n) => lists(`{"name":"${fill('/', n)}"}`)),
]
