// The OpenAPI documents as they are sent: built on the first request, from compressed parts that successive catalogs share.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { noRemoteOpenApi, type RemoteOpenApi } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { cacheUntilRejected, getOrStart } from '@cluster-apiserver/api/base/async/promise-cache.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { JsonSchema, NamedType } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { convertSpec } from '../aggregation/convert-v2-to-v3.js'
import { type LocalSpec, planMerge } from '../aggregation/merge-remote-specs.js'
import type { RouteSource } from '../paths/routes.js'
import { createPublisher } from '../published-types.js'
import { type Blueprint, blueprintOf, type DocumentSource } from './blueprint.js'
import { type CompressedShared, type CompressedUnit, CompressedUnits } from './compressed-units.js'
import type { DocumentEncoding } from './document-encoding.js'
import { type EncodingName, encodings, type Format } from './document-unit.js'
import { compressPart, type GzipPart, hashOf, joinParts, storePart } from './gzip-parts.js'

export interface CachedDocument {
  readonly hash: string
  readonly bytes: number
  /** Concatenated when the document is first sent. */
  readonly compressed: () => Buffer
}

/** Only documents that a new catalog changes are rebuilt. */
export interface OpenApiDocuments {
  readonly v2: (published: Published, encoding: EncodingName) => Promise<CachedDocument>
  /** The index of v3 documents: URLs with hashes, so that clients can cache documents for a year. */
  readonly index: (published: Published) => Promise<CachedDocument>
  /** A v3 document, such as `apis/apps/v1`; undefined if unknown. */
  readonly v3: (published: Published, name: string, encoding: EncodingName) => Promise<CachedDocument | undefined>
}

export interface Published {
  readonly catalog: Catalog
  readonly remote?: RemoteOpenApi
}

export const urlV3 = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`

export function openApiDocuments(source: DocumentSource, budget = turnBudget): OpenApiDocuments {
  const publisherOf = weakMemoize((identity: Identity) => createPublisher(identity, source.describe))
  const cache = new CompressedUnits(budget)
  const documentsOf = weakMemoize((catalog: Catalog) => {
    const blueprint = cacheUntilRejected(() => blueprintOf(catalog, source, { publisher: publisherOf(catalog.identity), budget }))
    return weakMemoize((remote: RemoteOpenApi) => cacheUntilRejected(async () => new Documents(await blueprint(), remote, cache, budget)))
  })
  const find = ({ catalog, remote = noRemoteOpenApi }: Published): Promise<Documents> => documentsOf(catalog)(remote)()
  return {
    v2: async (published, encoding) => (await find(published)).v2(encoding),
    index: async (published) => (await find(published)).index(),
    v3: async (published, name, encoding) => (await find(published)).v3(name, encoding),
  }
}

/** `hash`: of the JSON encoding, which the Protobuf encoding shares. */
function joinDocument(parts: readonly GzipPart[], hash = hashOf(parts)): CachedDocument {
  let gzip: Buffer | undefined
  const compressed = (): Buffer => {
    gzip ??= joinParts(parts)
    return gzip
  }
  return { hash, bytes: lengthOf(parts), compressed }
}

/** Concurrent requests share one build; a failed build is retried by the next request. */
class Documents {
  private readonly blueprint: Blueprint
  private readonly sources = new Map<string, RouteSource[]>()
  private readonly built = new Map<string, Promise<CachedDocument>>()
  private readonly cache: CompressedUnits
  private readonly remote: RemoteOpenApi
  private readonly budget: TurnBudget

  constructor(blueprint: Blueprint, remote: RemoteOpenApi, cache: CompressedUnits, budget: TurnBudget) {
    this.blueprint = blueprint
    this.remote = remote
    this.cache = cache
    this.budget = budget
    for (const source of blueprint.sources) {
      if (source.document !== undefined) getOrInsert(this.sources, source.document, () => []).push(source)
    }
  }

  v2(encoding: EncodingName): Promise<CachedDocument> {
    const format: Format = { version: 2, name: encoding }
    return getOrStart(this.built, `2 ${encoding}`, async () => joinDocument(await this.build(format, this.blueprint.sources)))
  }

  readonly index = cacheUntilRejected(() => this.buildIndex())

  v3(name: string, encoding: EncodingName): Promise<CachedDocument | undefined> {
    const sources = this.sources.get(name)
    if (sources === undefined) return Promise.resolve(encoding === 'json' ? this.convert(name) : undefined)
    const format: Format = { version: 3, name: encoding }
    return getOrStart(this.built, `3 ${encoding} ${name}`, async () => {
      const parts = await this.build(format, sources)
      return joinDocument(parts, encoding === 'json' ? undefined : (await this.v3(name, 'json'))?.hash)
    })
  }

  private convert(name: string): Promise<CachedDocument> | undefined {
    const spec = this.remote.specs.find(({ group, version }) => `apis/${group}/${version}` === name)
    return spec && getOrStart(this.built, `2 as 3 ${name}`, async () => compress(await convertSpec(spec, this.budget)))
  }

  private async build(format: Format, sources: readonly RouteSource[]): Promise<readonly GzipPart[]> {
    const { blueprint, cache } = this
    const units: CompressedUnit[] = []
    for (const source of sources) units.push(await cache.unit(blueprint, source, format))
    const types = new Map<string, NamedType>()
    for (const unit of units) for (const [name, type] of unit.shared) types.set(name, type)
    const shared = await cache.shared(blueprint, types, format)
    const remote = format.version === 2 ? await this.mergeRemote(format, { units, shared }) : []
    return assemble(encodings[format.version][format.name], blueprint.info, { units: [...units, ...remote], shared })
  }

  private async mergeRemote(format: Format, { units, shared }: Sections): Promise<readonly CompressedUnit[]> {
    if (this.remote.specs.length === 0) return []
    const custom = new Set(units.flatMap(({ names }) => names))
    const definitions = this.blueprint.definitions(2)
    const local: LocalSpec = {
      hasDefinition: (name) => shared.types.has(name) || custom.has(name),
      definitionOf: (name) => {
        const type = shared.types.get(name)
        return type && definitions.define(type)
      },
      pathsOf: (group, version) =>
        new Set(this.sources.get(`apis/${group}/${version}`)?.flatMap(({ routes }) => routes().map(({ path }) => path))),
    }
    const merged: CompressedUnit[] = []
    for (const merge of await planMerge(this.remote.specs, local, this.budget)) merged.push(await this.cache.spec(merge, format))
    return merged
  }

  private async buildIndex(): Promise<CachedDocument> {
    const paths: { [name: string]: JsonSchema } = {}
    const { specs, addresses } = this.remote
    const names = new Set([...this.sources.keys(), ...addresses.keys(), ...specs.map(({ group, version }) => `apis/${group}/${version}`)])
    for (const name of sortTexts([...names])) {
      // Extension servers with OpenAPI v3 publish their own documents, at these addresses.
      const address = addresses.get(name)
      const document = address === undefined ? await this.v3(name, 'json') : undefined
      const serverRelativeURL = address ?? (document && urlV3(name, document.hash))
      if (serverRelativeURL !== undefined) paths[name] = { serverRelativeURL }
    }
    return await compress(Buffer.from(JSON.stringify({ paths })))
  }
}

async function compress(content: Uint8Array): Promise<CachedDocument> {
  return joinDocument([await compressPart(content)])
}

interface Sections {
  readonly units: readonly CompressedUnit[]
  readonly shared: CompressedShared
}

function assemble(encoding: DocumentEncoding, info: JsonSchema, { units, shared }: Sections): readonly GzipPart[] {
  const paths = separated(
    encoding,
    units.map((unit) => unit.paths),
  )
  const definitions = separated(encoding, [shared.definitions, ...units.map((unit) => unit.definitions)])
  const { before, between, after } = encoding.frame(info, { paths: lengthOf(paths), definitions: lengthOf(definitions) })
  return [storePart(before), ...paths, storePart(between), ...definitions, storePart(after)]
}

const separatorOf = weakMemoize((encoding: DocumentEncoding) => storePart(encoding.separator))

function separated(encoding: DocumentEncoding, parts: readonly (GzipPart | undefined)[]): readonly GzipPart[] {
  const present = parts.filter((part) => part !== undefined)
  return encoding.separator.length === 0 ? present : present.flatMap((part, i) => (i === 0 ? [part] : [separatorOf(encoding), part]))
}

const lengthOf = (parts: readonly GzipPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)
