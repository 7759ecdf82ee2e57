// Worst-case documents of extension API servers: OpenAPI and resource lists.

import { readResourceList } from '../../packages/server/src/controllers/aggregation/read-remote-discovery.js'
import { readSpec } from '../../packages/server/src/controllers/aggregation/read-remote-openapi.js'
import { attempt, fill, fillWith, maxBodyBytes, type Shape } from './shape.js'

const version = { name: 'v1.g.example', group: 'g.example', version: 'v1' }

const specShape = (name: string, make: (bytes: number) => string): Shape => ({
  subject: 'OpenAPI of extension servers',
  name,
  maxBytes: maxBodyBytes,
  prepare: (bytes) => {
    const document = Buffer.from(make(bytes))
    return () => attempt(() => readSpec(version, document))
  },
})

const listShape = (name: string, make: (bytes: number) => string): Shape => ({
  subject: 'resource lists of extension servers',
  name,
  maxBytes: 512 << 10,
  prepare: (bytes) => {
    const text = make(bytes)
    return () => attempt(() => readResourceList(version, text))
  },
})

const path = '/apis/g.example/v1/'
const response = (name: string): string => `{"get":{"responses":{"200":{"schema":{"$ref":"#/definitions/${name}"}}}}}`
const resourceList = (lines: string): string => `{"kind":"APIResourceList","resources":[${lines}]}`

export const aggregationShapes: readonly Shape[] = [
  specShape('paths of other groups', (n) => `{"paths":{${fillWith((i) => `"/p${i}":{}`, ',', n)}}}`),
  specShape(
    'paths of its group',
    (n) => `{"paths":{${fillWith((i) => `"${path}p${i}":${response('A')}`, ',', n)}},"definitions":{"A":{}}}`,
  ),
  specShape('one path many times', (n) => `{"paths":{${fill(`"${path}p":{},`, n)}"x":1}}`),
  specShape('`paths` many times', (n) => `{${fillWith((i) => `"paths":{"${path}p${i}":{}}`, ',', n)}}`),
  specShape(
    'definitions in a chain',
    (n) =>
      `{"paths":{"${path}p":${response('D0')}},"definitions":{${fillWith((i) => `"D${i}":{"items":{"$ref":"#/definitions/D${i + 1}"}}`, ',', n)}}}`,
  ),
  specShape('references to one definition', (n) => {
    const references = fillWith((i) => `"p${i % 1000}":{"$ref":"#/definitions/A"}`, ',', n)
    return `{"paths":{"${path}p":${response('A')}},"definitions":{"A":{"properties":{${references}}}}}`
  }),
  specShape('one shared parameter many times', (n) => {
    const references = fill('{"$ref":"#/parameters/p"},', n)
    return `{"paths":{"${path}p":{"parameters":[${references}{}]}},"parameters":{"p":{"name":"a","in":"query"}}}`
  }),
  specShape('escapes', (n) => `{"paths":{"${path}p":"${fill('\\\\', n)}"}}`),
  specShape('escaped quotes', (n) => `{"paths":{"${path}p":"${fill('\\"', n)}"}}`),
  specShape('an unterminated string', (n) => `{"paths":{"${fill('\\"', n)}`),
  specShape('brackets', (n) => `{"paths":${fill('[', n)}`),
  specShape('spaces', (n) => `{"paths":{${fill(' ', n)}}}`),
  specShape('colons', (n) => `{"paths":{${fill(':', n)}}}`),
  specShape('commas', (n) => `{"paths":{${fill(',', n)}}}`),
  listShape('resources', (n) => resourceList(fillWith((i) => `{"name":"r${i}"}`, ',', n))),
  listShape('subresources of one', (n) => resourceList(fillWith((i) => `{"name":"r/s${i}"}`, ',', n))),
  listShape('slashes', (n) => resourceList(`{"name":"${fill('/', n)}"}`)),
]
