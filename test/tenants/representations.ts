// Representations of responses, and encodings of bodies.

import type { Json } from '../../packages/api/src/api/object.js'
import { writeYaml } from '../../packages/api/src/codec/yaml/write-yaml.js'
import { protobufType } from '../fuzz/fuzz-requests.js'
import type { Random } from '../kit/seeded-random.js'

export interface Representation {
  readonly name: string
  readonly accept: string
  readonly query?: string
  readonly isProtobuf?: boolean
  /** True: the whole object as JSON. */
  readonly isJson?: boolean
  /** True: metadata without data or spec. */
  readonly isPartial?: boolean
}

export const json: Representation = { name: 'JSON', accept: 'application/json', isJson: true }
export const yaml: Representation = { name: 'YAML', accept: 'application/yaml' }
export const protobuf: Representation = { name: 'Protobuf', accept: protobufType, isProtobuf: true }
const table: Representation = { name: 'Table', accept: 'application/json;as=Table;v=v1;g=meta.cluster.io', isPartial: true }
const partial = 'as=PartialObjectMetadata;v=v1;g=meta.cluster.io'
const partialList = 'as=PartialObjectMetadataList;v=v1;g=meta.cluster.io'

const commonRepresentations: readonly Representation[] = [
  json,
  json,
  yaml,
  yaml,
  protobuf,
  table,
  { name: 'pretty JSON', accept: 'application/json', query: 'pretty=true', isJson: true },
]
const objectRepresentations: readonly Representation[] = [
  ...commonRepresentations,
  { name: 'PartialObjectMetadata', accept: `application/json;${partial}`, isPartial: true },
  { name: 'PartialObjectMetadata as Protobuf', accept: `${protobufType};${partial}`, isProtobuf: true, isPartial: true },
]
const listRepresentations: readonly Representation[] = [
  ...commonRepresentations,
  { name: 'Table with objects', accept: table.accept, query: 'includeObject=Object' },
  { name: 'PartialObjectMetadata', accept: `application/json;${partialList}`, isPartial: true },
]
const watchRepresentations: readonly Representation[] = [
  json,
  json,
  protobuf,
  table,
  { name: 'PartialObjectMetadata', accept: `application/json;${partial}`, isPartial: true },
]

const pickAmong = (random: Random, all: readonly Representation[], hasProtobuf: boolean): Representation =>
  random.pick(hasProtobuf ? all : all.filter(({ isProtobuf, isPartial }) => isProtobuf !== true || isPartial === true))

export const pickForObject = (random: Random, hasProtobuf: boolean): Representation => pickAmong(random, objectRepresentations, hasProtobuf)
export const pickForList = (random: Random, hasProtobuf: boolean): Representation => pickAmong(random, listRepresentations, hasProtobuf)
export const pickForWatch = (random: Random, hasProtobuf: boolean): Representation => pickAmong(random, watchRepresentations, hasProtobuf)

export type Encoding = 'JSON' | 'YAML' | 'Protobuf'
export const contentTypes: Readonly<Record<Encoding, string>> = {
  JSON: 'application/json',
  YAML: 'application/yaml',
  Protobuf: protobufType,
}

export const encode = (object: unknown, encoding: 'JSON' | 'YAML'): Buffer =>
  Buffer.from(encoding === 'JSON' ? JSON.stringify(object) : writeYaml(object as Json))

export const withQuery = (path: string, ...queries: readonly (string | undefined)[]): string =>
  queries.reduce<string>(
    (whole, query) => (query === undefined || query === '' ? whole : `${whole}${whole.includes('?') ? '&' : '?'}${query}`),
    path,
  )
