// The documents as they are sent: built when somebody first asks, from parts that are kept compressed and shared between catalogs as far as these
// agree.

import type { Catalog } from '../../api/catalog.js'
import type { Identity } from '../../api/identity.js'
import { noRemoteOpenApi, type RemoteOpenApi } from '../../api/remote-openapi.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { onceFor } from '../../base/once-for.js'
import { nowOrInPieces, Pieces } from '../../base/pieces.js'
import type { Promised } from '../../base/promised.js'
import { sortTexts } from '../../base/text-order.js'
import type { JsonSchema } from '../../schema/openapi.js'
import { type Blueprint, blueprintOf, type DocumentSource } from './blueprint.js'
import { convertSpec } from './convert-spec.js'
import type { DocumentForm } from './document-form.js'
import { hashOf, joinParts, type PackedPart, packPart, packShort } from './packed-part.js'
import { type PackedShared, type PackedUnit, PackedUnits } from './packed-units.js'
import { type OwnWords, placeSpecs } from './place-specs.js'
import { openPublisher } from './publisher.js'
import type { RouteSource } from './routes.js'
import { type Format, type FormName, formsOf, type Types } from './unit.js'

export interface KeptDocument {
  /** Changes when the content does; the same for all forms of a document of version 3. */
  readonly hash: string
  /** Of the content. */
  readonly bytes: number
  readonly compressed: Buffer
}

/** The documents about a catalog. Of one that has changed only those are built again that say something else. */
export interface OpenApiDocuments {
  readonly v2: (about: Published, form: FormName) => Promise<KeptDocument>
  /** Which documents of version 3 there are, and where: with their hashes, so that they can be kept for good. */
  readonly index: (about: Published) => Promise<KeptDocument>
  /** A document of version 3, such as `apis/apps/v1`. */
  readonly v3: (about: Published, name: string, form: FormName) => Promise<KeptDocument | undefined>
}

/** What documents tell of, at one moment. */
export interface Published {
  readonly catalog: Catalog
  /** Left out: nothing was heard of other servers. */
  readonly remote?: RemoteOpenApi
}

export const addressV3 = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`

export function openApiDocuments(source: DocumentSource): OpenApiDocuments {
  const publisherOf = onceFor((identity: Identity) => openPublisher(identity, source.describe))
  const packed = new PackedUnits()
  const about = onceFor((catalog: Catalog) => {
    const blueprint = onDemand(() => blueprintOf(catalog, source, publisherOf(catalog.identity)))
    return onceFor((remote: RemoteOpenApi) => new Documents(blueprint(), remote, packed))
  })
  const find = ({ catalog, remote = noRemoteOpenApi }: Published): Documents => about(catalog)(remote)
  return {
    v2: (published, form) => find(published).v2(form),
    index: (published) => find(published).index(),
    v3: (published, name, form) => find(published).v3(name, form),
  }
}

function onDemand<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Put together when it is first sent; of many only the hash is wanted. */
class JoinedDocument implements KeptDocument {
  readonly hash: string
  readonly bytes: number
  readonly #parts: readonly PackedPart[]
  #joined: Buffer | undefined

  constructor(parts: readonly PackedPart[], hash = hashOf(parts)) {
    this.#parts = parts
    this.hash = hash
    this.bytes = lengthOf(parts)
  }

  get compressed(): Buffer {
    this.#joined ??= joinParts(this.#parts)
    return this.#joined
  }
}

/** Those of one catalog. Promises are kept, so that whoever asks while a document is being built waits for the same one. */
class Documents {
  private readonly blueprint: Blueprint
  /** By document of version 3. */
  private readonly sources = new Map<string, RouteSource[]>()
  private readonly built = new Map<string, Promise<KeptDocument>>()
  private listed: Promise<KeptDocument> | undefined
  private readonly packed: PackedUnits
  private readonly remote: RemoteOpenApi

  constructor(blueprint: Blueprint, remote: RemoteOpenApi, packed: PackedUnits) {
    this.blueprint = blueprint
    this.remote = remote
    this.packed = packed
    for (const source of blueprint.sources) {
      if (source.document !== undefined) getOrInsert(this.sources, source.document, () => []).push(source)
    }
  }

  v2(form: FormName): Promise<KeptDocument> {
    const format: Format = { version: 2, name: form }
    return getOrInsert(this.built, `2 ${form}`, async () => new JoinedDocument(await this.build(format, this.blueprint.sources)))
  }

  index(): Promise<KeptDocument> {
    this.listed ??= this.buildIndex()
    return this.listed
  }

  v3(name: string, form: FormName): Promise<KeptDocument | undefined> {
    const sources = this.sources.get(name)
    if (sources === undefined) return Promise.resolve(form === 'json' ? this.convert(name) : undefined)
    const format: Format = { version: 3, name: form }
    return getOrInsert(this.built, `3 ${form} ${name}`, async () => {
      const parts = await this.build(format, sources)
      return form === 'json' ? new JoinedDocument(parts) : new JoinedDocument(parts, (await this.v3(name, 'json'))?.hash)
    })
  }

  /** Of a server that speaks version 2 alone. */
  private convert(name: string): Promise<KeptDocument> | undefined {
    const spec = this.remote.specs.find(({ group, version }) => `apis/${group}/${version}` === name)
    return spec && getOrInsert(this.built, `2 as 3 ${name}`, () => keep((pieces) => nowOrInPieces(convertSpec(spec), pieces)))
  }

  private async build(format: Format, sources: readonly RouteSource[]): Promise<readonly PackedPart[]> {
    const { blueprint, packed } = this
    const pieces = new Pieces()
    const units = await packed.units(blueprint, sources, format, pieces)
    const types: Types = new Map(units.flatMap(({ shared }) => [...shared]))
    const shared = await packed.shared(blueprint, types, format, pieces)
    if (pieces.isOver) await pieces.next()
    const others = format.version === 2 ? await this.placeOthers(format, { units, shared, pieces }) : []
    return assemble(formsOf[format.version][format.name], blueprint.info, { units: [...units, ...others], shared })
  }

  private async placeOthers(
    format: Format,
    { units, shared, pieces }: Sections & { readonly pieces: Pieces },
  ): Promise<readonly PackedUnit[]> {
    if (this.remote.specs.length === 0) return []
    const custom = new Set(units.flatMap(({ names }) => names))
    const definitions = this.blueprint.definitions(2)
    const own: OwnWords = {
      hasDefinition: (name) => shared.types.has(name) || custom.has(name),
      definitionOf: (name) => {
        const type = shared.types.get(name)
        return type && definitions.define(type)
      },
      pathsOf: (group, version) =>
        new Set(this.sources.get(`apis/${group}/${version}`)?.flatMap(({ routes }) => routes().map(({ path }) => path))),
    }
    const placements = await nowOrInPieces(placeSpecs(this.remote.specs, own), pieces)
    return await this.packed.specs(placements, format, pieces)
  }

  /** One after the other: compressing happens elsewhere, so that other requests get their turn between two documents. */
  private async buildIndex(): Promise<KeptDocument> {
    const paths: { [name: string]: JsonSchema } = {}
    const { specs, addresses } = this.remote
    const names = new Set([...this.sources.keys(), ...addresses.keys(), ...specs.map(({ group, version }) => `apis/${group}/${version}`)])
    for (const name of sortTexts([...names])) {
      // Who answers for a version has its document, too.
      const address = addresses.get(name)
      const document = address === undefined ? await this.v3(name, 'json') : undefined
      const serverRelativeURL = address ?? (document && addressV3(name, document.hash))
      if (serverRelativeURL !== undefined) paths[name] = { serverRelativeURL }
    }
    return await keep(() => JSON.stringify({ paths }))
  }
}

async function keep(make: (pieces: Pieces) => Promised<string>): Promise<KeptDocument> {
  const pieces = new Pieces()
  return new JoinedDocument([await packPart(Buffer.from(await make(pieces)), pieces)])
}

interface Sections {
  readonly units: readonly PackedUnit[]
  readonly shared: PackedShared
}

function assemble(form: DocumentForm, info: JsonSchema, { units, shared }: Sections): readonly PackedPart[] {
  const paths = separated(
    form,
    units.map((unit) => unit.paths),
  )
  const definitions = separated(form, [shared.definitions, ...units.map((unit) => unit.definitions)])
  const { before, between, after } = form.frame(info, { paths: lengthOf(paths), definitions: lengthOf(definitions) })
  return [packShort(before), ...paths, packShort(between), ...definitions, packShort(after)]
}

const separatorOf = onceFor((form: DocumentForm) => packShort(form.separator))

function separated(form: DocumentForm, sections: readonly (PackedPart | undefined)[]): readonly PackedPart[] {
  const parts = sections.filter((part) => part !== undefined)
  return form.separator.length === 0 ? parts : parts.flatMap((part, i) => (i === 0 ? part : [separatorOf(form), part]))
}

const lengthOf = (parts: readonly PackedPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)
