// Units of documents, rendered when a document first needs them and kept compressed as long as what they follow from is there.

import type { RemoteSpec } from '../../api/remote-openapi.js'
import { keepUntilFailed } from '../../base/kept-promise.js'
import { onceFor } from '../../base/once-for.js'
import { nowOrInPieces, sharedPieces as pieces } from '../../base/pieces.js'
import { RecentMap } from '../../base/recent-map.js'
import { sortTexts } from '../../base/text-order.js'
import type { PublishedKind } from '../../schema/openapi.js'
import type { Blueprint } from './blueprint.js'
import { type PackedPart, packPart } from './packed-part.js'
import { type Placement, placementKey, renderSpec } from './place-specs.js'
import type { RouteSource } from './routes.js'
import { type Format, formsOf, renderShared, renderUnit, type SharedBytes, type Types, type UnitBytes } from './unit.js'

export interface PackedUnit extends Pick<UnitBytes, 'names' | 'shared'> {
  readonly paths: PackedPart | undefined
  readonly definitions: PackedPart | undefined
}

export interface PackedShared extends Pick<SharedBytes, 'types' | 'heard'> {
  readonly definitions: PackedPart | undefined
}

/** Compressing is not waited for before the next one is rendered. */
interface Packing<T> {
  /** For what it is right. */
  readonly key: string
  readonly rendered: Promise<void>
  readonly packed: Promise<T>
  isPacked: boolean
}

/** How many may be compressed at a time: each of them is held as a whole meanwhile. */
const mostPacking = 8

/**
 * How many sets of common types are kept: a server has one for each of its documents, and those of catalogs that are gone go in time. What is asked
 * for is kept before what is not.
 */
const mostShared = 1024

/** Works that are asked for twice at a time are done once, and what failed is tried again by whoever asks next. */
export class PackedUnits {
  readonly #units = onceFor((_of: object) => new Map<string, Packing<PackedUnit>>())
  readonly #shared = new RecentMap<string, Promise<PackedShared>>(mostShared)
  /** The last of each form. */
  readonly #specs = onceFor((_spec: RemoteSpec) => new Map<string, Packing<PackedUnit>>())

  /** In the order of their sources. */
  units(blueprint: Blueprint, sources: readonly RouteSource[], format: Format): Promise<readonly PackedUnit[]> {
    return eachPacked(sources, (source) => {
      const known = this.#units(source.of)
      const place = `${keyOf(format)} ${source.document}`
      return known.get(place) ?? packing(known, { place }, () => renderUnit(blueprint, source, format))
    })
  }

  specs(placements: readonly Placement[], format: Format): Promise<readonly PackedUnit[]> {
    return eachPacked(placements, (placement) => {
      const known = this.#specs(placement.spec)
      const [place, key] = [format.name, placementKey(placement)]
      const found = known.get(place)
      if (found?.key === key) return found
      return packing(known, { place, key }, () => renderSpec(placement, formsOf[format.version][format.name]))
    })
  }

  /** The definitions of types that units have in common. */
  async shared(blueprint: Blueprint, types: Types, format: Format): Promise<PackedShared> {
    const key = `${keyOf(format)} ${sortTexts([...types.keys()]).join(' ')}`
    const found = this.#shared.get(key)
    if (found !== undefined && isSaidOf(blueprint, await found)) return found
    const made = packShared(blueprint, types, format)
    keepUntilFailed(this.#shared, key, made)
    return made
  }
}

const keyOf = ({ version, name }: Format): string => `${version} ${name}`

async function eachPacked<Source>(
  sources: readonly Source[],
  pack: (source: Source) => Packing<PackedUnit>,
): Promise<readonly PackedUnit[]> {
  const units: Packing<PackedUnit>[] = []
  for (const source of sources) {
    const unit = pack(source)
    units.push(unit)
    if (unit.isPacked) {
      // Most are there already, and there may be many.
      if (pieces.isOver) await pieces.next()
      continue
    }
    await unit.rendered
    await units.at(-mostPacking)?.packed
  }
  return await Promise.all(units.map(({ packed }) => packed))
}

function packing(
  known: Map<string, Packing<PackedUnit>>,
  { place, key = '' }: { readonly place: string; readonly key?: string },
  render: () => Generator<undefined, UnitBytes, void>,
): Packing<PackedUnit> {
  const rendered = rendering(render)
  const packed = rendered.then((bytes) => packUnit(bytes))
  const made: Packing<PackedUnit> = { key, rendered: rendered.then(nothing), packed, isPacked: false }
  known.set(place, made)
  packed.then(
    () => {
      made.isPacked = true
    },
    // Whoever waits hears of it; whoever asks next tries again.
    () => known.get(place) === made && known.delete(place),
  )
  return made
}

const nothing = (): void => undefined

async function rendering(render: () => Generator<undefined, UnitBytes, void>): Promise<UnitBytes> {
  if (pieces.isOver) await pieces.next()
  return await nowOrInPieces(render(), pieces)
}

async function packUnit({ paths, definitions, names, shared }: UnitBytes): Promise<PackedUnit> {
  const packed = await Promise.all([paths && packPart(paths, pieces), definitions && packPart(definitions, pieces)])
  return { paths: packed[0], definitions: packed[1], names, shared }
}

async function packShared(blueprint: Blueprint, types: Types, format: Format): Promise<PackedShared> {
  const { definitions, ...rest } = await nowOrInPieces(renderShared(blueprint, types, format), pieces)
  return { ...rest, definitions: definitions && (await packPart(definitions, pieces)) }
}

/** Whether what was rendered before is what would be rendered now. */
function isSaidOf(blueprint: Blueprint, { heard }: PackedShared): boolean {
  for (const [node, kinds] of heard) if (!areSame(blueprint.kindsOf(node), kinds)) return false
  return true
}

const areSame = (some: readonly PublishedKind[], others: readonly PublishedKind[]): boolean =>
  some === others ||
  (some.length === others.length &&
    some.every(({ group, version, kind }, i) => {
      const other = others[i] as PublishedKind
      return group === other.group && version === other.version && kind === other.kind
    }))
