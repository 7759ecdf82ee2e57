// The documents as they are sent: built when somebody first asks, from parts that are kept compressed and shared between catalogs as far as these
// agree.

import type { Catalog } from '../../api/catalog.js'
import type { Identity } from '../../api/identity.js'
import { noRemoteOpenApi, type RemoteOpenApi } from '../../api/remote-openapi.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { getOrTry, keptUntilFailed } from '../../base/kept-promise.js'
import { onceFor } from '../../base/once-for.js'
import { nowOrInPieces, sharedPieces } from '../../base/pieces.js'
import { sortTexts } from '../../base/text-order.js'
import type { JsonSchema, NamedType } from '../../schema/openapi.js'
import { type Blueprint, type DocumentSource, drawBlueprint } from './blueprint.js'
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
  /** Put together when it is first sent; of many only the hash is wanted. */
  readonly compressed: () => Promise<Buffer>
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
    const blueprint = keptUntilFailed(() => inSharedPieces(drawBlueprint(catalog, source, publisherOf(catalog.identity))))
    return onceFor((remote: RemoteOpenApi) => keptUntilFailed(async () => new Documents(await blueprint(), remote, packed)))
  })
  const find = ({ catalog, remote = noRemoteOpenApi }: Published): Promise<Documents> => about(catalog)(remote)()
  return {
    v2: async (published, form) => (await find(published)).v2(form),
    index: async (published) => (await find(published)).index(),
    v3: async (published, name, form) => (await find(published)).v3(name, form),
  }
}

/** All documents are worked on in the same pieces: what is begun for several in one turn, or for one after the other, is one piece. */
const inSharedPieces = async <T>(work: Generator<undefined, T, void>): Promise<T> => nowOrInPieces(work, sharedPieces)

/** `hash`: where it is that of another form. */
async function joined(parts: readonly PackedPart[], hash?: string): Promise<KeptDocument> {
  return {
    hash: hash ?? (await inSharedPieces(hashOf(parts))),
    bytes: lengthOf(parts),
    compressed: keptUntilFailed(() => inSharedPieces(joinParts(parts))),
  }
}

/**
 * Those of one catalog. Promises are kept, so that whoever asks while a document is being built waits for the same one; what failed is tried
 * again.
 */
class Documents {
  private readonly blueprint: Blueprint
  /** By document of version 3. */
  private readonly sources = new Map<string, RouteSource[]>()
  private readonly built = new Map<string, Promise<KeptDocument>>()
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
    return getOrTry(this.built, `2 ${form}`, async () => joined(await this.build(format, this.blueprint.sources)))
  }

  readonly index = keptUntilFailed(() => this.buildIndex())

  v3(name: string, form: FormName): Promise<KeptDocument | undefined> {
    const sources = this.sources.get(name)
    if (sources === undefined) return Promise.resolve(form === 'json' ? this.convert(name) : undefined)
    const format: Format = { version: 3, name: form }
    return getOrTry(this.built, `3 ${form} ${name}`, async () => {
      const parts = await this.build(format, sources)
      return joined(parts, form === 'json' ? undefined : (await this.v3(name, 'json'))?.hash)
    })
  }

  /** Of a server that speaks version 2 alone. */
  private convert(name: string): Promise<KeptDocument> | undefined {
    const spec = this.remote.specs.find(({ group, version }) => `apis/${group}/${version}` === name)
    return spec && getOrTry(this.built, `2 as 3 ${name}`, async () => keep(await inSharedPieces(convertSpec(spec))))
  }

  private async build(format: Format, sources: readonly RouteSource[]): Promise<readonly PackedPart[]> {
    const { blueprint, packed } = this
    const pieces = sharedPieces
    const units = await packed.units(blueprint, sources, format)
    const types = await inSharedPieces(typesOf(units))
    if (pieces.isOver) await pieces.next()
    const shared = await packed.shared(blueprint, types, format)
    if (pieces.isOver) await pieces.next()
    const others = format.version === 2 ? await this.placeOthers(format, { units, shared }) : []
    const sections = { units: [...units, ...others], shared }
    return await inSharedPieces(assemble(formsOf[format.version][format.name], blueprint.info, sections))
  }

  private async placeOthers(format: Format, { units, shared }: Sections): Promise<readonly PackedUnit[]> {
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
    const placements = await inSharedPieces(placeSpecs(this.remote.specs, own))
    return await this.packed.specs(placements, format)
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
    return await keep(Buffer.from(JSON.stringify({ paths })))
  }
}

async function keep(content: Uint8Array): Promise<KeptDocument> {
  return joined([await packPart(content, sharedPieces)])
}

interface Sections {
  readonly units: readonly PackedUnit[]
  readonly shared: PackedShared
}

/** What units refer to and do not define. */
function* typesOf(units: readonly PackedUnit[]): Generator<undefined, Types, void> {
  const types = new Map<string, NamedType>()
  for (const { shared } of units) {
    for (const [name, type] of shared) types.set(name, type)
    yield
  }
  return types
}

function* assemble(form: DocumentForm, info: JsonSchema, { units, shared }: Sections): Generator<undefined, readonly PackedPart[], void> {
  const paths = new Section(form)
  const definitions = new Section(form)
  definitions.add(shared.definitions)
  for (const unit of units) {
    paths.add(unit.paths)
    definitions.add(unit.definitions)
    yield
  }
  const { before, between, after } = form.frame(info, { paths: paths.bytes, definitions: definitions.bytes })
  return [packShort(before), ...paths.parts, packShort(between), ...definitions.parts, packShort(after)]
}

const separatorOf = onceFor((form: DocumentForm) => packShort(form.separator))

/** Parts with what stands between them. */
class Section {
  readonly parts: PackedPart[] = []
  bytes = 0
  private readonly separator: PackedPart | undefined

  constructor(form: DocumentForm) {
    this.separator = form.separator.length === 0 ? undefined : separatorOf(form)
  }

  add(part: PackedPart | undefined): void {
    if (part === undefined) return
    if (this.separator !== undefined && this.parts.length > 0) this.push(this.separator)
    this.push(part)
  }

  private push(part: PackedPart): void {
    this.parts.push(part)
    this.bytes += part.bytes
  }
}

const lengthOf = (parts: readonly PackedPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)
